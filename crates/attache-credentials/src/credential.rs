//! One credential of a request.

use attache_net::{HttpRequest, NetError, Secret};

/// Sent over https or to this machine, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    Header { name: String, value: Secret },
    Query { name: String, value: Secret },
    Cookie { name: String, value: Secret },
}

impl Credential {
    pub fn bearer(token: &Secret) -> Self {
        Self::authorization("Bearer", token.expose())
    }

    /// The header `Authorization` with a scheme and what follows it.
    pub fn authorization(scheme: &str, value: &str) -> Self {
        Self::Header { name: "authorization".to_owned(), value: Secret::new(format!("{scheme} {value}")) }
    }

    pub fn add_to(&self, request: HttpRequest) -> Result<HttpRequest, NetError> {
        match self {
            Self::Header { name, value } => request.secret_header(name, "", value),
            Self::Query { name, value } => request.secret_query(name, value),
            Self::Cookie { name, value } if is_cookie(name, value) => {
                request.secret_header("cookie", &format!("{name}="), value)
            }
            Self::Cookie { .. } => Err(NetError::Request {
                what: "the credential has a character that no cookie can hold".into(),
            }),
        }
    }
}

/// Whether it is one cookie, and not the beginning of another.
fn is_cookie(name: &str, value: &Secret) -> bool {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !"\",;\\".contains(letter);
    !name.is_empty()
        && name.chars().all(|letter| is_plain(letter) && !"=()<>@:/[]?{}".contains(letter))
        && value.expose().chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use attache_net::Url;

    use super::*;

    fn add(credential: &Credential, url: &str) -> Result<String, String> {
        let request = HttpRequest::get(Url::parse(url).unwrap());
        let request = credential.add_to(request).map_err(|error| error.to_string())?;
        assert!(!format!("{request:?} {credential:?}").contains("s3cret"));
        Ok(request.url().to_string())
    }

    #[test]
    fn a_credential_goes_where_it_belongs_and_is_not_shown() {
        let value = Secret::new("s3cret");
        let query = Credential::Query { name: "key".into(), value: value.clone() };
        assert_eq!(add(&query, "https://a.example/x").unwrap(), "https://a.example/x?key=s3cret");
        for credential in [
            Credential::bearer(&value),
            Credential::Cookie { name: "session".into(), value: value.clone() },
            query,
        ] {
            add(&credential, "https://a.example/x").unwrap();
            add(&credential, "http://127.0.0.1/x").unwrap();
            let error = add(&credential, "http://a.example/x").unwrap_err();
            assert!(error.contains("https only"), "{error}");
        }
    }

    #[test]
    fn a_cookie_holds_one_value() {
        for (name, value) in [("a", "x; b=y"), ("a", "x\r\n"), ("a=b", "x"), ("", "x"), ("a", "x y")] {
            let cookie = Credential::Cookie { name: name.into(), value: Secret::new(value) };
            assert!(add(&cookie, "https://a.example/").is_err(), "{name} {value}");
        }
    }
}
