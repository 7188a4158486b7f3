//! `attache card` and `attache keys`, by the real binary, and the card that a server with keys serves.

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

fn card() -> Value {
    json!({
        "name": "Prüf-Agent", "description": "d", "version": "1",
        "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
        "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
        "securityRequirements": [{"schemes": {"b": {}}}]
    })
}

#[test]
fn a_new_key_is_for_its_owner_only_and_never_shown() {
    let world = World::new();
    let ran = world.run(&["keys", "new", "--out", "key.jwk", "--days", "30"]).ends_with(0);
    let private: Value = serde_json::from_slice(&fs::read(world.at("key.jwk")).unwrap()).unwrap();
    let mode = fs::metadata(world.at("key.jwk")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let secret = private["d"].as_str().unwrap();
    assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    assert!(ran.stdout.contains(private["kid"].as_str().unwrap()), "{ran:?}");
    assert!(private["exp"].is_i64());
    let again = world.run(&["keys", "new", "--out", "key.jwk"]).ends_with(1);
    assert!(again.stderr.contains("is there already"), "{again:?}");
    let set = world.run(&["keys", "public", "key.jwk"]).ends_with(0);
    assert!(!set.stdout.contains(secret));
    assert_eq!(set.json()["keys"][0]["kid"], private["kid"]);
    world.run(&["keys", "new", "--out", "x", "--algorithm", "hs256"]).ends_with(2);
    fs::set_permissions(world.at("key.jwk"), fs::Permissions::from_mode(0o640)).unwrap();
    let open = world.run(&["keys", "public", "key.jwk"]).ends_with(1);
    assert!(open.stderr.contains("others may read") && open.stderr.contains("chmod 600"), "{open:?}");
}

#[test]
fn a_signed_card_verifies_and_a_changed_one_does_not() {
    let world = World::new();
    for algorithm in ["es256", "eddsa"] {
        let name = format!("{algorithm}.jwk");
        let public = world.key(&name, algorithm);
        world.write("public.json", &json!({"keys": [public]}));
        world.write("card.json", &card());
        let signed = world.run(&["card", "sign", "card.json", "--key", &name]).ends_with(0).json();
        assert_eq!(signed["signatures"].as_array().unwrap().len(), 2, "one for each way to read it");
        world.write("signed.json", &signed);
        let ran =
            world.run(&["card", "verify", "signed.json", "--keys", "public.json", "--whole"]).ends_with(0);
        assert!(
            ran.stdout.ends_with("verified\n") && ran.stdout.contains("valid: the form of 1.0"),
            "{ran:?}"
        );
        let mut changed = signed.clone();
        changed["skills"][0]["name"] = json!("T");
        world.write("changed.json", &changed);
        let ran =
            world.run(&["card", "verify", "changed.json", "--keys", "public.json", "--json"]).ends_with(1);
        assert_eq!(ran.json()["valid"], false);
        assert_eq!(
            ran.json()["signatures"][0]["words"],
            "not valid: the card is not the one that was signed"
        );
    }
    let other = world.key("other.jwk", "es256");
    world.write("other.json", &other);
    let ran = world.run(&["card", "verify", "signed.json", "--keys", "other.json"]).ends_with(1);
    assert!(ran.stdout.contains("no key has this name"), "{ran:?}");
    let ran = world.run(&["card", "verify", "card.json", "--keys", "other.json"]).ends_with(1);
    assert!(ran.stdout.contains("no signatures"), "{ran:?}");
}

#[test]
fn keys_are_rotated_by_signing_with_both() {
    let world = World::new();
    let (old, new) = (world.key("old.jwk", "es256"), world.key("new.jwk", "eddsa"));
    world.write("old.json", &old);
    world.write("new.json", &new);
    world.write("card.json", &card());
    let signed = world.run(&["card", "sign", "card.json", "--key", "old.jwk"]).json();
    world.write("signed.json", &signed);
    let both = world.run(&["card", "sign", "signed.json", "--key", "new.jwk", "--keep"]).json();
    world.write("both.json", &both);
    for keys in ["old.json", "new.json"] {
        world.run(&["card", "verify", "both.json", "--keys", keys, "--whole"]).ends_with(0);
    }
    world.run(&["card", "verify", "signed.json", "--keys", "new.json"]).ends_with(1);
}

#[test]
fn keys_are_not_fetched_from_where_a_stranger_points() {
    let world = World::new();
    world.key("key.jwk", "es256");
    world.write("card.json", &card());
    let jku = "https://evil.example/keys";
    let signed = world.run(&["card", "sign", "card.json", "--key", "key.jwk", "--jku", jku]).ends_with(0);
    world.write("signed.json", &signed.json());
    let ran = world.run(&["card", "verify", "signed.json"]).ends_with(1);
    assert!(ran.stdout.contains("keys at https://evil.example/keys were not fetched; allow"), "{ran:?}");
    assert!(ran.stdout.contains("there is no key to check the signatures with"), "{ran:?}");
    let clear = ["card", "sign", "card.json", "--key", "key.jwk", "--jku", "http://a.example/keys"];
    assert!(world.run(&clear).ends_with(1).stderr.contains("https"));
}

#[test]
fn an_own_card_without_keys_is_told_how_to_get_one() {
    let ran = World::new().run(&["card", "verify"]).ends_with(1);
    assert!(ran.stdout.contains("`attache keys new --out FILE` makes one"), "{ran:?}");
    assert!(ran.stdout.ends_with("not verified: the card has no signatures\n"), "{ran:?}");
}

#[test]
fn one_fault_is_one_error() {
    let world = World::new();
    let mut bad = card();
    bad.as_object_mut().unwrap().remove("description");
    world.write("card.json", &bad);
    let ran = world.run(&["card", "lint", "card.json"]).ends_with(1);
    assert!(ran.stdout.contains("1 error, 0 warnings; looked at"), "{ran:?}");
}

#[test]
fn faults_are_told_with_their_rule() {
    let world = World::new();
    world.write("card.json", &card());
    let good = world.run(&["card", "lint", "card.json"]).ends_with(0);
    assert_eq!(good.stdout, "no fault found; looked at as a card of 1.0\n");
    let mut bad = card();
    bad["name"] = json!("\u{1b}[2J");
    bad["security"] = json!([]);
    world.write("warned.json", &bad);
    world.run(&["card", "lint", "warned.json"]).ends_with(0);
    world.run(&["card", "lint", "warned.json", "--strict"]).ends_with(1);
    bad["skills"] = json!({});
    world.write("bad.json", &bad);
    let ran = world.run(&["card", "lint", "bad.json"]).ends_with(1);
    assert!(
        ran.stdout
            .starts_with("error: skills: has to be a list, and is an object\n  rule member-type, A2A 1.0: "),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("1.0 calls it securityRequirements"), "{ran:?}");
    assert!(ran.stdout.ends_with("1 error, 1 warning; looked at as a card of 1.0\n"), "{ran:?}");
    let found = world.run(&["card", "lint", "bad.json", "--json"]).ends_with(1).json();
    assert_eq!(found["findings"][0]["rule"], "member-type");
    let shown = world.run(&["card", "show", "bad.json"]).ends_with(0);
    assert!(!shown.stdout.contains('\u{1b}'), "{shown:?}");
    let missing = world.run(&["card", "lint", "nowhere.json"]).ends_with(1);
    assert!(
        missing.stderr.contains("cannot read nowhere.json") && missing.stderr.contains("hint: "),
        "{missing:?}"
    );
    world.run(&["card", "paint"]).ends_with(2);
}

#[test]
fn ones_own_card_needs_no_name() {
    let world = World::new();
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
