//! Encodes a typed answer as data that names the calls.

use anyhow::bail;
use attache_client::{OpenCall, Part, PartContent};
use attache_domain::{CANCEL, PROCEED_ONCE, SKIP, visible_line};
use serde_json::{Value, json};

/// Stands for every open call.
const ALL: &str = "all";

#[derive(Debug)]
pub(super) struct EncodedAnswer {
    pub(super) parts: Vec<Part>,
    /// About how many calls it is.
    pub(super) calls: usize,
    pub(super) naming: QuestionNaming,
}

/// Whether the person has said which question the answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionNaming {
    /// It names the calls, or agrees to nothing.
    Named,
    /// It names no call and may agree to something.
    Bare,
    /// The same, and it would need to say which of several calls it means.
    Ambiguous,
}

impl EncodedAnswer {
    fn ambiguous() -> Self {
        Self { parts: Vec::new(), calls: 0, naming: QuestionNaming::Ambiguous }
    }
}

/// `open` are the calls that the task asks about now; none where it asks something else, or does not say.
pub(super) fn encode_answer(
    words: &[String],
    content: Option<String>,
    open: &[OpenCall],
) -> anyhow::Result<EncodedAnswer> {
    if let Some(parts) = encode_questions(words, open).filter(|_| content.is_none()) {
        let calls = parts.len();
        return Ok(EncodedAnswer { parts, calls, naming: QuestionNaming::Named });
    }
    let named: Option<Vec<(&str, &str)>> = words.iter().map(|word| call_and_choice(word)).collect();
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return encode_named(&named, content, open);
    }
    let text = words.join(" ");
    // As the question says it.
    let colon = text.rsplit_once(':').map(|(call, choice)| (call.trim(), choice.trim()));
    let known = |call: &str| call == ALL || open.iter().any(|it| it.call == real(call, open));
    if let Some(named) = colon.filter(|(call, _)| !open.is_empty() && known(call)) {
        return encode_named(&[named], content, open);
    }
    let Some(content) = content else { return Ok(encode_bare(&text, open)) };
    let choice = match words {
        [] => PROCEED_ONCE,
        [choice] => choice,
        _ => bail!("with --file the answer is one choice, or CALL=CHOICE"),
    };
    let mut answer = json!({ "choice": choice, "newContent": content });
    match open {
        [] => {}
        [only] => answer["call"] = only.call.clone().into(),
        _ => return Ok(EncodedAnswer::ambiguous()),
    }
    Ok(EncodedAnswer { parts: vec![data_part(answer)], calls: 1, naming: QuestionNaming::Bare })
}

fn encode_named(
    named: &[(&str, &str)],
    content: Option<String>,
    open: &[OpenCall],
) -> anyhow::Result<EncodedAnswer> {
    let answer = |(call, choice): &(&str, &str)| json!({ "call": real(call, open), "choice": choice });
    if let Some(content) = content {
        let [one] = named else { bail!("--file is about one edit; answer the others by themselves") };
        let mut answer = answer(one);
        answer["newContent"] = content.into();
        return Ok(EncodedAnswer { parts: vec![data_part(answer)], calls: 1, naming: QuestionNaming::Named });
    }
    let answers: Vec<Value> = match named {
        [(ALL, choice)] if !open.is_empty() => {
            open.iter().map(|open| json!({ "call": open.call, "choice": choice })).collect()
        }
        named => named.iter().map(answer).collect(),
    };
    let calls = answers.len();
    let is_bare = named.iter().any(|(call, choice)| *call == ALL && !refuses(choice));
    let naming = if is_bare { QuestionNaming::Bare } else { QuestionNaming::Named };
    Ok(EncodedAnswer { parts: vec![data_part(answers.into())], calls, naming })
}

/// Words that name no call become an answer to the one open call, so that they cannot answer another one.
fn encode_bare(text: &str, open: &[OpenCall]) -> EncodedAnswer {
    let naming = if refuses(text) { QuestionNaming::Named } else { QuestionNaming::Bare };
    let parts = match open {
        [] => {
            return EncodedAnswer { parts: vec![Part::text(text)], calls: 0, naming: QuestionNaming::Named };
        }
        [only] if only.takes_text() && !is_other_choice(text, only) => {
            let parts = vec![only.answer_text(text)];
            return EncodedAnswer { parts, calls: 1, naming: QuestionNaming::Named };
        }
        [only] => vec![only.answer(text)],
        _ if naming == QuestionNaming::Named => open.iter().map(|open| open.answer(text.trim())).collect(),
        _ => return EncodedAnswer::ambiguous(),
    };
    let calls = open.len();
    EncodedAnswer { parts, calls, naming }
}

/// The id of a choice that gives no answer to the question.
fn is_other_choice(text: &str, open: &OpenCall) -> bool {
    [CANCEL, SKIP].contains(&text.trim()) && open.choices.iter().any(|choice| choice == text.trim())
}

fn data_part(data: Value) -> Part {
    Part::new(PartContent::Data(data))
}

/// The word lets nothing run, so it may be about every open call.
fn refuses(word: &str) -> bool {
    let choice = word.trim().to_lowercase();
    [CANCEL, SKIP].contains(&choice.as_str()) || attache_wire::meanings(word).contains(&CANCEL)
}

/// The id of the call that a person names as it was shown.
fn real<'a>(name: &'a str, open: &'a [OpenCall]) -> &'a str {
    let shown = open.iter().find(|open| visible_line(&open.call) == name);
    shown.map_or(name, |open| open.call.as_str())
}

/// Answers of which one at least gives words to a question that it names.
fn encode_questions(words: &[String], open: &[OpenCall]) -> Option<Vec<Part>> {
    let joined = words.join(" ");
    let each = words.iter().map(|word| match question_and_words(word, open) {
        Some((question, words)) => Some((true, question.answer_text(words))),
        None => call_and_choice(word)
            .map(|(call, choice)| (false, data_part(json!({ "call": real(call, open), "choice": choice })))),
    });
    match each.collect::<Option<Vec<_>>>() {
        Some(each) => {
            let has_words = each.iter().any(|(is_words, _)| *is_words);
            has_words.then(|| each.into_iter().map(|(_, part)| part).collect())
        }
        // The shell may have split the words.
        None => question_and_words(&joined, open).map(|(question, words)| vec![question.answer_text(words)]),
    }
}

/// `QUESTION=words` or `QUESTION: words`, for an open question that takes any text.
fn question_and_words<'a, 'o>(text: &'a str, open: &'o [OpenCall]) -> Option<(&'o OpenCall, &'a str)> {
    let (name, words) = text.split_once(['=', ':'])?;
    let named = real(name.trim(), open);
    let question = open.iter().find(|open| open.call == named && open.takes_text())?;
    let words = words.trim();
    (!words.is_empty() && !is_other_choice(words, question)).then_some((question, words))
}

fn call_and_choice(word: &str) -> Option<(&str, &str)> {
    let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    word.rsplit_once('=').filter(|(call, choice)| is_name(call) && is_name(choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(call: &str, choices: &[&str]) -> OpenCall {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        OpenCall { call: call.into(), choices, lost: None }
    }

    fn written(part: &Part) -> Value {
        match &part.content {
            PartContent::Text(text) => json!({ "text": text }),
            PartContent::Data(data) => json!({ "data": data }),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(words: &[&str], content: Option<&str>, open: &[OpenCall], expected: Option<Value>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = encode_answer(&words, content.map(str::to_owned), open).ok();
        let found = found.filter(|found| found.naming != QuestionNaming::Ambiguous);
        assert_eq!(found.map(|found| found.parts.iter().map(written).collect()), expected);
    }

    #[test]
    fn words_stay_words_where_no_call_is_known() {
        check(&["yes"], None, &[], Some(json!([{"text": "yes"}])));
        check(&["try", "the", "other", "one"], None, &[], Some(json!([{"text": "try the other one"}])));
        check(&["set a=b and go"], None, &[], Some(json!([{"text": "set a=b and go"}])));
    }

    #[test]
    fn bare_words_are_about_the_one_call_that_is_open() {
        let one = [open("c-1", &["proceed_once", "cancel"])];
        check(&["yes"], None, &one, Some(json!([{"data": {"call": "c-1", "choice": "yes"}}])));
        let two = [open("c-1", &["proceed_once"]), open("c-2", &["proceed_once"])];
        check(&["yes"], None, &two, None);
        let no =
            json!([{"data": {"call": "c-1", "choice": "no"}}, {"data": {"call": "c-2", "choice": "no"}}]);
        check(&["no"], None, &two, Some(no));
        let all = json!([{"data": [{"call": "c-1", "choice": "yes"}, {"call": "c-2", "choice": "yes"}]}]);
        check(&["all=yes"], None, &two, Some(all.clone()));
        check(&["all:", "yes"], None, &two, Some(all));
        check(&["c-2:", "yes"], None, &two, Some(json!([{"data": [{"call": "c-2", "choice": "yes"}]}])));
        let question = [open("q", &["answer", "cancel"])];
        let answer = json!({"call": "q", "choice": "answer", "answers": "deep blue"});
        check(&["deep", "blue"], None, &question, Some(json!([{ "data": answer.clone() }])));
        let two = [open("q", &["answer", "skip", "cancel"]), open("c-2", &["proceed_once"])];
        for words in ["q=deep blue", "q: deep blue"] {
            check(&[words], None, &two, Some(json!([{ "data": answer.clone() }])));
        }
        check(&["q:", "deep", "blue"], None, &two, Some(json!([{ "data": answer.clone() }])));
        let both = json!([{ "data": answer }, {"data": {"call": "c-2", "choice": "yes"}}]);
        check(&["q=deep blue", "c-2=yes"], None, &two, Some(both));
        check(&["q=skip"], None, &two, Some(json!([{"data": [{"call": "q", "choice": "skip"}]}])));
        check(&["skip"], None, &two[..1], Some(json!([{"data": {"call": "q", "choice": "skip"}}])));
    }

    #[test]
    fn only_what_names_its_calls_or_agrees_to_nothing_needs_no_second_look() {
        let one = [open("c-1", &["proceed_once", "cancel"])];
        let two = [open("c-1", &["proceed_once"]), open("c-2", &["proceed_once"])];
        for (word, content, open, expected) in [
            ("yes", None, &one[..], QuestionNaming::Bare),
            ("perhaps", None, &one, QuestionNaming::Bare),
            ("yes", Some("x"), &one, QuestionNaming::Bare),
            ("no", None, &one, QuestionNaming::Named),
            ("c-1=yes", None, &one, QuestionNaming::Named),
            ("c-1=yes", Some("x"), &one, QuestionNaming::Named),
            ("yes", None, &two, QuestionNaming::Ambiguous),
            ("yes", Some("x"), &two, QuestionNaming::Ambiguous),
            ("no", None, &two, QuestionNaming::Named),
            ("all=yes", None, &two, QuestionNaming::Bare),
            ("all=no", None, &two, QuestionNaming::Named),
        ] {
            let found = encode_answer(&[word.to_owned()], content.map(str::to_owned), open).unwrap();
            assert_eq!(found.naming, expected, "{word}");
        }
    }

    #[test]
    fn answers_about_calls_are_data() {
        let two = json!([{"data": [{"call": "c-1", "choice": "yes"}, {"call": "c-2", "choice": "no"}]}]);
        check(&["c-1=yes", "c-2=no"], None, &[], Some(two));
        let odd = json!([{"data": [{"call": "c\u{202e}", "choice": "yes"}]}]);
        check(&[r"c\u{202e}=yes"], None, &[open("c\u{202e}", &[])], Some(odd));
    }

    #[test]
    fn changed_content_goes_with_one_choice() {
        check(&[], Some("x"), &[], Some(json!([{"data": {"choice": "proceed_once", "newContent": "x"}}])));
        check(&["yes"], Some("x"), &[], Some(json!([{"data": {"choice": "yes", "newContent": "x"}}])));
        let named = json!([{"data": {"call": "c", "choice": "yes", "newContent": "x"}}]);
        check(&["c=yes"], Some("x"), &[], Some(named.clone()));
        check(&["yes"], Some("x"), &[open("c", &[])], Some(named));
        check(&["c=yes", "d=yes"], Some("x"), &[], None);
        check(&["do", "it"], Some("x"), &[], None);
    }
}
