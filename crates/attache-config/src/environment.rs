//! Every environment variable the program reads, in one list.

/// Looks up a variable; the binary hands in the process's own environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Name and meaning of each variable, for `--help` and the documentation.
pub const VARIABLES: &[(&str, &str)] = &[
    ("CODER_AGENT_PORT", "port to listen on; counts before PORT"),
    ("PORT", "port to listen on"),
    ("ATTACHE_HOST", "address to listen on"),
    ("ATTACHE_CONFIG", "configuration file"),
    ("ATTACHE_STORE", "where tasks are kept: memory: or sqlite:PATH"),
    ("ATTACHE_MODEL", "which model answers: offline, script:FILE or a Gemini model"),
    ("ATTACHE_APPROVAL_MODE", "what the agent may do unasked: default, auto_edit, yolo or plan"),
    ("GEMINI_API_KEY", "key for Gemini; with one, Gemini answers unless a model is named"),
    ("GOOGLE_API_KEY", "the same; counts before GEMINI_API_KEY"),
    ("GEMINI_MODEL", "the Gemini model that answers when none is named"),
    ("GOOGLE_GEMINI_BASE_URL", "where Gemini is, when not at Google's"),
    ("ATTACHE_WORKSPACE", "folder the agent works in"),
    ("ATTACHE_TOKEN", "bearer token that callers must present"),
    ("ATTACHE_TOKEN_FILE", "file that holds the bearer token"),
    ("ATTACHE_LOG", "what is logged, e.g. info or attache_server=debug"),
    ("ATTACHE_LOG_FORMAT", "text or json"),
    ("XDG_DATA_HOME", "where the default store is kept, in the folder attache"),
    ("HOME", "home folder; the default store is in .local/share/attache below it"),
];

/// What programs that the agent starts see of the environment.
pub(crate) const CHILDREN_SEE: &[&str] = &[
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
