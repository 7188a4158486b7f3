//! `attache trust`: what it shows, accepts and takes back.

use std::fs;

use serde_json::{Value, json};

use super::world::{Ended, World};

const ALLOWED: &str = "{\n\"tools\": {\"allowed\": [\"run_shell_command(touch)\"]}}";

/// A workspace whose settings let `touch` run unasked.
fn allowing() -> World {
    World::new().file("work/.gemini/settings.json", ALLOWED)
}

impl World {
    fn trusted_folders(&self) -> Value {
        let text = fs::read_to_string(self.home().join(".gemini/trustedFolders.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

#[test]
fn the_command_shows_accepts_and_revokes() {
    let world = allowing();
    let Ended { code, out, .. } = world.run(&["trust", "--show"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("is not trusted") && out.contains("ignored   setting: these tools run unasked"),
        "{out}"
    );
    let Ended { code, out, err } = world.run(&["trust"]);
    assert_eq!(code, 1);
    assert!(out.contains("these tools run unasked") && err.contains("hint: say --yes"), "{out}{err}");
    assert_eq!(world.trusted_folders(), Value::Null);
    let Ended { code, .. } = world.run(&["trust", "--yes"]);
    assert_eq!(code, 0);
    let Ended { out, .. } = world.run(&["trust", "--show"]);
    assert!(
        out.contains("is trusted: trustedFolders.json lists it") && out.contains("accepted  setting"),
        "{out}"
    );
    world.write("work/.gemini/settings.json", &ALLOWED.replace("touch", "rm"));
    let Ended { out, .. } = world.run(&["trust", "--show"]);
    assert!(out.contains("ignored   setting: these tools run unasked: run_shell_command(rm)"), "{out}");
    world.write("work/.gemini/settings.json", &format!("\n\n{ALLOWED}"));
    let Ended { out, .. } = world.run(&["trust", "--show"]);
    assert!(
        out.contains("accepted  setting") && out.contains("settings.json:4"),
        "lines do not matter: {out}"
    );
    let Ended { code, .. } = world.run(&["trust", "--revoke"]);
    assert_eq!(code, 0);
    let Ended { out, .. } = world.run(&["trust", "--show"]);
    assert!(out.contains("DO_NOT_TRUST") && out.contains("ignored   setting"), "{out}");
}

#[test]
fn what_deceives_is_shown_escaped() {
    let world = allowing();
    let server =
        json!({"mcpServers": {"x": {"command": "ls\u{1b}]0;\u{7}\r", "args": ["\u{202e}fdp.exe\u{200b}"]}}});
    world.write("work/.gemini/settings.json", &server.to_string());
    let Ended { out, .. } = world.run(&["trust", "--show"]);
    assert!(out.contains("`ls\\u{1b}]0;\\u{7}\\r` `\\u{202e}fdp.exe\\u{200b}`"), "{out}");
    assert!(!out.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}', '\u{200b}']), "{out:?}");
}
