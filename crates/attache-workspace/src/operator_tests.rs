use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::client_permissions::allowed_workspace;

fn loaded_with_model(
    flags: Flags,
    variables: &[(&str, &str)],
) -> Result<(Settings, ModelChoice), ConfigError> {
    let environment = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let folder = tempfile::tempdir().unwrap();
    load_with_model(flags, &environment, folder.path())
}

fn loaded(flags: Flags, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    loaded_with_model(flags, variables).map(|(settings, _)| settings)
}

fn with_file(text: &str, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attache.toml");
    fs::write(&path, text).unwrap();
    loaded(Flags { config: Some(path), ..Flags::default() }, variables)
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
    assert_eq!(allowed_workspace(&settings, Path::new("sub")).unwrap(), at("own/sub"));
    assert!(allowed_workspace(&settings, &at("roots/a")).is_err());
    let roots = format!("{}:{}", at("own").display(), at("roots").display());
    let variables = [("ATTACHE_WORKSPACE", workspace.as_str()), ("CODER_AGENT_ALLOWED_ROOT", &roots)];
    let settings = loaded(Flags::default(), &variables).unwrap();
    for (requested, expected) in [
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
        let found = allowed_workspace(&settings, &requested);
        if let Err(error) = &found {
            assert!(error.to_string().contains(&at("roots").display().to_string()), "{error}");
        }
        assert_eq!(found.ok(), expected, "{}", requested.display());
    }
    let error = loaded(Flags::default(), &[("CODER_AGENT_ALLOWED_ROOT", "/missing/root")]).unwrap_err();
    assert!(error.to_string().contains("allowed root"), "{error}");
}

#[test]
fn a_key_in_the_environment_chooses_gemini_unless_a_model_is_named() {
    let key = ("GEMINI_API_KEY", "k-1");
    let model = |flags: Option<&str>, variables: &[(&str, &str)]| {
        let flags = Flags { model: flags.map(str::to_owned), ..Flags::default() };
        loaded_with_model(flags, variables).map(|(_, model)| model)
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
    let home = home.path().display().to_string();
    let (_, model) = loaded_with_model(Flags::default(), &[("HOME", &home)]).unwrap();
    assert_eq!(model.name(), "anthropic:claude-sonnet-4-5");
}

#[test]
fn an_unknown_model_is_refused_with_its_origin() {
    let error = loaded(Flags::default(), &[("ATTACHE_MODEL", "magic")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ATTACHE_MODEL is \"magic\", which is not offline, script:FILE, openai:NAME, anthropic:NAME, or a Gemini model \
         such as gemini-2.5-pro, auto, pro, flash or flash-lite"
    );
}

#[test]
fn the_page_about_settings_names_every_key_and_variable_and_its_example_works() {
    let page = include_str!("../../../docs/settings.md");
    for key in crate::settings::keys::KEYS {
        let last = key.name.rsplit('.').next().unwrap_or_default();
        assert!(
            page.contains(&format!("`{}", key.name)) || page.contains(&format!("`.{last}`")),
            "{}",
            key.name
        );
    }
    for (name, _) in attache_config::VARIABLES.iter().filter(|(name, _)| *name != "HOME") {
        assert!(page.contains(name), "{name}");
    }
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = example.replace("/srv/projects", "/");
    let settings = with_file(&example, &[]).unwrap();
    assert_eq!(settings.warnings, Vec::<String>::new());
    assert_eq!(settings.allow_private_addresses.len(), 2);
}
