//! Which agent files count, and which agents can be used.

use super::super::definition::LocalAgent;
use super::super::switch::{AgentSwitch, SwitchContext, SwitchError};
use super::*;
use crate::SettingsScope;

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

    fn extension(self, extension: &str, name: &str, text: &str) -> Self {
        let folder = self.home.path().join(".gemini/extensions").join(extension);
        fs::create_dir_all(folder.join("agents")).unwrap();
        let manifest = format!("{{\"name\": \"{extension}\", \"version\": \"1.0.0\"}}");
        fs::write(folder.join("gemini-extension.json"), manifest).unwrap();
        fs::write(folder.join("agents").join(name), text).unwrap();
        self
    }

    fn homes(&self) -> HomeFolders {
        HomeFolders::new(Some(self.home.path().to_owned()), &|_| None)
    }

    fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    fn load(&self, project_trust: &ProjectTrust) -> (LoadedAgents, ProjectReport) {
        let (homes, overrides, root) = (self.homes(), self.overrides(), self.root());
        load(AgentSources { project_trust, homes: &homes, overrides: &overrides, root: &root })
    }

    fn load_all(&self) -> LoadedAgents {
        self.load(&ProjectTrust::for_tests(true, true)).0
    }

    /// As the settings files of the user and of the project say it.
    fn overrides(&self) -> AgentOverrides {
        let home = self.home.path().to_owned();
        let environment = move |name: &str| (name == "HOME").then(|| home.display().to_string());
        let operator =
            crate::load_operator(attache_config::Flags::default(), &environment, &self.root()).unwrap();
        let sources = crate::SettingsSources {
            workspace: &self.root(),
            home: Some(self.home.path()),
            flags: &crate::AgentFlags::default(),
            environment: &environment,
            operator: &operator,
            project_trust: &ProjectTrust::for_tests(true, true),
        };
        crate::WorkspaceSettings::load(&sources).unwrap().agent_overrides
    }

    fn switch(&self, name: &str, enabled: bool, scope: Option<SettingsScope>) -> Result<String, SwitchError> {
        let (homes, root, overrides) = (self.homes(), self.root(), self.overrides());
        let loaded = self.load_all();
        let context =
            SwitchContext { homes: &homes, root: &root, overrides: &overrides, agents: Some(&loaded) };
        AgentSwitch::plan(context, name, enabled, scope)?.apply().map(|done| done.message())
    }

    fn settings(&self, scope: SettingsScope) -> PathBuf {
        let root = self.root();
        let base = if scope == SettingsScope::User { self.home.path() } else { root.as_path() };
        base.join(".gemini/settings.json")
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
    assert_eq!(loaded.error_about("b"), Some(&loaded.errors[0]), "it may be what the file is named after");
    assert_eq!(loaded.error_about("helper"), None);
    let world = World::new().user("x.md", "---\n- name: 'one'\n  kind: remote\n- name: two\n---\n");
    let loaded = world.load_all();
    assert!(["one", "two"].iter().all(|name| loaded.error_about(name).is_some()), "{:?}", loaded.errors);
}

#[test]
fn more_files_than_are_read_is_an_error_and_the_first_ones_count() {
    let world = (0..257).fold(World::new(), |world, number| {
        world.user(&format!("{number:03}.md"), &REMOTE.replace("helper", &format!("agent-{number}")))
    });
    let loaded = world.load_all();
    assert_eq!(loaded.agents.len(), 256);
    let shown: Vec<String> = loaded.errors.iter().map(ToString::to_string).collect();
    assert!(
        shown.len() == 1
            && shown[0].ends_with("it has 257 agent files and 256 are read, those before 256.md"),
        "{shown:?}"
    );
}

#[test]
fn a_field_of_gemini_cli_that_has_no_effect_is_told() {
    let auth = |uri: &str| format!("card\nauth:\n  type: oauth2\n  client_id: c\n  redirect_uri: {uri}\n");
    let warnings =
        |uri: &str| World::new().user("a.md", &REMOTE.replace("card\n", &auth(uri))).load_all().warnings;
    assert_eq!(warnings("http://localhost:8912/oauth/callback"), Vec::<String>::new());
    let told = warnings("https://app.example/callback");
    assert!(told[0].contains("auth.redirect_uri is not used"), "{told:?}");
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
    let inline = r#"---
name: helper
agent_card_json: '{"supportedInterfaces": [{"url": "https://a.example/rpc"}, {"url": "https://b.example:8443"}]}'
allowed_origins: [https://a.example]
---
"#;
    let (_, report) = World::new().project("a.md", inline).load(&ProjectTrust::for_tests(true, false));
    let words = &report.allowances[0].0.words;
    let told = "the agent at https://a.example/rpc, https://b.example:8443: tasks can be given to it, also at https://a.example";
    assert!(words.contains(told), "{words}");
}

#[test]
fn a_person_sees_every_variable_and_every_address_that_a_credential_comes_from() {
    let words = |auth: &str| {
        let text = REMOTE.replace("card\n", &format!("card\nauth:\n{auth}"));
        let (_, report) = World::new().project("a.md", &text).load(&ProjectTrust::for_tests(true, false));
        report.allowances[0].0.words.clone()
    };
    let told = words("  type: apiKey\n  key: $GEMINI_API_KEY\n");
    assert!(told.ends_with("your credentials (apiKey): key is your variable $GEMINI_API_KEY"), "{told}");
    let told = words("  type: http\n  scheme: Basic\n  username: $A\n  password: '!pass show x'\n");
    assert!(told.ends_with("username is your variable $A, password is what `pass show x` prints"), "{told}");
    let oauth = "  type: oauth2\n  client_id: $AWS_ID\n  client_secret: $AWS_SECRET_ACCESS_KEY\n";
    let told = words(oauth);
    assert!(
        told.ends_with(
            "(oauth2): client_id is your variable $AWS_ID, client_secret is your variable $AWS_SECRET_ACCESS_KEY, you sign \
             in where its card says"
        ),
        "{told}"
    );
    let names = ["authorization_url", "device_authorization_url", "token_url", "issuer"];
    let urls: Vec<String> =
        names.iter().map(|name| format!("  {name}: https://evil.example/{name}\n")).collect();
    let told = words(&format!("{oauth}{}", urls.concat()));
    for name in names {
        assert!(told.contains(&format!("{name} is https://evil.example/{name}")), "{told}");
    }
    let told = words("  type: apiKey\n  key: their-own\n");
    assert!(told.ends_with("your credentials (apiKey)") && !told.contains("their-own"), "{told}");
}

#[test]
fn files_that_are_no_agents_stop_nothing() {
    let world = World::new()
        .user("a.md", REMOTE)
        .user(
            "twice.md",
            "---\nkind: remote\nname: one\nname: two\nagent_card_url: https://a.example/\n---\n",
        )
        .user("deep.md", &format!("---\nname: {}\n---\n", "[".repeat(20_000)))
        .user("huge.md", &format!("---\n{}\n---\n", "x".repeat(1 << 20)));
    let bomb = "---\na: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
        c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
        e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nname: [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n---\n";
    let world = world.user("bomb.md", bomb);
    let folder = world.home.path().join(".gemini/agents");
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.md")).status().unwrap();
    assert!(made.success());
    let loaded = world.load_all();
    assert_eq!(names(&loaded), [("helper", "user")]);
    let mut wrong: Vec<_> = loaded
        .errors
        .iter()
        .filter_map(|error| error.path.file_stem()?.to_str().map(str::to_owned))
        .collect();
    wrong.sort();
    assert_eq!(wrong, ["bomb", "deep", "huge", "twice"], "{:?}", loaded.errors);
}

#[test]
fn a_home_that_is_reached_over_a_link_is_no_project() {
    let world = World::new().user("a.md", REMOTE);
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("home");
    std::os::unix::fs::symlink(world.home.path(), &link).unwrap();
    let homes = HomeFolders::new(Some(link), &|_| None);
    let (trust, overrides) = (ProjectTrust::for_tests(true, false), AgentOverrides::default());
    let root = &world.home.path().canonicalize().unwrap();
    let sources = AgentSources { project_trust: &trust, homes: &homes, overrides: &overrides, root };
    let (loaded, report) = load(sources);
    assert_eq!((names(&loaded), loaded.unaccepted.len()), (vec![("helper", "user")], 0));
    assert_eq!(report, ProjectReport::default());
}

#[test]
fn agents_are_read_from_the_folder_that_gemini_cli_home_names() {
    let world = World::new().user("a.md", REMOTE);
    let home = world.home.path().display().to_string();
    let environment = move |name: &str| (name == "GEMINI_CLI_HOME").then(|| home.clone());
    let homes = HomeFolders::new(Some("/nowhere".into()), &environment);
    assert_eq!(count_files(&ProjectTrust::for_tests(true, true), &homes, &world.root()), 1);
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

#[test]
fn ends_of_lines_a_byte_order_mark_and_an_empty_body_do_not_matter() {
    let local = "---\nname: local\ndescription: d\n---\n";
    let world = World::new()
        .user("crlf.md", &REMOTE.replace("helper", "crlf").replace('\n', "\r\n"))
        .user("empty.md", local)
        .user("mark.md", &format!("\u{FEFF}{}", REMOTE.replace("helper", "mark")));
    let loaded = world.load_all();
    assert_eq!(loaded.errors, []);
    assert_eq!(names(&loaded), [("crlf", "user"), ("local", "user"), ("mark", "user")]);
    let AgentKind::Remote(remote) = &loaded.agents[0].kind else { panic!() };
    assert_eq!(remote.card, CardDefinition::Url("https://example.com/card".into()));
    let AgentKind::Local(LocalAgent { instructions, .. }) = &loaded.agents[1].kind else { panic!() };
    assert_eq!(instructions, "");
}

#[test]
fn the_first_of_a_name_counts_and_the_others_are_named() {
    let world = World::new()
        .project("a.md", REMOTE)
        .user("b.md", REMOTE)
        .extension("tools", "c.md", REMOTE)
        .extension("tools", "d.md", &REMOTE.replace("helper", "of-extension"))
        .user("e.md", &REMOTE.replace("helper", "cli_help"));
    let loaded = world.load_all();
    assert_eq!(names(&loaded), [("helper", "project"), ("of-extension", "extension")]);
    let expected =
        ["b.md:2 defines helper again", "e.md:2 defines cli_help and is", "c.md:2 defines helper again"];
    assert_eq!(loaded.warnings.len(), expected.len(), "{:?}", loaded.warnings);
    for (warning, expected) in loaded.warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{warning}");
    }
}

#[test]
fn an_agent_of_an_extension_needs_no_acceptance_and_cannot_lead_out_of_it() {
    let world = World::new().extension("tools", "a.md", REMOTE);
    let secret = world.home.path().join("secret.md");
    fs::write(&secret, REMOTE.replace("helper", "outside")).unwrap();
    let link = world.home.path().join(".gemini/extensions/tools/agents/b.md");
    std::os::unix::fs::symlink(&secret, link).unwrap();
    let (loaded, report) = world.load(&ProjectTrust::for_tests(false, false));
    assert_eq!(names(&loaded), [("helper", "extension")]);
    assert_eq!((loaded.errors.len(), report), (1, ProjectReport::default()));
}

#[test]
fn an_unaccepted_agent_is_known_and_cannot_be_used_or_switched_on() {
    let world = World::new().project("a.md", REMOTE);
    let (loaded, _) = world.load(&ProjectTrust::for_tests(true, false));
    assert_eq!((names(&loaded), loaded.unaccepted.len()), (vec![], 1));
    let (homes, root, overrides) = (world.homes(), world.root(), AgentOverrides::default());
    let context = SwitchContext { homes: &homes, root: &root, overrides: &overrides, agents: Some(&loaded) };
    let error = AgentSwitch::plan(context, "helper", true, None).unwrap_err();
    assert!(matches!(error, SwitchError::Unaccepted { .. }), "{error}");
    assert!(!world.settings(SettingsScope::Project).exists());
}

#[test]
fn a_switched_off_agent_cannot_be_used_until_it_is_switched_on() {
    let world = World::new().user("a.md", REMOTE).user("b.md", &REMOTE.replace("helper", "other"));
    let said = world.switch("helper", false, None).unwrap();
    assert!(
        said.starts_with("Agent \"helper\" is disabled now, in ") && said.contains("settings.json"),
        "{said}"
    );
    assert!(world.settings(SettingsScope::Project).exists() && !world.settings(SettingsScope::User).exists());
    let loaded = world.load_all();
    assert_eq!(names(&loaded), [("other", "user")]);
    assert_eq!(loaded.disabled[0].agent.name, "helper");
    assert!(loaded.find("helper").is_none() && loaded.find_any("helper").is_some());
    let again = world.switch("helper", false, None).unwrap_err().to_string();
    assert_eq!(again, "Agent \"helper\" is already disabled.");
    world.switch("helper", true, None).unwrap();
    assert_eq!(names(&world.load_all()).len(), 2);
    let again = world.switch("helper", true, None).unwrap_err().to_string();
    assert_eq!(again, "Agent \"helper\" is already enabled.");
    assert_eq!(world.switch("none", true, None).unwrap_err().to_string(), "Agent \"none\" not found.");
}

#[test]
fn switching_on_changes_every_file_that_switches_off_and_keeps_comments() {
    let world = World::new().user("a.md", REMOTE);
    world.switch("helper", false, Some(SettingsScope::User)).unwrap();
    let text = "{\n  // ours\n  \"agents\": {\"overrides\": {\"helper\": {\"enabled\": false}}}\n}\n";
    fs::create_dir_all(world.root.path().join(".gemini")).unwrap();
    fs::write(world.settings(SettingsScope::Project), text).unwrap();
    assert_eq!(names(&world.load_all()), []);
    // The user's file alone would change nothing, because the project's counts before it.
    let refused = world.switch("helper", true, Some(SettingsScope::User)).unwrap_err().to_string();
    assert!(refused.contains("is disabled in") && refused.contains("settings.json:3"), "{refused}");
    let said = world.switch("helper", true, None).unwrap();
    assert!(said.contains(" and "), "{said}");
    assert_eq!(
        fs::read_to_string(world.settings(SettingsScope::Project)).unwrap(),
        text.replace("false", "true")
    );
    assert_eq!(names(&world.load_all()), [("helper", "user")]);
}

#[test]
fn the_built_in_agent_can_be_switched_off() {
    let world = World::new();
    world.switch("cli_help", false, None).unwrap();
    assert!(!world.overrides().is_enabled("cli_help"));
    world.switch("cli_help", true, None).unwrap();
    assert!(world.overrides().is_enabled("cli_help"));
}

#[test]
fn members_without_effect_are_reported() {
    let world = World::new().user("a.md", REMOTE);
    let text =
        r#"{"agents": {"overrides": {"helper": {"runConfig": {"maxTurns": 3}}, "none": {"tools": []}}}}"#;
    fs::write(world.settings(SettingsScope::User), text).unwrap();
    let warnings = world.load_all().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("agents.overrides.helper.runConfig has no effect: a remote agent"),
        "{warnings:?}"
    );
}
