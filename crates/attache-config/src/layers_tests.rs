use super::*;
use crate::ModelChoice;

fn loaded(flags: Flags, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let environment = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    load(flags, &environment, &std::env::temp_dir())
}

fn with_file(text: &str, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attache.toml");
    fs::write(&path, text).unwrap();
    loaded(Flags { config: Some(path), ..Flags::default() }, variables)
}

#[test]
fn defaults_listen_on_loopback_and_keep_tasks_in_the_data_folder() {
    let settings = loaded(Flags::default(), &[("HOME", "/srv/somebody")]).unwrap();
    assert_eq!(settings.host.to_string(), "127.0.0.1");
    assert_eq!(settings.port, 41242);
    let expected = PathBuf::from("/srv/somebody/.local/share/attache/tasks.db");
    assert_eq!(settings.store, StoreChoice::Sqlite(expected));
    assert_eq!(settings.model, ModelChoice::Offline);
    assert_eq!(settings.limits.body_bytes, 20 << 20);
}

#[test]
fn flags_count_before_the_environment_and_that_before_the_file() {
    let file = "port = 1\nhost = \"127.0.0.2\"";
    assert_eq!(with_file(file, &[]).unwrap().port, 1);
    assert_eq!(with_file(file, &[("PORT", "2")]).unwrap().port, 2);
    assert_eq!(with_file(file, &[("PORT", "2"), ("CODER_AGENT_PORT", "3")]).unwrap().port, 3);
    let flags = Flags { port: Some(4), ..Flags::default() };
    assert_eq!(loaded(flags, &[("PORT", "2")]).unwrap().port, 4);
    assert_eq!(with_file(file, &[("ATTACHE_HOST", "")]).unwrap().host.to_string(), "127.0.0.2");
}

#[test]
fn a_key_in_the_environment_chooses_gemini_unless_a_model_is_named() {
    let key = ("GEMINI_API_KEY", "k-1");
    let model = |flags: Option<&str>, variables: &[(&str, &str)]| {
        let flags = Flags { model: flags.map(str::to_owned), ..Flags::default() };
        loaded(flags, variables).map(|settings| settings.model)
    };
    let ModelChoice::Gemini(chosen) =
        model(None, &[key, ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")]).unwrap()
    else {
        panic!("Gemini");
    };
    assert_eq!((chosen.model.as_str(), chosen.key.expose()), ("auto", "k-1"));
    assert_eq!(chosen.base_url.as_deref(), Some("http://127.0.0.1:9"));
    assert!(!format!("{chosen:?}").contains("k-1"), "keys do not show");
    assert_eq!(model(Some("offline"), &[key]).unwrap(), ModelChoice::Offline);
    let ModelChoice::Gemini(chosen) =
        model(Some("gemini-2.5-flash"), &[key, ("GOOGLE_API_KEY", "k-2")]).unwrap()
    else {
        panic!("Gemini");
    };
    assert_eq!((chosen.model.as_str(), chosen.key.expose()), ("gemini-2.5-flash", "k-2"));
    assert_eq!(model(Some("flash"), &[]).unwrap_err().to_string(), "the model flash needs a key");
}

#[test]
fn an_unknown_key_is_named_with_the_ones_there_are() {
    let error = with_file("prot = 1", &[]).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("prot") && source.contains("`port`"), "{source}");
}

#[test]
fn a_bad_value_is_told_with_its_origin_and_what_would_be_right() {
    for (variables, expected) in [
        (("PORT", "many"), "PORT is \"many\", which is not a port between 0 and 65535"),
        (("ATTACHE_STORE", "redis"), "ATTACHE_STORE is \"redis\", which is not memory: or sqlite:PATH"),
        (
            ("ATTACHE_MODEL", "magic"),
            "ATTACHE_MODEL is \"magic\", which is not offline, script:FILE, or a Gemini model such as gemini-2.5-pro, auto, pro, flash or flash-lite",
        ),
        (("ATTACHE_LOG_FORMAT", "xml"), "ATTACHE_LOG_FORMAT is \"xml\", which is not text or json"),
    ] {
        assert_eq!(loaded(Flags::default(), &[variables]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn an_open_address_needs_a_token() {
    let open = || Flags { host: Some("0.0.0.0".into()), ..Flags::default() };
    let error = loaded(open(), &[]).unwrap_err();
    assert!(matches!(error, ConfigError::OpenToTheWorld { .. }) && error.hint().is_some());
    assert!(loaded(open(), &[("ATTACHE_TOKEN", "0123456789abcdef")]).is_ok());
}

#[test]
fn a_bad_token_is_refused_without_being_shown() {
    let error = loaded(Flags::default(), &[("ATTACHE_TOKEN", "hunter2")]).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn every_part_of_the_card_can_be_set() {
    let text = r#"
        [card]
        name = "Builder"
        provider = { organization = "Example", url = "https://example.org" }
        tenants = ["blue"]
        security = [{ key = [] }, { oauth = ["read"], mtls = [] }]
        [card.security_schemes]
        key = { type = "api-key", location = "header", name = "X-Key" }
        http = { type = "http", scheme = "bearer", bearer_format = "JWT" }
        oauth = { type = "oauth2", flow = { authorization_code = { authorization_url = "https://a.example/auth", token_url = "https://a.example/token", scopes = { read = "look" }, pkce_required = true } } }
        client = { type = "oauth2", flow = { client_credentials = { token_url = "https://a.example/token" } } }
        implicit = { type = "oauth2", flow = { implicit = { authorization_url = "https://a.example/auth" } } }
        password = { type = "oauth2", flow = { password = { token_url = "https://a.example/token" } } }
        device = { type = "oauth2", flow = { device_code = { device_authorization_url = "https://a.example/d", token_url = "https://a.example/token" } } }
        oidc = { type = "open-id-connect", url = "https://a.example/.well-known/openid-configuration" }
        mtls = { type = "mutual-tls" }
        [[card.skills]]
        id = "build"
        name = "Build"
        description = "Builds"
        tags = ["ci"]
        security = [{ oauth = ["read"] }]
        [[card.extensions]]
        uri = "https://example.org/ext"
        required = true
        params = { depth = 3 }
    "#;
    let settings = with_file(text, &[]).unwrap();
    let card = crate::card_of(&settings, "https://agent.example");
    assert_eq!(card.security_schemes.len(), 9);
    assert_eq!(card.security.len(), 2);
    assert_eq!(card.skills[0].security[0].schemes["oauth"], ["read"]);
    assert_eq!(card.capabilities.extensions[0].params, Some(serde_json::json!({"depth": 3})));
    let listed: Vec<_> = card
        .interfaces
        .iter()
        .map(|it| (it.url.as_str(), it.protocol_version.as_str(), it.tenant.as_deref()))
        .collect();
    assert_eq!(
        listed,
        [
            ("https://agent.example/", "1.0", None),
            ("https://agent.example", "1.0", None),
            ("https://agent.example/", "1.0", Some("blue")),
            ("https://agent.example", "1.0", Some("blue")),
            ("https://agent.example/", "0.3", None),
            ("https://agent.example", "0.3", None),
        ]
    );
}

#[test]
fn a_token_declares_itself_on_the_card() {
    let settings = loaded(Flags::default(), &[("ATTACHE_TOKEN", "0123456789abcdef")]).unwrap();
    let card = crate::card_of(&settings, "http://127.0.0.1:1");
    assert!(card.security_schemes.contains_key("bearer"));
    assert_eq!(card.security.len(), 1);
}

#[test]
fn reserved_tenant_names_are_refused() {
    assert!(with_file("[card]\ntenants = [\"v1\"]", &[]).is_err());
}
