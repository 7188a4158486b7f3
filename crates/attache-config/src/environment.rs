//! Every environment variable the program reads, in one list.

/// Looks up a variable; the binary hands in the process's own environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// An empty variable counts as not set.
pub fn variable(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).filter(|value| !value.is_empty())
}

/// Name and meaning of each variable, for `--help` and the documentation.
pub const VARIABLES: &[(&str, &str)] = &[
    ("CODER_AGENT_PORT", "port to listen on; counts before PORT"),
    ("PORT", "port to listen on"),
    ("ATTACHE_HOST", "address to listen on"),
    ("ATTACHE_CONFIG", "configuration file"),
    ("ATTACHE_STORE", "where tasks are kept: memory: or sqlite:PATH"),
    (
        "ATTACHE_MODEL",
        "which model answers: offline, script:FILE, openai:NAME, anthropic:NAME or a Gemini model",
    ),
    ("ATTACHE_APPROVAL_MODE", "what the agent may do unasked: default, auto_edit, confined, yolo or plan"),
    (
        "ATTACHE_DEFAULT_DIALECT",
        "the dialect for A2A 0.3 clients that name no extension: plain, gemini or developer",
    ),
    (
        "ATTACHE_CONTEXT_WINDOW",
        "how many tokens a model of your own takes (OPENAI_BASE_URL and the like), e.g. 32768",
    ),
    ("GEMINI_API_KEY", "key for Gemini; with one, Gemini answers unless a model is named"),
    ("GOOGLE_API_KEY", "the same; counts before GEMINI_API_KEY"),
    ("GEMINI_MODEL", "the Gemini model that answers when none is named"),
    ("GOOGLE_GEMINI_BASE_URL", "where Gemini is, when not at Google's"),
    ("GOOGLE_GENAI_USE_VERTEXAI", "true: Gemini by way of Vertex AI"),
    ("GOOGLE_CLOUD_PROJECT", "the project of Vertex AI"),
    ("GOOGLE_CLOUD_LOCATION", "the location of Vertex AI"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "file of Google's credentials, for Vertex AI and agents at Google"),
    ("CLOUDSDK_CONFIG", "folder of gcloud, whose default credentials count when no file is named"),
    ("GCE_METADATA_HOST", "where the metadata server of a machine at Google is"),
    ("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1: Google's credentials may name a program to run"),
    ("OAUTH_CALLBACK_PORT", "the port that a browser comes back to after a sign-in; a free one by default"),
    ("BROWSER", "what opens a page to sign in; xdg-open by default"),
    ("GOOGLE_VERTEX_BASE_URL", "where Vertex AI is, when not at Google's"),
    ("OPENAI_API_KEY", "key for models called openai:NAME; with one and none for Gemini, gpt-5 answers"),
    ("OPENAI_BASE_URL", "where those are, when not at OpenAI's; then the key may be left out"),
    ("ANTHROPIC_API_KEY", "key for models called anthropic:NAME; the last to be tried by itself"),
    ("ANTHROPIC_BASE_URL", "where those are, when not at Anthropic's"),
    ("ATTACHE_WORKSPACE", "folder the agent works in"),
    ("CODER_AGENT_WORKSPACE_PATH", "the same; ATTACHE_WORKSPACE counts before it"),
    ("CODER_AGENT_ALLOWED_ROOT", "folders below which clients may choose a workspace, with colons between"),
    ("GEMINI_YOLO_MODE", "true: the approval mode is yolo"),
    ("GEMINI_FOLDER_TRUST", "true: folders must be listed as trusted"),
    (
        "GEMINI_CLI_TRUST_WORKSPACE",
        "true or false: whether the workspace is trusted, whatever is listed; see `attache trust`",
    ),
    ("GEMINI_CLI_HOME", "folder that holds .gemini, when not the home folder"),
    ("CUSTOM_IGNORE_FILE_PATHS", "further files of ignore rules, with colons between"),
    ("ATTACHE_TOKEN", "bearer token that callers must present"),
    ("ATTACHE_TOKEN_FILE", "file that holds the bearer token"),
    ("ATTACHE_A2A_TOKEN_FILE", "file that gives rights to the tokens of clients"),
    ("ATTACHE_PUSH_SIGNING_KEY", "key that push notifications are signed with"),
    ("ATTACHE_SERVER", "where `attache tasks` finds the server"),
    ("ATTACHE_LOG", "what is logged, e.g. info or attache_server=debug"),
    ("ATTACHE_LOG_FORMAT", "text or json"),
    ("ATTACHE_ANSWERS", "where answers stand: artifact or message"),
    ("XDG_DATA_HOME", "where the default store is kept, in the folder attache"),
    ("HOME", "home folder: .gemini is there, and .local/share/attache with the default store"),
];

/// The variables that programs of the agent get. They are known to hold no secret.
pub const CHILDREN_SEE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
];
