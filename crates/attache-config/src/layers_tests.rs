use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn loaded(flags: Flags, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let environment = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let folder = tempfile::tempdir().unwrap();
    load(flags, &environment, folder.path())
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
    assert!(settings.model.is_none());
    assert_eq!(settings.limits.body_bytes, 20 << 20);
}

#[test]
fn without_a_home_no_store_is_taken_that_may_have_come_with_the_folder() {
    assert_eq!(loaded(Flags::default(), &[]).unwrap().store, StoreChoice::Memory);
    let said = Flags { store: Some("sqlite:mine.db".into()), ..Flags::default() };
    assert!(
        matches!(loaded(said, &[]).unwrap().store, StoreChoice::Sqlite(path) if path.ends_with("mine.db"))
    );
}

#[test]
fn flags_count_before_the_environment_and_that_before_the_file() {
    let file = "port = 1\nhost = \"127.0.0.2\"";
    assert_eq!(with_file(file, &[]).unwrap().port, 1);
    assert_eq!(with_file(file, &[("PORT", "2")]).unwrap().port, 2);
    assert_eq!(with_file(file, &[("PORT", "2"), ("CODER_AGENT_PORT", "3")]).unwrap().port, 3);
    let flags = Flags { port: Some(4), ..Flags::default() };
    assert_eq!(loaded(flags, &[("PORT", "2")]).unwrap().port, 4);
    assert_eq!(loaded(Flags::default(), &[]).unwrap().port, 41242);
    assert_eq!(loaded(Flags::default(), &[("CODER_AGENT_PORT", "3")]).unwrap().port, 3);
    assert_eq!(with_file(file, &[("ATTACHE_HOST", "")]).unwrap().host.to_string(), "127.0.0.2");
}

#[test]
fn the_default_dialect_is_plain_unless_said_otherwise() {
    assert_eq!(loaded(Flags::default(), &[]).unwrap().default_dialect, DefaultDialect::Plain);
    let file = "default_dialect = \"developer\"";
    assert_eq!(with_file(file, &[]).unwrap().default_dialect, DefaultDialect::Developer);
    let variable = [("ATTACHE_DEFAULT_DIALECT", "gemini")];
    assert_eq!(with_file(file, &variable).unwrap().default_dialect, DefaultDialect::Gemini);
    let flags = Flags { default_dialect: Some("plain".into()), ..Flags::default() };
    assert_eq!(loaded(flags, &variable).unwrap().default_dialect, DefaultDialect::Plain);
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
            ("ATTACHE_DEFAULT_DIALECT", "gemni"),
            "ATTACHE_DEFAULT_DIALECT is \"gemni\", which is not plain, gemini or developer",
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
        grpc = "authority"
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
            ("agent.example:443", "1.0", None),
            ("https://agent.example/", "1.0", Some("blue")),
            ("https://agent.example", "1.0", Some("blue")),
            ("agent.example:443", "1.0", Some("blue")),
            ("https://agent.example/", "0.3", None),
            ("https://agent.example/rest", "0.3", None),
            ("agent.example:443", "0.3", None),
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
fn the_workspace_can_be_named_by_either_variable() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let named = |folder: &tempfile::TempDir| folder.path().display().to_string();
    let other = ("CODER_AGENT_WORKSPACE_PATH", named(&two));
    let other = (other.0, other.1.as_str());
    let settings = loaded(Flags::default(), &[other]).unwrap();
    assert_eq!(settings.workspace, two.path().canonicalize().unwrap());
    assert_eq!(settings.allowed_roots, std::slice::from_ref(&settings.workspace), "nowhere else by default");
    let settings = loaded(Flags::default(), &[other, ("ATTACHE_WORKSPACE", &named(&one))]).unwrap();
    assert_eq!(settings.workspace, one.path().canonicalize().unwrap());
}

#[test]
fn a_folder_whose_path_cannot_be_recorded_is_no_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    std::os::unix::fs::symlink(&odd, folder.path().join("link")).unwrap();
    for path in [odd, folder.path().join("link")] {
        let error = loaded(Flags { workspace: Some(path), ..Flags::default() }, &[]).unwrap_err();
        assert!(error.to_string().contains("workspace") && error.to_string().contains("not text in UTF-8"));
        assert!(error.hint().is_some());
    }
    let root = folder.path().join("link").display().to_string();
    let error = loaded(Flags::default(), &[("CODER_AGENT_ALLOWED_ROOT", &root)]).unwrap_err();
    assert!(error.to_string().contains("allowed root"), "{error}");
}

#[test]
fn there_is_at_least_one_worker() {
    assert_eq!(with_file("worker_threads = 3", &[]).unwrap().worker_threads, Some(3));
    assert_eq!(with_file("", &[]).unwrap().worker_threads, None);
    let error = with_file("worker_threads = 0", &[]).unwrap_err().to_string();
    assert!(error.contains("`worker_threads`") && error.contains("between 1 and 1024"), "{error}");
}

#[test]
fn operator_keys_are_shown_with_their_origin_and_without_secrets() {
    let settings = with_file(
        "\nport = 7\n[limits]\njson_depth = 9\n",
        &[("ATTACHE_TOKEN", "0123456789abcdef"), ("ATTACHE_HOST", "127.0.0.2")],
    )
    .unwrap();
    let shown = |key: &str| {
        let entry = settings.entries().iter().find(|entry| entry.key == key).expect(key);
        let origin = entry.shown_origin();
        format!("{} by {}", entry.shown_value(), origin.rsplit('/').next().unwrap_or_default())
    };
    assert_eq!(shown("port"), "7 by attache.toml:2");
    assert_eq!(shown("limits.json_depth"), "9 by attache.toml:4");
    assert_eq!(shown("host"), "127.0.0.2 by $ATTACHE_HOST");
    assert_eq!(shown("token_file"), "(hidden) by $ATTACHE_TOKEN");
    assert_eq!(shown("public_url"), "- by built in");
    assert!(!format!("{:?}", settings.entries()).contains("0123456789abcdef"));
}

#[test]
fn a_bad_mode_is_told_by_the_name_it_was_said_by() {
    let error = with_file("approval_mode = \"fast\"\n", &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the setting `approval_mode` is \"fast\", which is not default, auto_edit, confined, yolo or plan"
    );
}
