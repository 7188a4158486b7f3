//! The written schema and the examples agree with the parser.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ScriptModel;
use super::keys::{ARTIFACT, CALL, CREDENTIAL, Keys, PART, RULE, SCRIPT, STEPS, WHEN};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let text = std::fs::read_to_string(repository().join("docs/script-model.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn check(place: &str, object: &Value, keys: &Keys) {
    let written: BTreeSet<&str> =
        object["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let known: BTreeSet<&str> = keys.known.iter().copied().collect();
    assert_eq!(written, known, "{place} in the schema, and what the parser knows of {}", keys.owner);
    assert_eq!(object["additionalProperties"], Value::Bool(false), "{place} takes unknown keys");
}

#[test]
fn the_schema_has_the_keys_of_the_parser_and_no_other() {
    let schema = schema();
    check("the root", &schema, &SCRIPT);
    for (name, keys) in [
        ("rule", &RULE),
        ("artifact", &ARTIFACT),
        ("part", &PART),
        ("credential", &CREDENTIAL),
        ("call", &CALL),
        ("when", &WHEN),
    ] {
        check(name, &schema["$defs"][name], keys);
    }
    for keys in STEPS {
        let name = match keys.known[0] {
            "artifact" => "artifact_step",
            "call" => "call_step",
            name => name,
        };
        check(name, &schema["$defs"][name], keys);
    }
}

#[test]
fn a_condition_is_the_same_on_every_step_that_may_have_one() {
    let schema = schema();
    let conditional = |name: &str| schema["$defs"][name]["properties"].get("when").cloned();
    for name in ["say", "think", "wait", "artifact_step", "call_step", "calls", "refuse", "fail"] {
        assert_eq!(conditional(name), Some(serde_json::json!({ "$ref": "#/$defs/when" })), "{name}");
    }
    // These decide what the next turn plays, which must not hang on results that are gone by then.
    for name in ["ask", "require_auth", "answer", "status", "end"] {
        assert_eq!(conditional(name), None, "{name}");
    }
}

#[test]
fn the_schema_offers_every_step_and_no_other() {
    let schema = schema();
    let offered = schema["$defs"]["steps"]["items"]["oneOf"].as_array().unwrap();
    let offered: BTreeSet<String> = offered
        .iter()
        .map(|reference| {
            let name = reference["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            schema["$defs"][name]["required"][0].as_str().unwrap().to_owned()
        })
        .collect();
    let known: BTreeSet<String> = STEPS.iter().map(|keys| keys.known[0].to_owned()).collect();
    assert_eq!(offered, known);
}

#[test]
fn every_example_script_loads() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(repository().join("examples/scripts")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(error) = ScriptModel::from_yaml(&text) {
            panic!("{}: {error}", path.display());
        }
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    names.sort();
    assert_eq!(names, ["frameworks.yaml", "instant.yaml", "interop.yaml", "tour.yaml"]);
}

#[test]
fn the_tour_shows_every_key() {
    let tour = std::fs::read_to_string(repository().join("examples/scripts/tour.yaml")).unwrap();
    let tables = [&SCRIPT, &RULE, &ARTIFACT, &PART, &CREDENTIAL, &CALL, &WHEN].into_iter().chain(STEPS);
    let missing: BTreeSet<&str> = tables
        .flat_map(|keys| keys.known)
        .copied()
        // For load tests; `instant.yaml` shows it.
        .filter(|key| *key != "repeat" && !tour.contains(&format!("{key}:")))
        .collect();
    assert_eq!(missing, BTreeSet::new());
}

/// The examples in the documentation are blocks of YAML that begin with `rules:`.
#[test]
fn every_script_in_the_documentation_loads() {
    let page = std::fs::read_to_string(repository().join("docs/script-model.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 10, "only {} blocks found", blocks.len());
    for block in blocks {
        if let Err(error) = ScriptModel::from_yaml(block) {
            panic!("{error} in\n{block}");
        }
    }
}
