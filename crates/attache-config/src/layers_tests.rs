use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::ModelChoice;

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
    assert_eq!(settings.model, ModelChoice::Offline);
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
            "ATTACHE_MODEL is \"magic\", which is not offline, script:FILE, openai:NAME, anthropic:NAME, or a Gemini model such as gemini-2.5-pro, auto, pro, flash or flash-lite",
        ),
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
            ("https://agent.example:443", "0.3", None),
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
fn a_client_may_work_only_below_allowed_roots() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for name in ["own/sub", "roots/a", "elsewhere"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    fs::write(at("roots/file"), "").unwrap();
    std::os::unix::fs::symlink(at("elsewhere"), at("roots/link")).unwrap();
    std::os::unix::fs::symlink(at("roots/a"), at("elsewhere/back")).unwrap();
    let workspace = at("own").display().to_string();
    let settings = loaded(Flags::default(), &[("ATTACHE_WORKSPACE", &workspace)]).unwrap();
    assert_eq!(settings.allowed_workspace(Path::new("sub")).unwrap(), at("own/sub"));
    assert!(settings.allowed_workspace(&at("roots/a")).is_err());
    let roots = format!("{}:{}", at("own").display(), at("roots").display());
    let variables = [("ATTACHE_WORKSPACE", workspace.as_str()), ("CODER_AGENT_ALLOWED_ROOT", &roots)];
    let settings = loaded(Flags::default(), &variables).unwrap();
    for (wished, expected) in [
        (at("roots/a"), Some(at("roots/a"))),
        (at("roots"), Some(at("roots"))),
        (at("elsewhere/back"), Some(at("roots/a"))),
        (PathBuf::from("sub/../sub"), Some(at("own/sub"))),
        (at("roots/link"), None),
        (at("roots/../elsewhere"), None),
        (at("roots/file"), None),
        (at("roots/missing"), None),
        (PathBuf::from(".."), None),
        (PathBuf::from("/"), None),
    ] {
        let found = settings.allowed_workspace(&wished);
        if let Err(error) = &found {
            assert!(error.to_string().contains(&at("roots").display().to_string()), "{error}");
        }
        assert_eq!(found.ok(), expected, "{}", wished.display());
    }
    let error = loaded(Flags::default(), &[("CODER_AGENT_ALLOWED_ROOT", "/missing/root")]).unwrap_err();
    assert!(error.to_string().contains("allowed root"), "{error}");
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
    let own = folder.path().display().to_string();
    let settings = loaded(Flags::default(), &[("ATTACHE_WORKSPACE", &own)]).unwrap();
    let error = settings.allowed_workspace(Path::new("link")).unwrap_err();
    assert!(error.to_string().contains("not text in UTF-8"), "{error}");
}

#[test]
fn the_operator_s_tables_for_the_agent_are_checked_at_the_start() {
    let settings =
        with_file("[enforced]\nuseWriteTodo = true\n[defaults.model]\nname = \"pro\"\n", &[]).unwrap();
    assert!(
        settings.warnings[0]
            .contains("attache.toml:2: unknown key useWriteTodo; did you mean useWriteTodos?")
    );
    let error = with_file("[enforced.tools]\nexclude = 5\n", &[]).unwrap_err();
    assert!(error.to_string().contains("attache.toml:2: tools.exclude: must be a list of texts"), "{error}");
    let error = with_file("allow_private_addresses = [\"10.0.0.0/99\"]\n", &[]).unwrap_err();
    assert!(error.to_string().contains("allow_private_addresses"), "{error}");
}

#[test]
fn keys_of_the_user_s_own_file_choose_the_model() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".gemini")).unwrap();
    fs::write(home.path().join(".gemini/.env"), "ANTHROPIC_API_KEY=k\n").unwrap();
    let settings = loaded(Flags::default(), &[("HOME", &home.path().display().to_string())]).unwrap();
    assert_eq!(settings.model.name(), "anthropic:claude-sonnet-4-5");
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
fn the_page_about_settings_names_every_key_and_variable_and_its_example_works() {
    let page = include_str!("../../../docs/settings.md");
    for key in crate::agent::keys::KEYS {
        let last = key.name.rsplit('.').next().unwrap_or_default();
        assert!(
            page.contains(&format!("`{}", key.name)) || page.contains(&format!("`.{last}`")),
            "{}",
            key.name
        );
    }
    for (name, _) in crate::VARIABLES.iter().filter(|(name, _)| *name != "HOME") {
        assert!(page.contains(name), "{name}");
    }
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = example.replace("/srv/projects", "/");
    let settings = with_file(&example, &[]).unwrap();
    assert_eq!(settings.warnings, Vec::<String>::new());
    assert_eq!(settings.allow_private_addresses.len(), 2);
}

#[test]
fn a_bad_mode_is_told_by_the_name_it_was_said_by() {
    let error = with_file("approval_mode = \"fast\"\n", &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the setting `approval_mode` is \"fast\", which is not default, auto_edit, confined, yolo or plan"
    );
}
