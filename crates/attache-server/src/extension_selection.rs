//! Which extensions a request activates, and the dialect of its response.

use attache_domain::{AnswerLocation, DuplicateRule, Fault, Interface, SendMessage, SendOptions, TaskView};
use attache_wire::devtool::{self, Dialect};
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
    recognized: Option<Dialect>,
    /// For a client that shows no dialect.
    default: Dialect,
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
            Version::V0_3 => app.options.default_dialect,
            Version::V1_0 => Dialect::Plain,
        };
        Self { uris, listed: lines().next().is_some(), recognized: None, default, client }
    }

    pub(crate) fn set_recognized_dialect(&mut self, dialect: Option<Dialect>) {
        self.recognized = dialect;
    }

    /// Refuses when the card requires an extension that was not activated.
    pub(crate) fn check(&self, app: &App) -> Result<(), Fault> {
        let required = app.options.card.capabilities.extensions.iter().filter(|extension| extension.required);
        let speaks = |uri: &str| self.opening_dialect() != Dialect::Plain && devtool::is_devtool_uri(uri);
        let is_there = |uri: &str| self.uris.iter().any(|given| covers(uri, given)) || speaks(uri);
        match required.into_iter().find(|extension| !is_there(&extension.uri)) {
            Some(missing) => Err(Fault::ExtensionRequired { uri: missing.uri.clone() }),
            None => Ok(()),
        }
    }

    /// The dialect that the client shows; none when it shows none. A client that lists extensions without this one speaks
    /// plain A2A.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        if self.uris.iter().any(|uri| devtool::is_devtool_uri(uri)) {
            return Some(Dialect::Developer);
        }
        self.recognized.or(self.listed.then_some(Dialect::Plain))
    }

    /// The dialect for a task that the client opens, and for a list of tasks.
    pub(crate) fn opening_dialect(&self) -> Dialect {
        self.dialect().unwrap_or(self.default)
    }

    /// The dialect in which a task is shown. A client that shows none gets that of the task's opener if that is one of A2A's,
    /// and otherwise the operator's default.
    pub(crate) fn dialect_for(&self, view: &TaskView) -> Dialect {
        self.dialect().unwrap_or_else(|| match Dialect::from_ending(view.progress.ending) {
            Dialect::Plain => self.default,
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
        let default = Some(self.default).filter(|dialect| *dialect != Dialect::Plain);
        let dialect = self.dialect().or(default);
        let answer = match dialect {
            None | Some(Dialect::Plain) => origin.answer_place,
            Some(Dialect::Developer | Dialect::Gemini | Dialect::Live | Dialect::RestApi) => {
                AnswerLocation::Artifact
            }
        };
        let ending = dialect.map(Dialect::ending);
        let duplicate_rule = match self.is_active(extensions::IDEMPOTENT_SEND) {
            true => DuplicateRule::Id,
            false => DuplicateRule::IdAndContent,
        };
        send.options = SendOptions {
            ending,
            duplicate_rule,
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
        let by_sign = self.recognized == Some(Dialect::Developer) && self.uris.is_empty();
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
