//! Arbitrary texts as command files.

use super::file;
use super::template::Template;

/// A file: what is wrong with it can be shown, and so can its description.
pub(crate) fn file(text: &str, arguments: &str) {
    let shown = |text: &str| text.chars().count() <= 1000 && !text.contains(char::is_control);
    match file::understand(text) {
        Ok((template, description)) => {
            assert!(description.as_deref().is_none_or(shown), "{description:?}");
            filled(&template, text, arguments);
        }
        Err(what) => assert!(shown(&what), "{what:?}"),
    }
}

/// A prompt without the file around it.
pub(crate) fn prompt(prompt: &str, arguments: &str) {
    if let Ok(template) = Template::parse(prompt) {
        filled(&template, prompt, arguments);
    }
}

/// What was understood can be filled in, and whatever it is filled with, the same commands come out of it.
fn filled(template: &Template, prompt: &str, arguments: &str) {
    let (bare, filled) = (template.commands(""), template.commands(arguments));
    assert_eq!(bare.len(), filled.len(), "arguments add no commands");
    // However a file escapes them, arguments take no fewer bytes there than here.
    let places = prompt.len() / super::template::ARGUMENTS.len() + 1;
    for (bare, filled) in bare.iter().zip(&filled) {
        // A quote becomes four letters, and a word has at most four around it.
        assert!(filled.len() <= bare.len() + places * (4 * arguments.len() + 4), "{filled:?}");
    }
}
