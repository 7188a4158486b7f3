//! Turns text into words that can be compared: lower case, without endings, without words that say nothing.

/// Words that most questions have.
const STOP_WORDS: &str = "\
    a about actually all already also am an and any anything are as at attache be been being but by can cannot \
    could d did didn do does doesn doing don done else every everything for from get give gives going got happen \
    happens has have help her him how i if in into is isn it its just let like ll m make many may me mean much \
    my need no not now of on one only or other our out please possible re really right s say says set sets \
    should so some someone something still such support supports t tell than that the their them then there these they this those \
    through to too us use used using ve very want was way we were what when where which who why will with work \
    works would you your";

/// The words of a text, in order. A name with signs in it is there as a whole and in parts: `enable_agents`,
/// `mcpServers`, `--a2a-port`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for token in text.split(|letter: char| !is_part_of_name(letter)) {
        let token = token.trim_matches(|letter: char| !letter.is_alphanumeric());
        if token.is_empty() {
            continue;
        }
        let parts = parts(token);
        if parts.len() > 1 {
            found.push(token.to_lowercase());
        }
        found.extend(parts.iter().map(|part| part.to_lowercase()).filter_map(|part| useful(&part)));
    }
    found
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/')
}

/// `mcpServers.docs` has the parts `mcp`, `Servers` and `docs`.
fn parts(token: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in token.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut start = 0;
        let mut before_was_small = false;
        for (place, letter) in part.char_indices() {
            if letter.is_uppercase() && before_was_small {
                parts.push(&part[start..place]);
                start = place;
            }
            before_was_small = letter.is_lowercase();
        }
        parts.push(&part[start..]);
    }
    parts
}

fn useful(word: &str) -> Option<String> {
    (!STOP_WORDS.split(' ').any(|known| known == word)).then(|| stem(word))
}

/// The word without its usual endings, so that `approve`, `approval` and `approvals` are one.
pub(crate) fn stem(word: &str) -> String {
    const ENDINGS: &[(&str, &str, usize)] = &[
        ("ifications", "ify", 3),
        ("ification", "ify", 3),
        ("ations", "", 4),
        ("ation", "", 4),
        ("ities", "", 4),
        ("ity", "", 4),
        ("ments", "", 5),
        ("ment", "", 5),
        ("ings", "", 3),
        ("ing", "", 3),
        ("ies", "y", 2),
        ("als", "", 5),
        ("al", "", 5),
        ("ates", "", 5),
        ("ated", "", 5),
        ("ate", "", 5),
        ("sses", "ss", 2),
        ("ers", "", 5),
        ("er", "", 5),
        ("ed", "", 3),
        ("es", "", 3),
        ("ly", "", 4),
    ];
    if !word.is_ascii() || word.len() < 4 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return word.to_owned();
    }
    let cut = ENDINGS.iter().find_map(|(ending, instead, least)| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() >= *least).then(|| format!("{stem}{instead}"))
    });
    let mut stem = cut.unwrap_or_else(|| {
        let plural = word.strip_suffix('s').filter(|stem| !stem.ends_with(['s', 'u', 'i']));
        plural.unwrap_or(word).to_owned()
    });
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    // `running` and `run`, `setting` and `set`.
    let bytes = stem.as_bytes();
    if let [.., one, two] = bytes
        && one == two
        && !matches!(one, b'l' | b's' | b'e' | b'o')
        && stem.len() > 3
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            &["approve", "approves", "approved", "approval", "approvals"][..],
            &["set", "setting", "settings"],
            &["run", "running"],
            &["notify", "notification", "notifications"],
            &["command", "commands"],
            &["authenticate", "authentication", "authenticated"],
            &["install", "installed", "installation"],
            &["confine", "confined", "confinement"],
            &["trust", "trusted"],
            &["policy", "policies"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} {stems:?}");
        }
    }

    #[test]
    fn a_name_is_there_as_a_whole_and_in_parts() {
        assert_eq!(
            words("Set `experimental.enableAgents`!"),
            ["experimental.enableagents", "experiment", "enabl", "agent"]
        );
        assert_eq!(words("--a2a-port"), ["a2a-port", "a2a", "port"]);
        assert_eq!(words("What is the?"), Vec::<String>::new());
        assert_eq!(words("größer … 日本"), ["größer", "日本"]);
    }
}
