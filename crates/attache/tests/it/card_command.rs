//! The own card, by the real binary, and the card that a server with keys serves. What the commands do with other cards is tested
//! in `attache-cli`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::{Value, json};

use crate::support::launch;

const CARD: &str = "/.well-known/agent-card.json";
const KEYS: &str = "/.well-known/jwks.json";

struct World {
    launch: ServerLaunch,
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Exit code 0 is success, 1 that something is wrong with the card, 2 that the command is.
    #[track_caller]
    fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

impl World {
    fn new() -> Self {
        Self { launch: launch().in_memory() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.launch.folder().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(arguments).env_clear().env("HOME", self.at("")).current_dir(self.at(""));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Makes a key and returns its public half.
    fn key(&self, name: &str, algorithm: &str) -> Value {
        self.run(&["keys", "new", "--out", name, "--algorithm", algorithm, "--json"]).ends_with(0).json()
    }

    fn write(&self, name: &str, value: &Value) {
        self.launch.write(name, &value.to_string());
    }
}

#[test]
fn ones_own_card_needs_no_name() {
    let world = World::new();
    let ran = world.run(&["card", "verify"]).ends_with(1);
    assert!(ran.stdout.contains("`attache keys new --out FILE` makes one"), "{ran:?}");
    assert!(ran.stdout.ends_with("not verified: the card has no signatures\n"), "{ran:?}");
    let own = world.run(&["card", "show"]).ends_with(0);
    assert!(
        own.stdout.starts_with("attache ") && own.stdout.contains("JSONRPC 1.0 at http://127.0.0.1:41242/"),
        "{own:?}"
    );
    world.run(&["card", "lint", "--strict"]).ends_with(0);
    let pure = world.run(&["card", "show", "--json", "--a2a-version", "1.0"]).ends_with(0).json();
    assert!(pure.get("url").is_none() && pure.get("signatures").is_none());
    let unsigned = world.run(&["card", "sign"]).ends_with(1);
    assert!(unsigned.stderr.contains("no key to sign with"), "{unsigned:?}");
    world.key("key.jwk", "eddsa");
    world.launch.write("attache.toml", "[card]\nsigning_keys = [\"key.jwk\"]\n");
    world.run(&["card", "verify", "--config", "attache.toml", "--whole"]).ends_with(0);
    world.run(&["card", "lint", "--config", "attache.toml", "--strict"]).ends_with(0);
    for form in ["1.0", "0.3"] {
        let settings = format!("[card]\nform = \"{form}\"\nsigning_keys = [\"key.jwk\"]\n");
        world.launch.write("attache.toml", &settings);
        world.run(&["card", "verify", "--config", "attache.toml", "--whole"]).ends_with(0);
        // Not strictly: 0.3 does not say what is signed, and the lint warns of that.
        world.run(&["card", "lint", "--config", "attache.toml"]).ends_with(0);
        let own = world.run(&["card", "show", "--config", "attache.toml", "--json"]).ends_with(0).json();
        assert_eq!(own.get("supportedInterfaces").is_some(), form == "1.0", "{own:#}");
        assert_eq!(own.get("additionalInterfaces").is_some(), form == "0.3", "{own:#}");
    }
}

async fn serve(world: World, settings: &str) -> (ServerProcess, World) {
    let world = World { launch: world.launch.settings(settings) };
    (world.launch.start().await, world)
}

#[tokio::test]
async fn a_server_with_keys_signs_both_documents_and_publishes_the_keys() {
    let world = World::new();
    let (old, new) = (world.key("old.jwk", "es256"), world.key("new.jwk", "eddsa"));
    let settings = "[card]\nsigning_keys = [\"new.jwk\", \"old.jwk\"]\n";
    let (server, world) = serve(world, settings).await;
    let client = server.client();
    let keys = client.get(KEYS).await;
    assert_eq!(keys.status, 200);
    assert_eq!(keys.header("content-type"), Some("application/jwk-set+json"));
    assert!(!keys.text().contains("\"d\""));
    assert_eq!(keys.json(), json!({"keys": [new, old]}));
    world.write("old.json", &old);
    world.write("new.json", &new);
    for version in ["0.3", "1.0"] {
        let card = client.with("A2A-Version", version).get(CARD).await.json();
        world.write("served.json", &card);
        for keys in ["old.json", "new.json"] {
            world.run(&["card", "verify", "served.json", "--keys", keys, "--whole"]).ends_with(0);
        }
        // By the keys that it points to, once that is allowed.
        world.run(&["card", "verify", "served.json"]).ends_with(1);
        world.run(&["card", "verify", "served.json", "--allow-jku", "127.0.0.1", "--whole"]).ends_with(0);
        // By its own keys, from where it came.
        let ran =
            world.run(&["card", "verify", server.url(), "--a2a-version", version, "--whole"]).ends_with(0);
        assert!(ran.stdout.contains("come from where the card came from"), "{ran:?}");
        world.run(&["card", "lint", server.url(), "--a2a-version", version, "--strict"]).ends_with(0);
    }
}

#[tokio::test]
async fn a_tag_changes_with_the_keys_and_stays_with_the_signatures() {
    let world = World::new();
    for name in ["old.jwk", "new.jwk"] {
        world.key(name, "es256");
    }
    let settings =
        |key: &str| format!("public_url = \"https://a.example\"\n[card]\nsigning_keys = [\"{key}\"]\n");
    let (server, world) = serve(world, &settings("old.jwk")).await;
    let first = server.client().get(CARD).await;
    server.kill().await;
    let server = world.launch.start().await;
    let second = server.client().get(CARD).await;
    assert_ne!(first.json()["signatures"], second.json()["signatures"], "every signature is another");
    assert_eq!(first.header("etag"), second.header("etag"));
    server.kill().await;
    world.launch.write("attache.toml", &settings("new.jwk"));
    let server = world.launch.start().await;
    let third = server.client().get(CARD).await;
    assert_ne!(first.header("etag"), third.header("etag"));
}

#[tokio::test]
async fn a_server_without_keys_has_none_to_show_and_one_with_bad_keys_does_not_start() {
    let world = World::new();
    let (server, _world) = serve(world, "").await;
    assert_eq!(server.client().get(KEYS).await.status, 404);
    for (file, text, expected) in [
        ("missing.jwk", None, "cannot read the key missing.jwk"),
        ("bad.jwk", Some("{}"), "cannot use the key bad.jwk"),
    ] {
        let launch = launch().in_memory().settings(&format!("[card]\nsigning_keys = [\"{file}\"]\n"));
        if let Some(text) = text {
            let path = launch.write(file, text);
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let (code, told) = launch.start_failing().await;
        assert_eq!(code, Some(1));
        assert!(told.contains(expected), "{told}");
    }
}
