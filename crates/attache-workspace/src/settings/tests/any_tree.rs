//! What holds for every tree, and for every text.

use std::fs;
use std::path::Path;

use attache_document::Node;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::World;
use crate::settings::gather::GatheredSettings;
use crate::settings::layer::Layer;
use crate::settings::{keys, resolve};

/// A value of the right kind for a key, by a number.
fn right(takes: keys::ValueType, number: u8) -> Value {
    let word = format!("w{}", number % 4);
    match takes {
        keys::ValueType::Bool => json!(number.is_multiple_of(2)),
        keys::ValueType::Whole { least, .. } => json!(least.max(1) + i64::from(number % 4)),
        keys::ValueType::Share => json!(f64::from(number % 5) / 4.0),
        keys::ValueType::Text => json!(word),
        keys::ValueType::OneOf(known) => json!(known[usize::from(number) % known.len()]),
        keys::ValueType::Texts | keys::ValueType::TextOrTexts => json!([word, "all"]),
        keys::ValueType::Age => json!(format!("{}d", number.max(1))),
        keys::ValueType::Agents => json!({word: {"enabled": number.is_multiple_of(2)}}),
        keys::ValueType::Servers => json!({word: {"command": format!("c{number}")}}),
    }
}

/// A tree that says something about some of the keys.
fn tree() -> impl Strategy<Value = Vec<(usize, u8)>> {
    proptest::collection::vec((0..keys::KEYS.len(), any::<u8>()), 0..12)
}

fn gathered(layers: &[(Layer, &[(usize, u8)])]) -> resolve::ResolvedSettings {
    let mut gathered = GatheredSettings::default();
    for (layer, said) in layers {
        let mut document = Node::empty();
        for (number, value) in *said {
            let key = &keys::KEYS[*number];
            let mut value = right(key.value_type, *value);
            for name in key.name.rsplit('.') {
                value = json!({ name: value });
            }
            document = Node::from_json(&value.to_string()).unwrap();
            gathered.file(Path::new("/f"), *layer, &document).unwrap();
        }
        gathered.file(Path::new("/f"), *layer, &document).unwrap();
    }
    resolve::resolve(&gathered)
}

proptest! {
    #[test]
    fn no_project_changes_what_is_enforced(enforced in tree(), user in tree(), project in tree(), yaml in tree()) {
        let alone = gathered(&[(Layer::OperatorEnforced, &enforced)]);
        let all = gathered(&[
            (Layer::ProjectJson, &project),
            (Layer::OperatorEnforced, &enforced),
            (Layer::ProjectYaml, &yaml),
            (Layer::UserJson, &user),
        ]);
        for (name, effective) in &alone.values {
            if effective.layer != Layer::OperatorEnforced {
                continue;
            }
            let key = keys::find(name).unwrap();
            let found = &all.values[name];
            if key.merge != keys::Merge::Together {
                prop_assert_eq!(&found.value, &effective.value, "{}", name);
            } else {
                let kept = found.value.as_array().unwrap();
                prop_assert!(effective.value.as_array().unwrap().iter().all(|item| kept.contains(item)), "{}", name);
            }
        }
        for (name, (layer, server)) in &alone.servers {
            prop_assert_eq!(layer, &Layer::OperatorEnforced);
            prop_assert_eq!(&all.servers[name].1, server);
        }
        for (name, effective) in &all.values {
            let guarded = keys::find(name).unwrap().project == keys::ProjectEffect::Nothing;
            prop_assert!(!(guarded && effective.layer.is_project()), "{} is not for a project to say", name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_in_any_file_make_it_fall_over(
        json in proptest::collection::vec(any::<u8>(), 0..200),
        yaml in "[a-z:\\-\n \\[\\]{}\"#,1$]{0,120}",
        variables in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let world = World::new();
        fs::write(world.at("work/.gemini/settings.json"), json).unwrap();
        fs::write(world.at("home/.config/gemini-cli/config.yaml"), yaml).unwrap();
        fs::write(world.at("work/.env"), variables).unwrap();
        if let Err(error) = world.load() {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
