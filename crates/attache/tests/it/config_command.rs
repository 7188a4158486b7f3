//! `attache config show` by the real binary: what the kernel offers, and a reader that leaves. What else it shows is tested in
//! `attache-cli`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A home with a workspace in it.
struct World {
    launch: attache_testkit::ServerLaunch,
}

impl World {
    fn new() -> Self {
        let world = Self { launch: crate::support::launch() };
        fs::create_dir_all(world.at("work/.gemini")).unwrap();
        fs::create_dir_all(world.at(".gemini")).unwrap();
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.launch.folder().canonicalize().unwrap().join(name)
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.at(name), text).unwrap();
        self
    }

    fn show(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(["config", "show"]).args(arguments).env_clear().env("HOME", self.at(""));
        command.current_dir(self.at("work")).stdin(Stdio::null()).output().unwrap()
    }

    fn text(&self, arguments: &[&str]) -> (String, String) {
        let output = self.show(arguments);
        let base = format!("{}/", self.at("").display()).replace("//", "/");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(&base, "");
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_slice(&self.show(&arguments).stdout).unwrap()
    }
}

/// The words of the line about a key.
fn line(text: &str, key: &str) -> Vec<String> {
    let found = text.lines().find(|line| line.split_whitespace().next() == Some(key));
    found.unwrap_or_else(|| panic!("{key} in {text}")).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_closed_output_pipe_is_no_failure() {
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["card", "show", "--json"],
        &["trust", "--show"],
    ] {
        let world = World::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(arguments).env_clear().env("HOME", world.at("")).current_dir(world.at("work"));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn what_the_kernel_offers_is_shown() {
    let world = World::new().file("attache.toml", "[confinement]\nenabled = false\nprocesses = 99\n");
    let (text, _) = world.text(&[]);
    let confined = line(&text, "confined").join(" ");
    assert_eq!(confined, "confined files, protected paths and network (namespaces, Landlock, seccomp)");
    assert_eq!(world.json(&[])["confined"], confined["confined ".len()..]);
    let config = world.at("attache.toml").display().to_string();
    let (text, _) = world.text(&["--config", &config]);
    let confined = line(&text, "confined").join(" ");
    let expected =
        "confined none, so every command is asked about: confinement is switched off in the settings";
    assert_eq!(confined, expected);
}
