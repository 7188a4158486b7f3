//! A person who signs in, or does not.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_credentials::{CredentialError, DeviceOffer, SignIn, SignInMethod, SignInRequest, SignInStart};
use attache_net::Url;

#[derive(Debug)]
pub(super) struct Person {
    behaviour: Behaviour,
    device: bool,
    start: SignInStart,
    /// What the person was shown.
    pub(super) asked: Mutex<Vec<SignInRequest>>,
    /// What the person was asked before a code was requested.
    pub(super) offered: Mutex<Vec<DeviceOffer>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    Agrees,
    Refuses,
    /// Comes back with a made-up state first.
    IsTricked,
    /// Says no at the server.
    IsRefused,
    DoesNothing,
}

impl Person {
    fn new(behaviour: Behaviour, device: bool, start: SignInStart) -> Arc<Self> {
        Arc::new(Self { behaviour, device, start, asked: Mutex::default(), offered: Mutex::default() })
    }

    pub(super) fn agrees() -> Arc<Self> {
        Self::new(Behaviour::Agrees, false, SignInStart::Wait)
    }

    pub(super) fn refuses() -> Arc<Self> {
        Self::new(Behaviour::Refuses, false, SignInStart::Wait)
    }

    pub(super) fn is_tricked() -> Arc<Self> {
        Self::new(Behaviour::IsTricked, false, SignInStart::Wait)
    }

    pub(super) fn is_refused() -> Arc<Self> {
        Self::new(Behaviour::IsRefused, false, SignInStart::Wait)
    }

    pub(super) fn does_nothing() -> Arc<Self> {
        Self::new(Behaviour::DoesNothing, false, SignInStart::Wait)
    }

    pub(super) fn with_device() -> Arc<Self> {
        Self::new(Behaviour::Agrees, true, SignInStart::Wait)
    }

    /// Is asked while the call has ended.
    pub(super) fn later() -> Arc<Self> {
        Self::new(Behaviour::DoesNothing, false, SignInStart::Later)
    }

    /// Opens the page that was shown last, and comes back from it.
    pub(super) fn sign_in(&self) {
        let asked = self.asked.lock().unwrap();
        come_back(asked.last().unwrap(), "code=c0de", None);
    }
}

#[async_trait]
impl SignIn for Person {
    fn uses_device(&self) -> bool {
        self.device
    }

    async fn agree(&self, offer: &DeviceOffer) -> Result<(), CredentialError> {
        self.offered.lock().unwrap().push(offer.clone());
        match self.behaviour {
            Behaviour::Refuses => Err(CredentialError::Cancelled),
            _ => Ok(()),
        }
    }

    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError> {
        self.asked.lock().unwrap().push(request.clone());
        let request = request.clone();
        let answer = match self.behaviour {
            Behaviour::Refuses => return Err(CredentialError::Cancelled),
            Behaviour::DoesNothing => return Ok(self.start),
            Behaviour::Agrees => [None, Some(("code=c0de", None))],
            Behaviour::IsTricked => [Some(("code=wr0ng", Some("made-up"))), Some(("code=c0de", None))],
            Behaviour::IsRefused => [None, Some(("error=access_denied&error_description=not+today", None))],
        };
        std::thread::spawn(move || {
            answer.into_iter().flatten().for_each(|(answer, state)| come_back(&request, answer, state));
        });
        Ok(self.start)
    }
}

/// What a browser does after the sign-in.
fn come_back(request: &SignInRequest, answer: &str, state: Option<&str>) {
    let SignInMethod::Browser { url } = &request.method else { return };
    let url = Url::parse(url).unwrap();
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let back = Url::parse(&value("redirect_uri")).unwrap();
    let state = state.map_or_else(|| value("state"), str::to_owned);
    let mut stream = TcpStream::connect(("127.0.0.1", back.port().unwrap())).unwrap();
    write!(stream, "GET {}?{answer}&state={state} HTTP/1.1\r\nhost: localhost\r\n\r\n", back.path()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(!page.contains("c0de") && !page.contains(&state), "{page}");
}
