use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

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
        (
            ("ATTACHE_LOG", "inof"),
            "ATTACHE_LOG is \"inof\", which is not a level such as info or debug, or levels of parts such as \
             info,attache_server=debug",
        ),
        (("ATTACHE_LOG_FORMAT", "xml"), "ATTACHE_LOG_FORMAT is \"xml\", which is not text or json"),
    ] {
        assert_eq!(loaded(Flags::default(), &[variables]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_log_filter_is_a_list_of_levels() {
    for (filter, is_good) in [
        ("debug", true),
        ("INFO", true),
        ("warn,attache_server=debug,attache_tool_std::shell=trace", true),
        ("off", true),
        ("attache_server", false),
        ("[[[=info", false),
        ("info,attache_server=loud", false),
        ("info,", false),
        ("", false),
    ] {
        let flags = Flags { log: Some(filter.into()), ..Flags::default() };
        assert_eq!(loaded(flags, &[]).is_ok(), is_good, "{filter}");
    }
}

/// The error and its causes.
fn told(error: &ConfigError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_place() {
    for (text, expected) in [
        ("port = \"many\"\n", "line 1"),
        ("\n\nsurprise = 1\n", "surprise"),
        ("[limits]\nbody_byte = 5\n", "body_byte"),
        ("not toml at all", "attache.toml"),
        ("[card.security_schemes.x]\ntype = \"magic\"\n", "magic"),
        ("[limits]\nbody_bytes = 1\n", "limits.body_bytes"),
        ("[limits]\njson_depth = 100000\n", "limits.json_depth"),
        ("[limits]\nheartbeat_seconds = 0\n", "limits.heartbeat_seconds"),
        ("[card]\ntenants = [\"a/b\"]\n", "card.tenants"),
        ("[card.extended]\n", "extended card"),
        ("public_url = \"agent.example\"\n", "public_url"),
    ] {
        let error = with_file(text, &[]).unwrap_err();
        assert!(told(&error).contains(expected), "{expected:?} is not named: {}", told(&error));
        assert!(error.hint().is_some(), "{}", told(&error));
    }
}

#[test]
fn a_bad_flag_is_told_by_its_name() {
    let flags = [
        ("--host", Flags { host: Some("example.com".into()), ..Flags::default() }),
        ("--store", Flags { store: Some("redis://localhost".into()), ..Flags::default() }),
        ("--log-format", Flags { log_format: Some("xml".into()), ..Flags::default() }),
    ];
    for (name, flags) in flags {
        let error = loaded(flags, &[]).unwrap_err();
        assert!(error.is_about_flag() && told(&error).contains(name) && error.hint().is_some(), "{error}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let plain = Flags { workspace: Some(file.path().to_owned()), ..Flags::default() };
    let error = loaded(plain, &[]).unwrap_err();
    assert!(told(&error).contains(&file.path().display().to_string()) && error.hint().is_some(), "{error}");
}

#[test]
fn an_open_address_needs_a_token() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let open = || Flags { host: Some(host.into()), ..Flags::default() };
        let error = loaded(open(), &[]).unwrap_err();
        assert!(matches!(error, ConfigError::OpenToTheWorld { .. }), "{host}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("--token-file")), "{host}: {error}");
        assert!(loaded(open(), &[("ATTACHE_TOKEN", "0123456789abcdef")]).is_ok());
    }
}

#[test]
fn a_bad_token_is_refused_without_being_shown() {
    for weak in ["short", "with blanks in the middle of it", "ünprintable-and-long-enough"] {
        let error = loaded(Flags::default(), &[("ATTACHE_TOKEN", weak)]).unwrap_err();
        assert!(told(&error).contains("ATTACHE_TOKEN") && !told(&error).contains(weak), "{error}");
    }
}

/// A token file with this text and this mode.
fn token_file(text: &str, mode: u32) -> (tempfile::NamedTempFile, Flags) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
    let flags = Flags { token_file: Some(file.path().to_owned()), ..Flags::default() };
    (file, flags)
}

#[test]
fn an_empty_token_is_refused_and_never_means_none() {
    for (name, value) in [("ATTACHE_TOKEN", ""), ("ATTACHE_TOKEN", "  "), ("ATTACHE_TOKEN_FILE", "")] {
        let error = loaded(Flags::default(), &[(name, value)]).unwrap_err();
        assert!(told(&error).contains(name) && told(&error).contains("empty"), "{name}: {error}");
    }
    let (_file, flags) = token_file("\n", 0o600);
    let error = loaded(flags, &[]).unwrap_err();
    assert!(told(&error).contains("token") && told(&error).contains("empty"), "{error}");
}

#[test]
fn a_token_comes_from_a_file_before_the_environment() {
    let (_file, flags) = token_file("  the-token-that-stands-in-the-file\n", 0o600);
    let settings = loaded(flags, &[("ATTACHE_TOKEN", "0123456789abcdef")]).unwrap();
    assert_eq!(settings.token.as_deref(), Some("the-token-that-stands-in-the-file"));
}

#[test]
fn a_token_file_that_others_can_read_is_refused() {
    let token = "0123456789abcdef";
    for (mode, is_good) in [(0o640, false), (0o604, false), (0o644, false), (0o600, true), (0o400, true)] {
        let (_file, flags) = token_file(token, mode);
        let loaded = loaded(flags, &[]);
        assert_eq!(loaded.is_ok(), is_good, "{mode:o}");
        if let Err(error) = loaded {
            assert!(error.hint().is_some_and(|hint| hint.contains("chmod 600")), "{mode:o}: {error}");
            assert!(!told(&error).contains(token), "{mode:o}: {error}");
        }
    }
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
