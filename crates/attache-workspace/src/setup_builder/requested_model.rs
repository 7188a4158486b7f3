//! Resolves the model that a conversation requests, and the key it is reached with.
//!
//! A client's key belongs to the provider of the model it was given for. Models of other providers are reached with the
//! operator's keys.

use attache_agent::{API_KEY, SettingsRefusal};
use attache_config::ConfigError;
use attache_domain::{ApiKeys, RequestedSettings};

use crate::{ModelChoice, ModelCredentials, ModelProvider};

#[derive(Debug, PartialEq)]
pub(super) enum RequestedModel {
    /// The operator's own model, which exists already.
    Operator,
    /// Reached with the operator's keys, so it may be shared between clients.
    Shared(ModelChoice),
    /// Reached with the key of a client.
    WithClientKey(ModelChoice),
}

/// `own` is the operator's model, and `keys` are the operator's.
pub(super) fn resolve(
    requested: &RequestedSettings,
    own: &ModelChoice,
    keys: &ModelCredentials,
    api_keys: &ApiKeys,
) -> Result<RequestedModel, SettingsRefusal> {
    let name = requested.model.as_deref();
    let key_provider =
        requested.api_key_name.as_ref().map(|_| provider(requested.api_key_model.as_deref(), own));
    match (&requested.api_key_name, key_provider) {
        (Some(key), Some(key_provider)) if key_provider == provider(name, own) => {
            with_client_key(name, key, key_provider, (own, keys, api_keys)).map(RequestedModel::WithClientKey)
        }
        (_, key_provider) => with_operator_key(name, key_provider.flatten(), own, keys),
    }
}

/// The provider of the model `name`; without a name that of the operator's model, or Gemini if that is built in.
fn provider(name: Option<&str>, own: &ModelChoice) -> Option<ModelProvider> {
    match name {
        Some(name) => ModelProvider::of_model(name),
        None => own.provider().or(Some(ModelProvider::Gemini)),
    }
}

fn with_operator_key(
    name: Option<&str>,
    key_provider: Option<ModelProvider>,
    own: &ModelChoice,
    keys: &ModelCredentials,
) -> Result<RequestedModel, SettingsRefusal> {
    let Some(name) = name.filter(|name| *name != own.name()) else { return Ok(RequestedModel::Operator) };
    let choice = ModelChoice::requested(name, keys).map_err(|error| {
        let what = match (&error, key_provider) {
            (ConfigError::NoKey { .. }, Some(provider)) => format!(
                "{error}; the client's key is for {provider}: a key for this model goes into agentSettings.apiKey \
                 beside the model"
            ),
            (ConfigError::NoKey { variable, .. }, None) => {
                format!(
                    "{error}; its operator can set {variable} where the server runs, or the client sends a key of its own \
                     in agentSettings.apiKey beside the model"
                )
            }
            _ => error.to_string(),
        };
        SettingsRefusal { field: "model", what }
    });
    choice.map(RequestedModel::Shared)
}

fn with_client_key(
    name: Option<&str>,
    key: &str,
    provider: Option<ModelProvider>,
    (own, keys, api_keys): (&ModelChoice, &ModelCredentials, &ApiKeys),
) -> Result<ModelChoice, SettingsRefusal> {
    let refused = |what: String| SettingsRefusal { field: API_KEY, what };
    let Some(key) = api_keys.find(key) else {
        let what = "is needed again: the key was kept in memory only, and the server has forgotten it";
        return Err(refused(what.into()));
    };
    let Some(provider) = provider else {
        return Err(refused(format!("is of no use: the model {} takes no key", name.unwrap_or_default())));
    };
    let keys = keys.with_client_key(provider, key.expose());
    let choice = match (name, own) {
        (Some(name), _) => ModelChoice::requested(name, &keys),
        (None, ModelChoice::Offline | ModelChoice::Script(_)) => ModelChoice::without_name(&keys),
        (None, own) => ModelChoice::requested(&own.name(), &keys),
    };
    choice.map_err(|error| SettingsRefusal { field: "model", what: error.to_string() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use attache_config::SecretText;
    use attache_domain::ApiKey;

    use super::*;

    const CLIENT: &str = "sk-of-the-client";

    fn keys() -> ModelCredentials {
        let variables =
            [("GEMINI_API_KEY", "gemini-of-the-operator"), ("OPENAI_API_KEY", "openai-of-the-operator")];
        let environment = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        ModelCredentials::read(&environment, None)
    }

    fn requested(model: Option<&str>, key_for: Option<&str>) -> RequestedSettings {
        let text = |text: Option<&str>| text.map(str::to_owned);
        RequestedSettings {
            model: text(model),
            api_key_name: Some("k".into()),
            api_key_model: text(key_for),
            ..RequestedSettings::default()
        }
    }

    /// The key that the model is reached with, or the refusal.
    fn key_of(requested: &RequestedSettings, own: &ModelChoice, api_keys: &ApiKeys) -> String {
        let key = |choice: ModelChoice| match choice {
            ModelChoice::Gemini(chosen) => chosen.key,
            ModelChoice::OpenAi(chosen) => chosen.key.unwrap(),
            ModelChoice::Anthropic(chosen) => chosen.key,
            other => SecretText::new(other.name()),
        };
        match resolve(requested, own, &keys(), api_keys) {
            Ok(RequestedModel::Operator) => "operator".into(),
            Ok(RequestedModel::Shared(choice) | RequestedModel::WithClientKey(choice)) => {
                key(choice).expose().to_owned()
            }
            Err(refusal) => format!("{}: {}", refusal.field, refusal.what),
        }
    }

    #[test]
    fn a_clients_key_goes_to_the_provider_it_was_given_for_and_to_no_other() {
        let api_keys = Arc::new(ApiKeys::default());
        drop(api_keys.offer("k".into(), ApiKey::from(CLIENT.to_owned())));
        let gemini = ModelChoice::requested("flash", &keys()).unwrap();
        let openai = ModelChoice::requested("openai:gpt-x", &keys()).unwrap();
        let cases = [
            (None, None, &gemini, CLIENT),
            (None, None, &ModelChoice::Offline, CLIENT),
            (None, None, &openai, CLIENT),
            (Some("pro"), None, &gemini, CLIENT),
            (Some("pro"), None, &ModelChoice::Offline, CLIENT),
            (Some("openai:gpt-x"), None, &gemini, "openai-of-the-operator"),
            (Some("openai:gpt-x"), Some("pro"), &gemini, "openai-of-the-operator"),
            (Some("openai:gpt-y"), Some("openai:gpt-x"), &gemini, CLIENT),
            (Some("pro"), Some("anthropic:c"), &openai, "gemini-of-the-operator"),
            (Some("flash"), Some("anthropic:c"), &gemini, "operator"),
            (Some("anthropic:c"), Some("anthropic:c"), &gemini, CLIENT),
            (Some("offline"), None, &gemini, "offline"),
            (
                Some("offline"),
                Some("offline"),
                &gemini,
                "apiKey: is of no use: the model offline takes no key",
            ),
        ];
        for (model, key_for, own, expected) in cases {
            let found = key_of(&requested(model, key_for), own, &api_keys);
            assert_eq!(
                found,
                expected,
                "{model:?} with a key for {key_for:?}, the operator has {}",
                own.name()
            );
        }
    }

    #[test]
    fn a_model_without_any_key_says_whose_the_clients_key_is() {
        let gemini = ModelChoice::requested("flash", &keys()).unwrap();
        let refused = key_of(&requested(Some("anthropic:c"), None), &gemini, &ApiKeys::default());
        assert!(refused.starts_with("model: ") && refused.contains("key is for Gemini"), "{refused}");
    }

    #[test]
    fn a_forgotten_key_is_asked_for_by_models_of_its_provider_only() {
        let gemini = ModelChoice::requested("flash", &keys()).unwrap();
        let again = key_of(&requested(None, None), &gemini, &ApiKeys::default());
        assert!(again.starts_with("apiKey: is needed again"), "{again}");
        let other = key_of(&requested(Some("openai:gpt-x"), None), &gemini, &ApiKeys::default());
        assert_eq!(other, "openai-of-the-operator");
    }
}
