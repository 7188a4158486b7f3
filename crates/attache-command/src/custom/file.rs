//! Parses a command file.

use serde::Deserialize;

use super::CustomCommand;
use super::folder::FoundFile;
use super::read::read;
use super::template::Template;
use crate::name;

const MAX_DESCRIPTION: usize = 200;
const EXPECTED: &str = "a command file has `prompt = \"…\"`, and may have `description = \"…\"`";

/// Keys that are not known are left alone: others may read them.
#[derive(Deserialize)]
struct CommandFile {
    prompt: String,
    description: Option<String>,
}

/// What is wrong with the file comes back as words.
pub(crate) fn load(found: &FoundFile, extension: Option<&str>) -> Result<CustomCommand, String> {
    if let Some(extension) = extension {
        name::check(extension)?;
    }
    let text =
        read(&found.real_path, &found.within).map_err(|error| format!("it cannot be read: {error}"))?;
    let (template, description) = understand(&text)?;
    let description = description.unwrap_or_else(|| default_description(found));
    let before = text.find("!{").map_or("", |at| &text[..at]);
    let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
    Ok(CustomCommand::new(found, description, template, line, extension))
}

/// The prompt of a file and its description, if it has one.
pub(crate) fn understand(text: &str) -> Result<(Template, Option<String>), String> {
    let CommandFile { prompt, description } =
        toml::from_str(text).map_err(|error| not_understood(text, &error))?;
    if prompt.trim().is_empty() {
        return Err(format!("`prompt` is empty; {EXPECTED}"));
    }
    let template = Template::parse(&prompt).map_err(|what| format!("in `prompt`, {what}"))?;
    Ok((template, description.map(|text| in_one_line(&text)).filter(|text| !text.is_empty())))
}

fn not_understood(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line =
        before.map_or_else(String::new, |before| format!("line {}: ", before.matches('\n').count() + 1));
    format!("{line}{}; {EXPECTED}", in_one_line(error.message()))
}

fn default_description(found: &FoundFile) -> String {
    let file_name = found.path.file_name().unwrap_or_default().to_string_lossy();
    format!("The custom command of {file_name}.")
}

fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_DESCRIPTION).collect()
}
