//! Finds the agent files of a project and of its user, and says which agents count.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use attache_config::Origin;
use sha2::{Digest, Sha256};

use super::definition::{AgentDefinition, AgentKind, AgentScope, CardSource};
use super::parse::{ParseFailure, parse};
use crate::read_file::read_text;
use crate::{Allowance, HomeFolders, ProjectReport, ProjectTrust, file_stamps};

/// Of a folder. More are not read.
const MAX_FILES: usize = 256;
const MAX_FILE_BYTES: u64 = 256 << 10;

/// The agents that count, and what is wrong with the files of others.
#[derive(Debug, Default)]
pub struct LoadedAgents {
    /// Those of the project first; every name once.
    pub agents: Vec<AgentDefinition>,
    pub errors: Vec<AgentFileError>,
    /// What is passed over, in sentences for people.
    pub warnings: Vec<String>,
}

/// A file that defines no agents, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFileError {
    pub path: PathBuf,
    pub line: u32,
    pub message: String,
}

impl fmt::Display for AgentFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = crate::visible(&self.path.display().to_string());
        write!(formatter, "Failed to load agent from {path}: {}", self.message)
    }
}

/// The agents that count in `root`, which is absolute and without links, and a report about those of the project. A project's
/// agent counts in a trusted folder once a person has accepted it.
pub(crate) fn load(
    project_trust: &ProjectTrust,
    homes: &HomeFolders,
    root: &Path,
) -> (LoadedAgents, ProjectReport) {
    let (mut loaded, mut report) = (LoadedAgents::default(), ProjectReport::default());
    let own = root.join(".gemini").join("agents");
    let user = homes.gemini().map(|gemini| gemini.join("agents"));
    if user.as_ref() != Some(&own) {
        for file in read_folder(&own, Some(root), AgentScope::Project) {
            match file {
                Ok((agents, digest)) => {
                    for agent in agents {
                        let allowance = allowance(&agent, &digest);
                        let counts = project_trust.admits(&allowance);
                        report.allowances.push((allowance, counts));
                        if counts {
                            loaded.add(agent);
                        }
                    }
                }
                // The files of a folder that is not trusted do not count, so their mistakes are not reported.
                Err(error) if project_trust.is_trusted() => loaded.errors.push(error),
                Err(_) => {}
            }
        }
    }
    for file in user.iter().flat_map(|folder| read_folder(folder, None, AgentScope::User)) {
        match file {
            Ok((agents, _)) => agents.into_iter().for_each(|agent| loaded.add(agent)),
            Err(error) => loaded.errors.push(error),
        }
    }
    (loaded, report)
}

impl LoadedAgents {
    /// The first of a name counts.
    fn add(&mut self, agent: AgentDefinition) {
        match self.agents.iter().find(|known| known.name == agent.name) {
            Some(known) => {
                let (shown, first) = (place(&agent), place(known));
                self.warnings
                    .push(format!("{shown} defines {} again and is passed over; {first} counts", agent.name));
            }
            None => self.agents.push(agent),
        }
    }

    pub fn find(&self, name: &str) -> Option<&AgentDefinition> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}

fn place(agent: &AgentDefinition) -> String {
    crate::visible(&format!("{}:{}", agent.path.display(), agent.line))
}

type ReadFile = Result<(Vec<AgentDefinition>, String), AgentFileError>;

/// Each file's agents and the hash of its text, in the order of their names.
fn read_folder(folder: &Path, beneath: Option<&Path>, scope: AgentScope) -> Vec<ReadFile> {
    file_stamps::content(folder);
    let failed = |error: io::Error| AgentFileError {
        path: folder.to_owned(),
        line: 0,
        message: format!("the folder cannot be read: {error}"),
    };
    let paths = match list(folder) {
        Ok(paths) => paths,
        Err(error) => return vec![Err(failed(error))],
    };
    paths.into_iter().map(|path| read(path, beneath, scope)).collect()
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| is_agent_file(&entry.ok()?.path())).collect();
    paths.sort();
    paths.truncate(MAX_FILES);
    Ok(paths)
}

fn is_agent_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let is_one = name.ends_with(".md") && !name.starts_with(['_', '.']) && path.is_file();
    is_one.then(|| path.to_owned())
}

fn read(path: PathBuf, beneath: Option<&Path>, scope: AgentScope) -> ReadFile {
    let failed = |line, message| AgentFileError { path: path.clone(), line, message };
    let text = match read_text(&path, MAX_FILE_BYTES, beneath) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return Err(failed(0, error.to_string())),
    };
    let agents = parse(&text, &path, scope).map_err(|failure| match failure {
        ParseFailure::Unreadable(line, message) => failed(line, format!("{message} (line {line})")),
        ParseFailure::Invalid(what, problems) => {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| format!("\n  {} (line {})", problem.text, problem.line))
                .collect();
            let line = problems.first().map_or(0, |problem| problem.line);
            failed(line, format!("Validation failed: {what}:{}", lines.concat()))
        }
    })?;
    let digest = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((agents, digest))
}

/// Identified by the whole file and the address, so a change of either has to be accepted again.
fn allowance(agent: &AgentDefinition, digest: &str) -> Allowance {
    let AgentKind::Remote(remote) = &agent.kind else {
        let words = format!("the agent {} works with instructions of the project", agent.name);
        return described(agent, &words, digest);
    };
    let target = match &remote.card {
        CardSource::Url(url) => format!("the agent whose card is at {url}"),
        CardSource::Inline(card) => {
            let url = card.get("url").and_then(|url| url.as_str()).unwrap_or("an address in its card");
            format!("the agent at {url}")
        }
    };
    let mut words = format!("{} is {target}: tasks can be given to it", agent.name);
    if let Some(auth) = &remote.auth {
        words.push_str(&format!(", and it is sent your credentials ({})", auth.name()));
        for command in auth.commands() {
            words.push_str(&format!(", which `{command}` prints"));
        }
    }
    described(agent, &words, digest)
}

fn described(agent: &AgentDefinition, words: &str, digest: &str) -> Allowance {
    let origin = Origin::File { path: agent.path.as_path().into(), line: agent.line };
    Allowance::agent(origin, words, &format!("{}\0{words}\0{digest}", agent.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMOTE: &str = "---\nkind: remote\nname: helper\nagent_card_url: https://example.com/card\n---\n";

    struct World {
        home: tempfile::TempDir,
        root: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap(), root: tempfile::tempdir().unwrap() }
        }

        fn user(self, name: &str, text: &str) -> Self {
            Self::write(self.home.path(), name, text);
            self
        }

        fn project(self, name: &str, text: &str) -> Self {
            Self::write(self.root.path(), name, text);
            self
        }

        fn write(folder: &Path, name: &str, text: &str) {
            let folder = folder.join(".gemini/agents");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), text).unwrap();
        }

        fn load(&self, project_trust: &ProjectTrust) -> (LoadedAgents, ProjectReport) {
            let homes = HomeFolders::new(Some(self.home.path().to_owned()), &|_| None);
            load(project_trust, &homes, &self.root.path().canonicalize().unwrap())
        }
    }

    fn names(loaded: &LoadedAgents) -> Vec<(&str, &str)> {
        loaded.agents.iter().map(|agent| (agent.name.as_str(), agent.scope.name())).collect()
    }

    #[test]
    fn one_bad_file_stops_no_other() {
        let world = World::new()
            .user("a.md", REMOTE)
            .user("b.md", "no front matter")
            .user("_draft.md", "nothing")
            .user("notes.txt", "nothing")
            .user("c.md", &REMOTE.replace("helper", "other"));
        fs::create_dir(world.home.path().join(".gemini/agents/folder.md")).unwrap();
        let (loaded, report) = world.load(&ProjectTrust::for_tests(true, true));
        assert_eq!(names(&loaded), [("helper", "user"), ("other", "user")]);
        assert_eq!(loaded.errors.len(), 1, "{:?}", loaded.errors);
        let shown = loaded.errors[0].to_string();
        assert!(
            shown.starts_with("Failed to load agent from ") && shown.contains("b.md: it must begin"),
            "{shown}"
        );
        assert_eq!(report, ProjectReport::default());
    }

    #[test]
    fn an_agent_of_a_project_counts_when_it_is_accepted_and_hides_none_before() {
        let world = World::new().user("a.md", REMOTE).project("a.md", REMOTE);
        for (trusted, accepted, expected) in
            [(true, true, "project"), (true, false, "user"), (false, true, "user"), (false, false, "user")]
        {
            let (loaded, report) = world.load(&ProjectTrust::for_tests(trusted, accepted));
            assert_eq!(names(&loaded), [("helper", expected)], "{trusted} {accepted}");
            assert_eq!(report.allowances.len(), 1);
            assert_eq!(report.allowances[0].1, expected == "project");
            assert_eq!(loaded.warnings.len(), usize::from(expected == "project"), "{:?}", loaded.warnings);
        }
    }

    #[test]
    fn what_is_accepted_is_the_whole_file() {
        let digest = |text: &str| {
            let (_, report) = World::new().project("a.md", text).load(&ProjectTrust::for_tests(true, false));
            report.allowances[0].0.digest.clone()
        };
        let first = digest(REMOTE);
        assert_eq!(first, digest(REMOTE));
        let with_auth = REMOTE.replace("card\n", "card\nauth:\n  type: apiKey\n  key: '!print-key'\n");
        for other in [REMOTE.replace("example.com", "example.org"), format!("{REMOTE}More."), with_auth] {
            assert_ne!(first, digest(&other), "{other}");
        }
    }

    #[test]
    fn a_person_sees_where_an_agent_is_and_what_is_run_for_it() {
        let text = REMOTE.replace("card\n", "card\nauth:\n  type: apiKey\n  key: '!print-key --now'\n");
        let (_, report) = World::new().project("a.md", &text).load(&ProjectTrust::for_tests(true, false));
        let words = &report.allowances[0].0.words;
        assert!(words.contains("https://example.com/card") && words.contains("`print-key --now`"), "{words}");
    }

    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let world = World::new().project("a.md", REMOTE);
        let outside = world.home.path().join("secret.md");
        fs::write(&outside, REMOTE.replace("helper", "outside")).unwrap();
        std::os::unix::fs::symlink(&outside, world.root.path().join(".gemini/agents/b.md")).unwrap();
        let (loaded, _) = world.load(&ProjectTrust::for_tests(true, true));
        assert_eq!(names(&loaded), [("helper", "project")]);
        assert_eq!(loaded.errors.len(), 1, "{:?}", loaded.errors);
    }
}
