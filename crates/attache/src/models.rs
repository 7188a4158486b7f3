//! Makes the model of a choice.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use attache_agent::AgentModel;
use attache_cli::report::with_hint;
use attache_config::SecretText;
use attache_credentials::google::{GoogleTokens, TokenPurpose};
use attache_domain::{BoundedCache, IgnorePoison};
use attache_model::LanguageModel;
use attache_model::offline::OfflineModel;
use attache_model::script::ScriptModel;
use attache_model_http::anthropic::AnthropicModel;
use attache_model_http::gemini::{
    Backend, GeminiCredential, GeminiOptions, GeminiSearch, model_id, with_fallback,
};
use attache_model_http::openai::OpenAiModel;
use attache_model_http::retry::RetryOptions;
use attache_model_http::{ModelOptions, TokenRenewal, TokenSource};
use attache_net::{BaseUrl, HttpClient, NetError, NetworkSettings, Secret};
use attache_workspace::{
    AnthropicSettings, GeminiSettings, GeneralKeys, ModelChoice, OpenAiSettings, VertexAccess, VertexSettings,
};

/// Models that are kept at a time. Clients choose their names, so there may be any number of them.
const MAX_KEPT_MODELS: usize = 64;

/// Makes models, and keeps those that were used last.
pub(crate) struct Models {
    network: NetworkSettings,
    client: HttpClient,
    retry: RetryOptions,
    /// The context window of models that are not at their vendor's own address.
    context_window: Option<u64>,
    kept: Mutex<BoundedCache<String, AgentModel>>,
}

impl Models {
    pub(crate) fn new(
        keys: &GeneralKeys,
        context_window: Option<u64>,
        network: NetworkSettings,
    ) -> anyhow::Result<Self> {
        let client = HttpClient::new(&network.client_options()).context("cannot make the outbound client")?;
        let retry = RetryOptions {
            attempts: keys.max_attempts,
            first_byte_timeout: Duration::from_secs(keys.first_byte_timeout.into()),
            retry_network_failures: keys.retry_fetch_errors,
            ..RetryOptions::default()
        };
        let kept = Mutex::new(BoundedCache::new(MAX_KEPT_MODELS, MAX_KEPT_MODELS));
        Ok(Self { network, client, retry, context_window, kept })
    }

    /// How models are reached, and everything else that the agent talks to.
    pub(crate) fn network(&self) -> &NetworkSettings {
        &self.network
    }

    pub(crate) fn model(&self, choice: &ModelChoice) -> anyhow::Result<AgentModel> {
        let name = choice.name();
        let mut kept = self.kept.lock().ignore_poison();
        if let Some(model) = kept.get(&name) {
            return Ok(model.clone());
        }
        let model = self.create(choice)?;
        kept.insert(name, model.clone(), 1);
        Ok(model)
    }

    /// A model with a client's key. It is not kept, because others must not get it by its name.
    pub(crate) fn own_model(&self, choice: &ModelChoice) -> anyhow::Result<AgentModel> {
        self.create(choice)
    }

    fn create(&self, choice: &ModelChoice) -> anyhow::Result<AgentModel> {
        let model: Arc<dyn LanguageModel> = match choice {
            ModelChoice::Offline => return Ok(AgentModel::BuiltIn(Arc::new(OfflineModel))),
            ModelChoice::Script(path) => return Ok(AgentModel::BuiltIn(Arc::new(script(path)?))),
            ModelChoice::Gemini(_) | ModelChoice::Vertex(_) => self.gemini(choice)?,
            ModelChoice::OpenAi(chosen) => Arc::new(self.openai(chosen)?),
            ModelChoice::Anthropic(chosen) => Arc::new(self.anthropic(chosen)?),
        };
        Ok(AgentModel::Language(model))
    }

    /// An alias has models to fall back on. A model that is named exactly has none.
    fn gemini(&self, choice: &ModelChoice) -> anyhow::Result<Arc<dyn LanguageModel>> {
        let options = self.gemini_options(choice)?;
        with_fallback(&options, &self.client).context("the Gemini model cannot be used")
    }

    /// Web search, if the model's provider offers it.
    pub(crate) fn search(&self, choice: &ModelChoice) -> anyhow::Result<Option<GeminiSearch>> {
        if !matches!(choice, ModelChoice::Gemini(_) | ModelChoice::Vertex(_)) {
            return Ok(None);
        }
        let options = GeminiOptions { model: "flash".into(), ..self.gemini_options(choice)? };
        Ok(Some(GeminiSearch::new(options, self.client.clone()).context("searches cannot be made")?))
    }

    fn gemini_options(&self, choice: &ModelChoice) -> anyhow::Result<GeminiOptions> {
        let options = match choice {
            ModelChoice::Gemini(GeminiSettings { model, key, base_url }) => {
                let window = self.context_window.filter(|_| base_url.is_some());
                let base_url = base_of("GOOGLE_GEMINI_BASE_URL", base_url.as_deref())?;
                let backend = Backend::Developer { base_url };
                GeminiOptions { window, ..GeminiOptions::new(model.clone(), api_key(key.expose()), backend) }
            }
            ModelChoice::Vertex(chosen) => self.vertex_options(chosen)?,
            _ => anyhow::bail!("{} is no Gemini model", choice.name()),
        };
        Ok(GeminiOptions { retry: self.retry.clone(), ..options })
    }

    fn vertex_options(&self, chosen: &VertexSettings) -> anyhow::Result<GeminiOptions> {
        let base_url = base_of("GOOGLE_VERTEX_BASE_URL", chosen.base_url.as_deref())?;
        let (project, location, google) = match &chosen.access {
            VertexAccess::Express(key) => {
                let backend = Backend::VertexExpress { base_url };
                return Ok(GeminiOptions::new(chosen.model.clone(), api_key(key.expose()), backend));
            }
            VertexAccess::Project { project, location, credentials } => (project, location, credentials),
        };
        let credentials = google.credentials().context("Vertex AI cannot be used")?;
        let billed = credentials
            .quota_project()
            .map(|project| ("x-goog-user-project".to_owned(), Secret::new(project)));
        let tokens = GoogleTokens::new(credentials, &self.network.client_options());
        let source = token_source(tokens.context("cannot make the outbound client")?);
        let backend = Backend::Vertex { base_url, project: project.clone(), location: location.clone() };
        let options = GeminiOptions::new(chosen.model.clone(), GeminiCredential::Bearer(source), backend);
        Ok(GeminiOptions { headers: billed.into_iter().collect(), ..options })
    }

    fn openai(&self, chosen: &OpenAiSettings) -> anyhow::Result<OpenAiModel> {
        let OpenAiSettings { model, key, base_url } = chosen;
        let options = self.options(model, key.as_ref(), ("OPENAI_BASE_URL", base_url.as_deref()))?;
        OpenAiModel::new(options, self.client.clone()).context("the OpenAI model cannot be used")
    }

    fn anthropic(&self, chosen: &AnthropicSettings) -> anyhow::Result<AnthropicModel> {
        let AnthropicSettings { model, key, base_url } = chosen;
        let options = self.options(model, Some(key), ("ANTHROPIC_BASE_URL", base_url.as_deref()))?;
        AnthropicModel::new(options, self.client.clone()).context("the Anthropic model cannot be used")
    }

    fn options(
        &self,
        model: &str,
        key: Option<&SecretText>,
        (variable, base_url): (&str, Option<&str>),
    ) -> anyhow::Result<ModelOptions> {
        Ok(ModelOptions {
            window: self.context_window.filter(|_| base_url.is_some()),
            key: key.map(|key| Secret::new(key.expose())),
            retry: self.retry.clone(),
            ..ModelOptions::new(model, base_of(variable, base_url)?)
        })
    }
}

/// The provider's name of a model, which the output shows. The choice may be an alias.
pub(crate) fn name_of(choice: &ModelChoice) -> String {
    match choice {
        ModelChoice::Gemini(GeminiSettings { model, .. })
        | ModelChoice::Vertex(VertexSettings { model, .. }) => model_id(model).to_owned(),
        ModelChoice::OpenAi(OpenAiSettings { model, .. })
        | ModelChoice::Anthropic(AnthropicSettings { model, .. }) => model.clone(),
        ModelChoice::Offline | ModelChoice::Script(_) => choice.name(),
    }
}

/// Google's tokens as a model's credential.
fn token_source(tokens: GoogleTokens) -> Arc<TokenSource> {
    let tokens = Arc::new(tokens);
    Arc::new(move |renew| {
        let tokens = Arc::clone(&tokens);
        Box::pin(async move {
            let purpose = TokenPurpose::cloud_platform();
            match renew {
                TokenRenewal::IfNeeded => tokens.token(&purpose).await,
                TokenRenewal::Now => tokens.new_token(&purpose).await,
            }
        })
    })
}

fn api_key(key: &str) -> GeminiCredential {
    GeminiCredential::ApiKey(Secret::new(key))
}

fn base_of(variable: &str, url: Option<&str>) -> anyhow::Result<Option<BaseUrl>> {
    url.map(BaseUrl::parse).transpose().map_err(|error| {
        let what = match error {
            NetError::Address { what } => what,
            other => other.to_string(),
        };
        let hint = "give it as https://HOST, or http://127.0.0.1:PORT for a server on this machine";
        with_hint(anyhow::anyhow!("{variable} is no address of a model's server: {what}"), hint)
    })
}

fn script(path: &Path) -> anyhow::Result<ScriptModel> {
    let hint = "docs/script-model.md describes script files";
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the script {}", path.display()))
        .map_err(|error| with_hint(error, hint))?;
    ScriptModel::from_yaml(&text)
        .with_context(|| format!("the script {} is not valid", path.display()))
        .map_err(|error| with_hint(error, hint))
}
