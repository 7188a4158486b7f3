//! Arbitrary texts as command files.

use super::template::Template;

/// A prompt: what was understood can be filled in, and whatever it is filled with, the same commands come out of it.
pub(crate) fn prompt(prompt: &str, arguments: &str) {
    let Ok(template) = Template::parse(prompt) else { return };
    let (bare, filled) = (template.commands(""), template.commands(arguments));
    assert_eq!(bare.len(), filled.len(), "arguments add no commands");
    let places = prompt.matches(super::template::ARGUMENTS).count();
    for (bare, filled) in bare.iter().zip(&filled) {
        // A quote becomes four letters, and a word has at most four around it.
        assert!(filled.len() <= bare.len() + places * (4 * arguments.len() + 4), "{filled:?}");
    }
}
