//! Which extensions a request activates, and the dialect of its response.

use attache_domain::{AnswerLocation, DuplicateRule, Fault, Interface, SendMessage, SendOptions, TaskView};
use attache_wire::devtool::{self, Profile};
use attache_wire::{Version, extensions};
use http::{HeaderMap, HeaderValue, header};

use crate::app::{App, RequestOrigin};
use crate::http::Response;

/// This much of the client's `User-Agent` is stored.
const MAX_CLIENT_CHARS: usize = 80;

/// The extensions of one request.
#[derive(Debug)]
pub(crate) struct ExtensionSelection {
    /// Activated by the header, as the client wrote them.
    uris: Vec<String>,
    /// The header is present, even if empty.
    listed: bool,
    /// The dialect that the content of the message shows.
    recognized: Option<Profile>,
    /// For a client that shows no dialect.
    default: Profile,
    client: Option<String>,
}

impl ExtensionSelection {
    /// Both header names are read on both versions, because clients mix them up.
    pub(crate) fn of(app: &App, headers: &HeaderMap, version: Version) -> Self {
        let client = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let client = client.map(|client| client.chars().take(MAX_CLIENT_CHARS).collect());
        let declared = &app.options.card.capabilities.extensions;
        let names = [extensions::header_name(Version::V1_0), extensions::header_name(Version::V0_3)];
        let lines = || names.iter().flat_map(|name| headers.get_all(*name));
        let mut uris = extensions::requested(lines().filter_map(|value| value.to_str().ok()));
        uris.retain(|uri| declared.iter().any(|extension| covers(&extension.uri, uri)));
        // Clients of 1.0 are newer than the extension, so those that speak it say so.
        let default = match version {
            Version::V0_3 => app.options.default_profile,
            Version::V1_0 => Profile::Plain,
        };
        Self { uris, listed: lines().next().is_some(), recognized: None, default, client }
    }

    pub(crate) fn set_recognized_profile(&mut self, profile: Option<Profile>) {
        self.recognized = profile;
    }

    /// Refuses when the card requires an extension that was not activated.
    pub(crate) fn check(&self, app: &App) -> Result<(), Fault> {
        let required = app.options.card.capabilities.extensions.iter().filter(|extension| extension.required);
        let speaks = |uri: &str| self.opening_profile() != Profile::Plain && devtool::is_devtool_uri(uri);
        let is_there = |uri: &str| self.uris.iter().any(|given| covers(uri, given)) || speaks(uri);
        match required.into_iter().find(|extension| !is_there(&extension.uri)) {
            Some(missing) => Err(Fault::ExtensionRequired { uri: missing.uri.clone() }),
            None => Ok(()),
        }
    }

    /// The dialect that the client shows; none when it shows none. A client that lists extensions without this one speaks
    /// plain A2A.
    pub(crate) fn profile(&self) -> Option<Profile> {
        if self.uris.iter().any(|uri| devtool::is_devtool_uri(uri)) {
            return Some(Profile::Developer);
        }
        self.recognized.or(self.listed.then_some(Profile::Plain))
    }

    /// The profile for a task that the client opens, and for a list of tasks.
    pub(crate) fn opening_profile(&self) -> Profile {
        self.profile().unwrap_or(self.default)
    }

    /// The profile in which a task is shown. A client that shows none gets that of the task's opener, and otherwise the
    /// operator's default.
    pub(crate) fn profile_for(&self, view: &TaskView) -> Profile {
        self.profile().unwrap_or_else(|| match Profile::from_ending(view.progress.ending) {
            Profile::Plain => self.default,
            opened => opened,
        })
    }

    /// Adds what the client expects and who it is. The place for answers is that of plain A2A clients; the extension has
    /// events of its own for them.
    pub(crate) fn apply_to(
        &self,
        app: &App,
        send: &mut SendMessage,
        origin: RequestOrigin,
        interface: Interface,
    ) {
        let default = Some(self.default).filter(|profile| *profile != Profile::Plain);
        let profile = self.profile().or(default);
        let answer = match profile {
            None | Some(Profile::Plain) => origin.answer_place,
            Some(Profile::Developer | Profile::Gemini | Profile::Live | Profile::RestApi) => {
                AnswerLocation::Artifact
            }
        };
        let ending = profile.map(Profile::ending);
        let sameness = match self.is_active(extensions::IDEMPOTENT_SEND) {
            true => DuplicateRule::Id,
            false => DuplicateRule::IdAndContent,
        };
        send.options = SendOptions {
            ending,
            duplicate_rule: sameness,
            resumes: false,
            client: self.client.clone(),
            interface: Some(interface),
            rights: Default::default(),
            answer,
        };
        app.guard.sign(origin.caller, &mut send.options);
    }

    pub(crate) fn is_active(&self, extension: &str) -> bool {
        self.uris.iter().any(|uri| uri == extension)
    }

    /// Confirms the active extensions in a header.
    pub(crate) fn confirm(&self, version: Version, response: &mut Response) {
        let by_sign = self.recognized == Some(Profile::Developer) && self.uris.is_empty();
        let confirmed = if by_sign { devtool::URI.to_owned() } else { self.uris.join(", ") };
        if let Ok(value) = HeaderValue::from_str(&confirmed)
            && !confirmed.is_empty()
        {
            response.headers_mut().insert(extensions::header_name(version), value);
        }
    }
}

/// A client may ask for another supported version of a declared extension.
fn covers(declared: &str, requested: &str) -> bool {
    declared == requested || (devtool::is_devtool_uri(declared) && devtool::is_devtool_uri(requested))
}
