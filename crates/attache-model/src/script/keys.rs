//! Every key of a script, and maps that refuse unknown keys.

use super::error::Problem;
use super::yaml::{Kind, Node};

/// The keys of one kind of map.
#[derive(Debug)]
pub(super) struct Keys {
    /// The name in error messages: "a rule".
    pub(super) owner: &'static str,
    pub(super) known: &'static [&'static str],
}

pub(super) const SCRIPT: Keys = Keys { owner: "a script", known: &["rules", "otherwise"] };
pub(super) const RULE: Keys =
    Keys { owner: "a rule", known: &["name", "text", "message_id", "turn", "steps"] };
pub(super) const ARTIFACT: Keys = Keys {
    owner: "an artifact",
    known: &[
        "id",
        "name",
        "description",
        "text",
        "bytes",
        "bytes_text",
        "url",
        "data",
        "parts",
        "media_type",
        "filename",
        "metadata",
        "extensions",
        "chunks",
        "chunk_size",
        "every",
        "repeat",
        "append",
        "last",
    ],
};
pub(super) const PART: Keys = Keys {
    owner: "a part",
    known: &["text", "bytes", "bytes_text", "url", "data", "media_type", "filename", "metadata"],
};
pub(super) const CALL: Keys = Keys { owner: "a call", known: &["tool", "input"] };
pub(super) const WHEN: Keys = Keys { owner: "`when`", known: &["failed", "result"] };
pub(super) const CREDENTIAL: Keys = Keys { owner: "`require_auth`", known: &["explanation", "resume_after"] };

/// The kinds of steps. The first key names the kind; the others are its options.
pub(super) const STEPS: &[Keys] = &[
    Keys { owner: "a `say` step", known: &["say", "chunks", "chunk_size", "every", "repeat", "when"] },
    Keys { owner: "a `think` step", known: &["think", "when"] },
    Keys { owner: "an `ask` step", known: &["ask"] },
    Keys { owner: "a `wait` step", known: &["wait", "when"] },
    Keys { owner: "an `artifact` step", known: &["artifact", "when"] },
    Keys { owner: "a `call` step", known: &["call", "when"] },
    Keys { owner: "a `calls` step", known: &["calls", "when"] },
    Keys { owner: "a `refuse` step", known: &["refuse", "when"] },
    Keys { owner: "a `require_auth` step", known: &["require_auth"] },
    Keys { owner: "a `fail` step", known: &["fail", "when"] },
    Keys { owner: "an `answer` step", known: &["answer"] },
    Keys { owner: "a `status` step", known: &["status"] },
    Keys { owner: "an `end` step", known: &["end"] },
];

/// A map with known keys only. The parser removes the values one by one.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) line: u64,
    keys: &'static Keys,
    entries: Vec<(String, Node)>,
}

impl Fields {
    pub(super) fn of(node: Node, keys: &'static Keys) -> Result<Self, Problem> {
        let line = node.line;
        let Kind::Map(entries) = node.kind else {
            return Err(node.unexpected(&format!(
                "{}, a map with the keys {}",
                keys.owner,
                listed(keys.known)
            )));
        };
        if let Some((key, node)) = entries.iter().find(|(key, _)| !keys.known.contains(&key.as_str())) {
            let what =
                format!("{} {} has {}", unknown(key, keys.known), capital(keys.owner), listed(keys.known));
            return Err(Problem::new(node.line, what));
        }
        Ok(Self { line, keys, entries })
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<Node> {
        debug_assert!(
            self.keys.known.contains(&key),
            "{} reads `{key}` but does not list it",
            self.keys.owner
        );
        let place = self.entries.iter().position(|(found, _)| found == key)?;
        Some(self.entries.swap_remove(place).1)
    }

    pub(super) fn require(&mut self, key: &'static str) -> Result<Node, Problem> {
        self.take(key)
            .ok_or_else(|| Problem::new(self.line, format!("{} needs the key `{key}`", self.keys.owner)))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(found, _)| found == key)
    }
}

/// The kind of a step, by its main key.
pub(super) fn step_kind(node: &Node) -> Result<&'static Keys, Problem> {
    let names: Vec<&str> = STEPS.iter().map(|keys| keys.known[0]).collect();
    let Kind::Map(entries) = &node.kind else {
        return Err(node.unexpected(&format!("a step, a map with one of {}", listed(&names))));
    };
    let mut found = entries.iter().filter(|(key, _)| names.contains(&key.as_str()));
    let Some((main, _)) = found.next() else {
        let what = match entries.first() {
            Some((key, _)) => format!("{} A step is one of {}", unknown(key, &names), listed(&names)),
            None => format!("this step is empty. A step is one of {}", listed(&names)),
        };
        return Err(Problem::new(node.line, what));
    };
    if let Some((second, node)) = found.next() {
        let what = format!("`{main}` and `{second}` are two steps: begin each with its own `- `");
        return Err(Problem::new(node.line, what));
    }
    STEPS
        .iter()
        .find(|keys| keys.known[0] == main)
        .ok_or_else(|| Problem::new(node.line, format!("unknown step `{main}`")))
}

/// The error for an unknown name, with the nearest known one.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    let shown: String = name.chars().take(60).collect();
    let nearest = known
        .iter()
        .map(|candidate| (strsim::osa_distance(&shown, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((_, candidate)) => format!("unknown key `{shown}`: did you mean `{candidate}`?"),
        None => format!("unknown key `{shown}`."),
    }
}

pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(unknown("sya", &["think", "say"]), "unknown key `sya`: did you mean `say`?");
    }

    #[test]
    fn a_name_far_from_all_others_gets_no_suggestion() {
        assert_eq!(unknown("zebra", &["say", "think"]), "unknown key `zebra`.");
    }
}
