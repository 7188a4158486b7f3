//! Parses requests in plain English.

use super::arithmetic::calculate;
use super::fraction::{Fraction, FractionError};

/// The requests that the model understands.
#[derive(Debug, PartialEq)]
pub(super) enum Request<'a> {
    Help,
    Greet,
    Introduce,
    Thank,
    Echo(&'a str),
    CountWords(&'a str),
    CountCharacters(&'a str),
    CountLines(&'a str),
    Reverse(&'a str),
    Upper(&'a str),
    Lower(&'a str),
    Sort(Vec<&'a str>),
    /// `None`: the number is out of range.
    CountTo(Option<u32>),
    Calculate(Result<Fraction, FractionError>),
    AskMe,
    /// Never parsed from a text: the message after [`Request::AskMe`] is one.
    Answer(&'a str),
    Unknown,
}

pub(super) const MAX_COUNT: u32 = 10_000;

impl<'a> Request<'a> {
    pub(super) fn understand(text: &'a str) -> Self {
        let text = without_courtesies(text.trim());
        let phrase = text.trim_end_matches(['?', '!', '.', ' ']);
        phrase_request(phrase)
            .or_else(|| text_request(text))
            .or_else(|| count_to(phrase))
            .or_else(|| arithmetic(phrase))
            .unwrap_or(Self::Unknown)
    }
}

fn phrase_request<'a>(phrase: &str) -> Option<Request<'a>> {
    let is = |phrases: &[&str]| phrases.iter().any(|known| phrase.eq_ignore_ascii_case(known));
    if is(&["help", "help me", "commands", "usage", "what can you do", "what do you understand"]) {
        return Some(Request::Help);
    }
    if is(&["who are you", "what are you", "what is your name", "introduce yourself", "about"]) {
        return Some(Request::Introduce);
    }
    if is(&["thanks", "thank you", "bye", "goodbye"]) {
        return Some(Request::Thank);
    }
    if is(&["ask me something", "ask me a question", "ask me", "ask"]) {
        return Some(Request::AskMe);
    }
    let greetings =
        ["hello", "hi", "hey", "greetings", "good morning", "good afternoon", "good evening", "good day"];
    let greeted = |known: &str| {
        // "hello there" and "hi, attache" greet too; "hi-fi systems" does not.
        after(phrase, known).is_some_and(|rest| rest.split_whitespace().count() <= 2)
    };
    (is(&["greet", "greet me"]) || greetings.iter().any(|known| greeted(known))).then_some(Request::Greet)
}

type RequestBuilder = for<'a> fn(&'a str) -> Request<'a>;

/// Requests with a text. Longer prefixes come before the shorter ones that they begin with.
const LEADS: &[(&str, RequestBuilder)] = &[
    ("echo", |text| Request::Echo(text)),
    ("repeat after me", |text| Request::Echo(text)),
    ("repeat", |text| Request::Echo(text)),
    ("say", |text| Request::Echo(text)),
    ("count the words in", |text| Request::CountWords(text)),
    ("count words in", |text| Request::CountWords(text)),
    ("count words", |text| Request::CountWords(text)),
    ("how many words are in", |text| Request::CountWords(text)),
    ("how many words in", |text| Request::CountWords(text)),
    ("count the characters in", |text| Request::CountCharacters(text)),
    ("count characters in", |text| Request::CountCharacters(text)),
    ("count characters", |text| Request::CountCharacters(text)),
    ("count letters in", |text| Request::CountCharacters(text)),
    ("how many characters are in", |text| Request::CountCharacters(text)),
    ("how many characters in", |text| Request::CountCharacters(text)),
    ("count the lines in", |text| Request::CountLines(text)),
    ("count lines in", |text| Request::CountLines(text)),
    ("count lines", |text| Request::CountLines(text)),
    ("reverse", |text| Request::Reverse(text)),
    ("uppercase", |text| Request::Upper(text)),
    ("upper case", |text| Request::Upper(text)),
    ("upper", |text| Request::Upper(text)),
    ("shout", |text| Request::Upper(text)),
    ("lowercase", |text| Request::Lower(text)),
    ("lower case", |text| Request::Lower(text)),
    ("lower", |text| Request::Lower(text)),
    ("whisper", |text| Request::Lower(text)),
    ("sort", |text| Request::Sort(items(text))),
];

fn text_request(text: &str) -> Option<Request<'_>> {
    LEADS.iter().find_map(|(lead, make)| {
        let rest = unquoted(after(text, lead)?);
        (!rest.is_empty()).then(|| make(rest))
    })
}

fn count_to<'a>(phrase: &str) -> Option<Request<'a>> {
    let number = after(phrase, "count to").or_else(|| after(phrase, "count up to"))?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Request::CountTo(number.parse().ok().filter(|number| (1..=MAX_COUNT).contains(number))))
}

fn arithmetic<'a>(phrase: &str) -> Option<Request<'a>> {
    let leads = ["what is", "what's", "whats", "how much is", "calculate", "compute", "work out"];
    let sum = leads.iter().find_map(|lead| after(phrase, lead)).unwrap_or(phrase);
    let value = calculate(sum).or_else(|| calculate(&spoken_sum(sum)?))?;
    Some(Request::Calculate(value))
}

/// "add 3 and 4" as a sum.
fn spoken_sum(phrase: &str) -> Option<String> {
    let two = |lead, between| after(phrase, lead)?.split_once(between);
    if let Some((left, right)) = two("add", " and ").or_else(|| two("add", " to ")) {
        Some(format!("({left}) + ({right})"))
    } else if let Some((left, right)) = two("multiply", " by ").or_else(|| two("multiply", " and ")) {
        Some(format!("({left}) * ({right})"))
    } else if let Some((left, right)) = two("divide", " by ") {
        Some(format!("({left}) / ({right})"))
    } else if let Some((left, right)) = two("subtract", " from ") {
        Some(format!("({right}) - ({left})"))
    } else {
        None
    }
}

pub(super) fn without_courtesies(mut text: &str) -> &str {
    while let Some(rest) =
        ["please", "can you", "could you", "would you", "attache"].iter().find_map(|lead| after(text, lead))
    {
        if rest.is_empty() {
            break;
        }
        text = rest;
    }
    text
}

/// What follows `lead`, if the text begins with it as a whole word.
pub(super) fn after<'a>(text: &'a str, lead: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(lead.len())?;
    let ends = rest.chars().next().is_none_or(|next| next.is_whitespace() || matches!(next, ':' | ','));
    (start.eq_ignore_ascii_case(lead) && ends).then(|| {
        rest.trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, ':' | ','))
    })
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let pairs = [('"', '"'), ('\'', '\''), ('“', '”')];
    let inner = pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.unwrap_or(text)
}

/// Separated by line breaks; without those by commas; without those by spaces.
fn items(text: &str) -> Vec<&str> {
    let separator = [' ', ',', '\n'];
    let separator = separator.into_iter().rfind(|separator| text.contains(*separator)).unwrap_or(' ');
    text.split(separator).map(str::trim).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Request<'_>) {
        assert_eq!(Request::understand(text), expected, "{text}");
    }

    #[test]
    fn phrases_are_understood_in_any_case_and_with_courtesy() {
        check("help", Request::Help);
        check(" HELP! ", Request::Help);
        check("What can you do?", Request::Help);
        check("Hello there!", Request::Greet);
        check("hi, attache", Request::Greet);
        check("hi-fi systems", Request::Unknown);
        check("Who are you?", Request::Introduce);
        check("please, could you ask me something", Request::AskMe);
        check("thanks!", Request::Thank);
        check("please", Request::Unknown);
        check("", Request::Unknown);
    }

    #[test]
    fn texts_to_work_on_are_found() {
        check("echo Hello, World!", Request::Echo("Hello, World!"));
        check("Say: 'good day'", Request::Echo("good day"));
        check("say", Request::Unknown);
        check("saying nothing", Request::Unknown);
        check("count words in the quick fox", Request::CountWords("the quick fox"));
        check("How many characters are in \"äb\"", Request::CountCharacters("äb"));
        check("reverse abc", Request::Reverse("abc"));
        check("upper case abc", Request::Upper("abc"));
        check("lower ABC", Request::Lower("ABC"));
        check("sort pear, apple pie, fig", Request::Sort(vec!["pear", "apple pie", "fig"]));
        check("sort b a", Request::Sort(vec!["b", "a"]));
        check("sort\nb, c\na", Request::Sort(vec!["b, c", "a"]));
    }

    #[test]
    fn numbers_are_understood() {
        let number = |digits| Request::Calculate(Fraction::parse(digits));
        check("count to 5", Request::CountTo(Some(5)));
        check("count to 0", Request::CountTo(None));
        check("count to 99999999999999999999", Request::CountTo(None));
        check("what is 12 * 7?", number("84"));
        check("add 3 and 4", number("7"));
        check("subtract 3 from 10", number("7"));
        check("divide 5 by 2", number("2.5"));
        check("divide 5 by 0", Request::Calculate(Err(FractionError::DivisionByZero)));
        check("what is the weather", Request::Unknown);
        check("add salt and pepper", Request::Unknown);
    }
}
