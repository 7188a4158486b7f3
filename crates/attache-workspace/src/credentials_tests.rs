use std::path::Path;

use attache_config::ConfigError;

use super::*;
use crate::ModelChoice;

fn keys(variables: &[(&str, &str)], file: Option<&str>) -> ModelCredentials {
    let environment = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let file = file.map(|text| EnvFile::parse(Path::new("/h/.env"), text));
    ModelCredentials::read(&environment, file.as_ref())
}

/// The choice in a few words, keys shown.
fn summary(choice: Result<ModelChoice, ConfigError>) -> String {
    let shown = |key: &SecretText| key.expose().to_owned();
    let at = |url: Option<String>| url.map(|url| format!(" at {url}")).unwrap_or_default();
    match choice {
        Ok(ModelChoice::Gemini(it)) => format!("gemini {} {}{}", it.model, shown(&it.key), at(it.base_url)),
        Ok(ModelChoice::Vertex(it)) => match it.access {
            VertexAccess::Express(key) => format!("vertex {} {}{}", it.model, shown(&key), at(it.base_url)),
            VertexAccess::Project { project, location, credentials } => format!(
                "vertex {} {project} {location} {}",
                it.model,
                credentials.credentials_file.map_or("-".into(), |path| path.display().to_string())
            ),
        },
        Ok(ModelChoice::OpenAi(it)) => {
            format!("openai {} {}{}", it.model, it.key.as_ref().map_or("-".into(), shown), at(it.base_url))
        }
        Ok(ModelChoice::Anthropic(it)) => {
            format!("anthropic {} {}{}", it.model, shown(&it.key), at(it.base_url))
        }
        Ok(other) => other.name(),
        Err(error) => format!("{error}; {}", error.hint().unwrap_or_default()),
    }
}

#[test]
fn models_are_chosen_by_name() {
    let all = [
        ("GEMINI_API_KEY", "g"),
        ("OPENAI_API_KEY", "o"),
        ("ANTHROPIC_API_KEY", "a"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:2"),
    ];
    for (name, expected) in [
        ("offline", "offline"),
        ("script:x.yaml", "script:/here/x.yaml"),
        ("gemini-2.5-pro", "gemini gemini-2.5-pro g"),
        ("flash", "gemini flash g"),
        ("openai:gpt-5-mini", "openai gpt-5-mini o"),
        ("openai:org/model:7b", "openai org/model:7b o"),
        ("anthropic:claude-opus-4-1", "anthropic claude-opus-4-1 a at http://127.0.0.1:2"),
    ] {
        assert_eq!(
            summary(ModelChoice::named(name, &keys(&all, None), Path::new("/here"))),
            expected,
            "{name}"
        );
    }
    for name in ["", "gpt-5", "openai:", "openai:a b", "script:", "ftp:x", "gemini-\n"] {
        let error = ModelChoice::named(name, &keys(&all, None), Path::new("/here")).unwrap_err().to_string();
        assert!(error.contains("openai:NAME"), "{error}");
    }
}

#[test]
fn a_model_without_its_key_says_which_variable_it_needs() {
    for (name, variable) in [
        ("pro", "GEMINI_API_KEY"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ] {
        let text = summary(ModelChoice::named(name, &ModelCredentials::default(), Path::new("/")));
        assert!(text.contains(name) && text.contains(variable), "{text}");
    }
    let own = keys(&[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")], None);
    let chosen = ModelChoice::named("openai:llama", &own, Path::new("/"));
    assert_eq!(summary(chosen), "openai llama - at http://127.0.0.1:1/v1");
}

#[test]
fn without_a_name_the_keys_decide() {
    let (gemini, openai, anthropic) =
        (("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a"));
    for (variables, expected) in [
        (&[][..], "offline"),
        (&[anthropic][..], "anthropic claude-sonnet-4-5 a"),
        (&[anthropic, openai][..], "openai gpt-5 o"),
        (&[anthropic, openai, gemini][..], "gemini auto g"),
        (&[gemini, ("GEMINI_MODEL", "flash")][..], "gemini flash g"),
        (&[openai, ("GEMINI_MODEL", "flash")][..], "openai gpt-5 o"),
    ] {
        assert_eq!(summary(ModelChoice::without_name(&keys(variables, None))), expected);
    }
}

#[test]
fn vertex_is_asked_for_by_a_variable_of_its_own() {
    let on = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
    let project = ("GOOGLE_CLOUD_PROJECT", "p");
    for (variables, expected) in [
        (&[on, project][..], "vertex auto p global -"),
        (
            &[on, project, ("GOOGLE_CLOUD_LOCATION", "eu"), ("GOOGLE_APPLICATION_CREDENTIALS", "/k.json")][..],
            "vertex auto p eu /k.json",
        ),
        (&[on, ("GOOGLE_API_KEY", "k")][..], "vertex auto k"),
        (
            &[on, ("GOOGLE_API_KEY", "k"), ("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:3")][..],
            "vertex auto k at http://127.0.0.1:3",
        ),
        (&[("GOOGLE_GENAI_USE_VERTEXAI", "false"), project][..], "offline"),
    ] {
        assert_eq!(summary(ModelChoice::without_name(&keys(variables, None))), expected);
    }
    let text = summary(ModelChoice::without_name(&keys(&[on], None)));
    assert!(text.contains("GOOGLE_CLOUD_PROJECT"), "{text}");
}

#[test]
fn a_file_of_variables_stands_below_the_environment() {
    let file = "GEMINI_API_KEY=from-file\nOPENAI_API_KEY=o\n";
    let chosen = ModelChoice::without_name(&keys(&[], Some(file)));
    assert_eq!(summary(chosen), "gemini auto from-file");
    let chosen = ModelChoice::without_name(&keys(&[("GEMINI_API_KEY", "mine")], Some(file)));
    assert_eq!(summary(chosen), "gemini auto mine");
    assert!(!format!("{:?}", keys(&[], Some(file))).contains("from-file"), "keys do not show");
}
