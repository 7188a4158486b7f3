//! Splits a thought into subject and description; models write the subject in bold first.

use attache_domain::Part;
use serde_json::json;

use super::envelope::data_part;

/// The part that carries a thought, the same in both dialects.
pub(crate) fn part(text: &str) -> Part {
    let (subject, description) = split(text);
    data_part(json!({ "subject": subject, "description": description }))
}

/// The subject and description of `text`; the subject is empty if nothing is bold.
pub(crate) fn split(text: &str) -> (&str, String) {
    let Some((before, rest)) = text.split_once("**") else { return ("", text.trim().to_owned()) };
    let Some((subject, after)) = rest.split_once("**") else { return ("", text.trim().to_owned()) };
    let mut description = before.trim().to_owned();
    if !description.is_empty() && !after.trim().is_empty() {
        description.push('\n');
    }
    description.push_str(after.trim());
    (subject.trim(), description)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[track_caller]
    fn check(text: &str, subject: &str, description: &str) {
        assert_eq!(split(text), (subject, description.to_owned()), "{text:?}");
    }

    #[test]
    fn the_subject_is_what_stands_in_bold() {
        check("**Reading** I look at it first.", "Reading", "I look at it first.");
        check("**Reading**\n\nI look.", "Reading", "I look.");
        check("So. **Reading** I look.", "Reading", "So.\nI look.");
        check("no subject", "", "no subject");
        check("**open", "", "**open");
        check("** **", "", "");
        check("", "", "");
    }
}
