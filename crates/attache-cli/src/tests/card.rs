//! `attache card` and `attache keys`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::world::{Ended, World};

impl World {
    /// Runs a command about keys and documents, whose names are those of files in the workspace.
    fn run_card(&self, arguments: &[&str]) -> Ended {
        let is_file = |word: &str| (word.ends_with(".json") || word.ends_with(".jwk")) && !word.contains('/');
        let base = format!("{}/", self.work().display());
        let arguments: Vec<String> = arguments
            .iter()
            .map(|word| if is_file(word) { format!("{base}{word}") } else { (*word).to_owned() })
            .collect();
        let ended = self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        Ended { out: ended.out.replace(&base, ""), err: ended.err.replace(&base, ""), ..ended }
    }

    /// Makes a key and returns its public half.
    fn key(&self, name: &str, algorithm: &str) -> Value {
        self.run_card(&["keys", "new", "--out", name, "--algorithm", algorithm, "--json"]).ends_with(0).json()
    }

    fn save(&self, name: &str, value: &Value) {
        self.write(&format!("work/{name}"), &value.to_string());
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
    let ran = world.run_card(&["keys", "new", "--out", "key.jwk", "--days", "30"]).ends_with(0);
    let private: Value = serde_json::from_slice(&fs::read(world.work().join("key.jwk")).unwrap()).unwrap();
    let mode = fs::metadata(world.work().join("key.jwk")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let secret = private["d"].as_str().unwrap();
    assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{ran:?}");
    assert!(ran.out.contains(private["kid"].as_str().unwrap()), "{ran:?}");
    assert!(private["exp"].is_i64());
    let again = world.run_card(&["keys", "new", "--out", "key.jwk"]).ends_with(1);
    assert!(again.err.contains("is there already"), "{again:?}");
    let set = world.run_card(&["keys", "public", "key.jwk"]).ends_with(0);
    assert!(!set.out.contains(secret));
    assert_eq!(set.json()["keys"][0]["kid"], private["kid"]);
    world.run_card(&["keys", "new", "--out", "x", "--algorithm", "hs256"]).ends_with(2);
    fs::set_permissions(world.work().join("key.jwk"), fs::Permissions::from_mode(0o640)).unwrap();
    let open = world.run_card(&["keys", "public", "key.jwk"]).ends_with(1);
    assert!(open.err.contains("others may read") && open.err.contains("chmod 600"), "{open:?}");
}

#[test]
fn a_signed_card_verifies_and_a_changed_one_does_not() {
    let world = World::new();
    for algorithm in ["es256", "eddsa"] {
        let name = format!("{algorithm}.jwk");
        let public = world.key(&name, algorithm);
        world.save("public.json", &json!({"keys": [public]}));
        world.save("card.json", &card());
        let signed = world.run_card(&["card", "sign", "card.json", "--key", &name]).ends_with(0).json();
        assert_eq!(signed["signatures"].as_array().unwrap().len(), 2, "one for each way to read it");
        world.save("signed.json", &signed);
        let ran = world
            .run_card(&["card", "verify", "signed.json", "--keys", "public.json", "--whole"])
            .ends_with(0);
        assert!(ran.out.ends_with("verified\n") && ran.out.contains("valid: the form of 1.0"), "{ran:?}");
        let mut changed = signed.clone();
        changed["skills"][0]["name"] = json!("T");
        world.save("changed.json", &changed);
        let ran = world
            .run_card(&["card", "verify", "changed.json", "--keys", "public.json", "--json"])
            .ends_with(1);
        assert_eq!(ran.json()["valid"], false);
        assert_eq!(
            ran.json()["signatures"][0]["words"],
            "not valid: the card is not the one that was signed"
        );
    }
    let other = world.key("other.jwk", "es256");
    world.save("other.json", &other);
    let ran = world.run_card(&["card", "verify", "signed.json", "--keys", "other.json"]).ends_with(1);
    assert!(ran.out.contains("no key has this name"), "{ran:?}");
    let ran = world.run_card(&["card", "verify", "card.json", "--keys", "other.json"]).ends_with(1);
    assert!(ran.out.contains("no signatures"), "{ran:?}");
}

#[test]
fn keys_are_rotated_by_signing_with_both() {
    let world = World::new();
    let (old, new) = (world.key("old.jwk", "es256"), world.key("new.jwk", "eddsa"));
    world.save("old.json", &old);
    world.save("new.json", &new);
    world.save("card.json", &card());
    let signed = world.run_card(&["card", "sign", "card.json", "--key", "old.jwk"]).json();
    world.save("signed.json", &signed);
    let both = world.run_card(&["card", "sign", "signed.json", "--key", "new.jwk", "--keep"]).json();
    world.save("both.json", &both);
    for keys in ["old.json", "new.json"] {
        world.run_card(&["card", "verify", "both.json", "--keys", keys, "--whole"]).ends_with(0);
    }
    world.run_card(&["card", "verify", "signed.json", "--keys", "new.json"]).ends_with(1);
}

#[test]
fn keys_are_not_fetched_from_where_a_stranger_points() {
    let world = World::new();
    world.key("key.jwk", "es256");
    world.save("card.json", &card());
    let jku = "https://evil.example/keys";
    let signed =
        world.run_card(&["card", "sign", "card.json", "--key", "key.jwk", "--jku", jku]).ends_with(0);
    world.save("signed.json", &signed.json());
    let ran = world.run_card(&["card", "verify", "signed.json"]).ends_with(1);
    assert!(ran.out.contains("keys at https://evil.example/keys were not fetched; allow"), "{ran:?}");
    assert!(ran.out.contains("there is no key to check the signatures with"), "{ran:?}");
    let clear = ["card", "sign", "card.json", "--key", "key.jwk", "--jku", "http://a.example/keys"];
    assert!(world.run_card(&clear).ends_with(1).err.contains("https"));
}

#[test]
fn one_fault_is_one_error() {
    let world = World::new();
    let mut bad = card();
    bad.as_object_mut().unwrap().remove("description");
    world.save("card.json", &bad);
    let ran = world.run_card(&["card", "lint", "card.json"]).ends_with(1);
    assert!(ran.out.contains("1 error, 0 warnings; looked at"), "{ran:?}");
}

#[test]
fn faults_are_told_with_their_rule() {
    let world = World::new();
    world.save("card.json", &card());
    let good = world.run_card(&["card", "lint", "card.json"]).ends_with(0);
    assert_eq!(good.out, "no fault found; looked at as a card of 1.0\n");
    let mut bad = card();
    bad["name"] = json!("\u{1b}[2J");
    bad["security"] = json!([]);
    world.save("warned.json", &bad);
    world.run_card(&["card", "lint", "warned.json"]).ends_with(0);
    world.run_card(&["card", "lint", "warned.json", "--strict"]).ends_with(1);
    bad["skills"] = json!({});
    world.save("bad.json", &bad);
    let ran = world.run_card(&["card", "lint", "bad.json"]).ends_with(1);
    assert!(
        ran.out
            .starts_with("error: skills: has to be a list, and is an object\n  rule member-type, A2A 1.0: "),
        "{ran:?}"
    );
    assert!(ran.out.contains("1.0 calls it securityRequirements"), "{ran:?}");
    assert!(ran.out.ends_with("1 error, 1 warning; looked at as a card of 1.0\n"), "{ran:?}");
    let found = world.run_card(&["card", "lint", "bad.json", "--json"]).ends_with(1).json();
    assert_eq!(found["findings"][0]["rule"], "member-type");
    let shown = world.run_card(&["card", "show", "bad.json"]).ends_with(0);
    assert!(!shown.out.contains('\u{1b}'), "{shown:?}");
    let missing = world.run_card(&["card", "lint", "nowhere.json"]).ends_with(1);
    assert!(
        missing.err.contains("cannot read nowhere.json") && missing.err.contains("hint: "),
        "{missing:?}"
    );
    world.run_card(&["card", "paint"]).ends_with(2);
}
