//! A question as words that can be searched for.

use crate::words::{stem, words};

/// Words and phrases of questions, and what the documentation says for them. Stop words are left out of phrases.
const SYNONYMS: &[(&str, &str)] = &[
    // Approvals
    ("permission", "approval approved rule"),
    ("confirm", "approval approved"),
    ("confirmation", "approval approved"),
    ("prompt me", "approval mode"),
    ("ask permission", "approval mode yolo"),
    ("stop ask", "approval mode yolo"),
    ("off approval", "mode yolo asking"),
    ("disable approval", "mode yolo"),
    ("skip approval", "mode yolo"),
    ("without approval", "mode unasked"),
    ("without ask", "approval mode unasked rule"),
    ("ask every time", "approval mode unasked always"),
    ("allow", "approval rule unasked"),
    ("automatically", "unasked"),
    ("auto", "approval mode auto_edit"),
    ("unattended", "headless unasked"),
    ("forbid", "deny exclude never"),
    ("block", "deny exclude never"),
    ("prevent", "deny exclude never"),
    ("off", "disable"),
    ("turn", "switch"),
    ("policy", "rule"),
    // Agents and credentials
    ("gemini key", "gemini_api_key"),
    ("openai key", "openai_api_key"),
    ("anthropic key", "anthropic_api_key"),
    ("claude key", "anthropic_api_key"),
    ("corporate", "company"),
    ("subagent", "agent file"),
    ("delegate", "agent call"),
    ("authentication", "auth credential token"),
    ("log in", "sign authentication"),
    ("login", "sign authentication token"),
    ("password", "credential authentication token"),
    ("secret", "credential token key"),
    ("env", "variable environment"),
    ("ssl", "tls https certificate"),
    ("tls", "https certificate"),
    ("https", "tls certificate"),
    // Models
    ("llm", "model"),
    ("provider", "model"),
    ("gpt", "openai model"),
    ("claude", "anthropic model"),
    ("local", "own"),
    ("studio", "compatible server"),
    ("context", "window"),
    ("overloaded", "429 503 retry busy"),
    ("rate limit", "429 quota busy"),
    // Sessions, tasks and data
    ("conversation", "session"),
    ("chat", "session conversation"),
    ("continue", "resume"),
    ("back", "resume"),
    ("reopen", "resume"),
    ("quit", "leave exit"),
    ("close", "leave exit"),
    ("interrupt", "stop cancel ctrl-c"),
    ("abort", "cancel stop"),
    ("stop", "cancel"),
    ("delete", "remove"),
    ("erase", "remove delete"),
    ("uninstall", "remove delete"),
    ("data", "kept"),
    ("stored", "kept database"),
    ("saved", "kept store"),
    ("database", "store"),
    ("backup", "store"),
    ("persist", "store kept"),
    ("history", "session kept"),
    ("crash", "restart kill"),
    ("broken", "cut break"),
    ("undo", "restore"),
    ("reconnect", "resume replay last-event-id"),
    // Running it
    ("daemon", "service"),
    ("background", "service"),
    ("error", "fail code"),
    ("exit code", "ends"),
    ("return code", "exit"),
    ("ci", "script headless"),
    ("pipeline", "script headless"),
    ("noninteractive", "prompt script headless"),
    ("expose", "host address listen"),
    ("interface", "host address"),
    ("listen", "host address"),
    ("remotely", "host address"),
    ("websocket", "live"),
    ("openapi", "rest"),
    ("webhook", "push notification"),
    ("callback", "push"),
    ("sandbox", "confinement confined"),
    ("isolate", "confinement"),
    ("isolation", "confinement"),
    ("docker", "container confinement"),
    ("config", "setting settings.json"),
    ("configure", "setting"),
    ("configuration", "setting"),
    ("option", "setting flag"),
    ("parameter", "setting flag"),
    ("plugin", "extension mcp"),
    ("slash", "command"),
    ("instruction", "context memory"),
    ("image", "picture"),
    ("photo", "picture image"),
    ("screenshot", "picture image"),
    ("attachment", "file"),
    ("web access", "web_fetch"),
    ("internet", "web_fetch network"),
    ("own", "custom"),
    ("install", "add"),
    ("npm", "npx"),
    ("upload", "body send"),
    ("how large", "bytes limit"),
    ("how many", "limit"),
    ("how long", "seconds days"),
    ("read-only", "view"),
    ("device", "client"),
    ("phone", "client"),
    ("ignored", "effect"),
    ("working", "effect fail test"),
    ("log out", "sign sign-out"),
];

/// A word of the question, and what the documentation may say for it, each with its weight. The word itself is the first.
pub(crate) type Term = Vec<(String, f64)>;

/// How much the synonym of a word counts beside the word itself; that of a phrase is less often meant otherwise.
const SYNONYM_WEIGHT: f64 = 0.6;
const PHRASE_WEIGHT: f64 = 0.9;

#[derive(Debug, Default)]
pub(crate) struct SearchQuery {
    pub(crate) terms: Vec<Term>,
    /// Words that follow each other.
    pub(crate) pairs: Vec<String>,
}

impl SearchQuery {
    pub(crate) fn read(text: &str) -> Self {
        let words = words(text);
        let mut terms: Vec<Term> = words.iter().map(|word| vec![(word.clone(), 1.0)]).collect();
        for (phrase, instead) in SYNONYMS {
            let phrase: Vec<String> = phrase.split(' ').map(stem).collect();
            let weight = if phrase.len() > 1 { PHRASE_WEIGHT } else { SYNONYM_WEIGHT };
            for start in 0..words.len() {
                if words[start..].starts_with(&phrase) {
                    terms[start..start + phrase.len()].iter_mut().for_each(|term| add(term, instead, weight));
                }
            }
        }
        let pairs = pairs(&words).collect();
        terms.sort_by(|one, other| one[0].0.cmp(&other[0].0));
        terms.dedup_by(|one, other| one[0].0 == other[0].0);
        Self { terms, pairs }
    }
}

/// Words that follow each other, as one word of the index.
pub(crate) fn pairs(words: &[String]) -> impl Iterator<Item = String> {
    words.windows(2).map(|pair| pair.join(" "))
}

fn add(term: &mut Term, instead: &str, weight: f64) {
    for word in instead.split(' ').map(synonym) {
        match term.iter_mut().find(|(known, _)| *known == word) {
            Some((_, known)) => *known = known.max(weight),
            None => term.push((word, weight)),
        }
    }
}

/// Names with signs in them are in the index as they are.
fn synonym(word: &str) -> String {
    if word.contains(['_', '-', '.']) { word.to_owned() } else { stem(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_stands_for_each_of_its_words() {
        let question = SearchQuery::read("Which variable sets the Gemini key?");
        let forms = |term: &Term| term.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>().join(" ");
        let terms: Vec<String> = question.terms.iter().map(forms).collect();
        assert_eq!(terms, ["gemini gemini_api_key", "key gemini_api_key", "variabl"]);
        assert_eq!(question.pairs, ["variabl gemini", "gemini key"]);
    }

    #[test]
    fn no_synonym_says_what_is_said_already() {
        for (phrase, instead) in SYNONYMS {
            let words: Vec<String> = phrase.split(' ').map(stem).collect();
            for word in instead.split(' ') {
                assert!(!words.contains(&synonym(word)), "{phrase}: {word}");
            }
            assert_eq!(SYNONYMS.iter().filter(|(other, _)| other == phrase).count(), 1, "{phrase}");
        }
    }
}
