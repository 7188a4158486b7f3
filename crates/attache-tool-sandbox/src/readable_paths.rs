//! Finds the files outside the workspace that a command may read: system programs, the user's toolchains, and the
//! configuration files they need, without known secrets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the system.
const SYSTEM_FOLDERS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"];

/// System configuration that programs need. Each file takes time for every command.
const CONFIG_FILES: &[&str] = &[
    "alternatives",
    "debian_version",
    "gitattributes",
    "gitconfig",
    "group",
    "hostname",
    "hosts",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld.so.cache",
    "localtime",
    "locale.alias",
    "locale.conf",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "protocols",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Toolchains below the user's home.
const TOOLCHAIN_FOLDERS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".deno/bin",
    ".fnm",
    ".goenv",
    ".jenv",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".nodenv",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".terminfo",
    ".tool-versions",
    ".volta",
    "go/bin",
    "go/pkg",
    "sdk",
];

/// Configuration of tools that may contain a secret. Readable only if it does not seem to.
const TOOL_FILES: &[&str] = &[
    ".cargo/config",
    ".cargo/config.toml",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".gitconfig",
];

/// Variables that name the folder of a toolchain.
const TOOLCHAIN_VARIABLES: &[&str] = &[
    "CONDA_PREFIX",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Words that indicate a secret in a configuration file.
const SECRET_WORDS: &[&str] =
    &["token", "password", "passwd", "secret", "extraheader", "authorization", "_auth", "cookie"];

/// Readable paths, and symbolic links to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadablePaths {
    pub(crate) reads: Vec<PathBuf>,
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
}

impl ReadablePaths {
    /// The paths that are mounted the same way for every command: those outside the home and `/tmp`, which are folders
    /// of the conversation.
    pub(crate) fn shared(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let private = |path: &Path| {
            path.starts_with("/tmp")
                || home.is_some_and(|home| path.starts_with(home) || home.starts_with(path))
        };
        self.reads.iter().filter(|path| !private(path)).cloned().collect()
    }
}

/// Collects the readable paths. `more` are those of the operator.
pub(crate) fn readable_paths(
    environment: &[(String, String)],
    home: Option<&Path>,
    more: &[PathBuf],
) -> ReadablePaths {
    let mut collected = PathCollector::default();
    for path in SYSTEM_FOLDERS.iter().map(Path::new) {
        collected.add(path);
    }
    for name in CONFIG_FILES {
        collected.add(&Path::new("/etc").join(name));
    }
    if let Some(home) = home {
        for name in TOOLCHAIN_FOLDERS {
            collected.add(&home.join(name));
        }
        for file in TOOL_FILES.iter().map(|name| home.join(name)).filter(|file| !holds_secret(file)) {
            collected.add(&file);
        }
    }
    let value =
        |name: &str| environment.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let cargo = value("CARGO_HOME").map(Path::new).into_iter();
    let cargo = cargo.flat_map(|cargo| ["bin", "git", "registry"].map(|name| cargo.join(name)));
    let go =
        value("GOPATH").map(Path::new).into_iter().flat_map(|go| ["bin", "pkg"].map(|name| go.join(name)));
    let named = TOOLCHAIN_VARIABLES.iter().filter_map(|name| value(name)).map(PathBuf::from);
    let programs = value("PATH").unwrap_or_default().split(':').map(PathBuf::from);
    // Version managers keep their files beside their `shims`.
    let managers = programs.clone().filter(|path| path.ends_with("shims"));
    let managers = managers.filter_map(|path| path.parent().map(Path::to_owned));
    for path in cargo.chain(go).chain(named).chain(managers).chain(programs) {
        let shows_home = home.is_some_and(|home| home.starts_with(&path));
        if path.is_absolute() && path.components().count() > 1 && !shows_home {
            collected.add(&path);
        }
    }
    more.iter().for_each(|path| collected.add(path));
    collected.finish()
}

/// Whether a configuration file contains a secret or cannot be read.
fn holds_secret(path: &Path) -> bool {
    const MAX_BYTES: u64 = 256 * 1024;
    let Ok(metadata) = fs::metadata(path) else { return true };
    if metadata.len() > MAX_BYTES {
        return true;
    }
    let Ok(text) = fs::read_to_string(path) else { return true };
    let text = text.to_ascii_lowercase();
    // A URL with a user name or password.
    let credentials = text.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '"', '\'', '\n', ' ']).next().unwrap_or_default();
        host.contains('@')
    });
    credentials || SECRET_WORDS.iter().any(|word| text.contains(word))
}

#[derive(Default)]
struct PathCollector {
    reads: BTreeSet<PathBuf>,
    links: BTreeSet<(PathBuf, PathBuf)>,
}

impl PathCollector {
    /// Adds the real path, and the link if the path is one. Skips what does not exist.
    fn add(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        // Skips sockets and devices.
        if !(real.is_dir() || real.is_file()) {
            return;
        }
        if real != path {
            self.links.insert((path.to_owned(), real.clone()));
        }
        self.reads.insert(real);
    }

    /// Drops paths that lie below another one.
    fn finish(self) -> ReadablePaths {
        let mut reads: Vec<PathBuf> = Vec::new();
        for path in self.reads {
            if !reads.iter().any(|known| path.starts_with(known)) {
                reads.push(path);
            }
        }
        let covered = |place: &Path| reads.iter().any(|known| place.starts_with(known));
        let links = self.links.into_iter().filter(|(place, _)| !covered(place)).collect();
        ReadablePaths { reads, links }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_shows_toolchains_and_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for file in [".ssh/id_rsa", ".cargo/bin/cargo", ".cargo/credentials.toml", ".netrc", ".gitconfig"] {
            fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            fs::write(home.join(file), "[user]\nname = x\n").unwrap();
        }
        fs::write(home.join(".cargo/config.toml"), "[registry]\ntoken = 'x'\n").unwrap();
        let environment = [("PATH".to_owned(), format!("{}:/usr/bin:relative", home.display()))];
        let found = readable_paths(&environment, Some(&home), &[]);
        let below: Vec<_> = found.reads.iter().filter_map(|path| path.strip_prefix(&home).ok()).collect();
        assert_eq!(below, [Path::new(".cargo/bin"), Path::new(".gitconfig")]);
        assert!(found.reads.iter().any(|path| path == Path::new("/usr")));
    }

    #[test]
    fn an_address_with_a_password_is_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        for (text, expected) in [
            ("[url \"https://me:x@host.example/\"]", true),
            ("[url \"https://host.example/a@b\"]", false),
            ("[http]\nextraHeader = x", true),
            ("[user]\nemail = me@host.example", false),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(holds_secret(&file), expected, "{text}");
        }
    }
}
