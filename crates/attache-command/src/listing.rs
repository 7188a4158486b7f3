//! Lists as text for people.

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A heading with its items, or what is said when there are none.
pub(crate) fn list(heading: &str, items: &[String], none: &str) -> String {
    if items.is_empty() {
        return none.to_owned();
    }
    let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    format!("{heading}:\n\n{}", items.join("\n"))
}

/// A name and its description, if any, on one line.
pub(crate) fn described(name: &str, description: &str) -> String {
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    if description.is_empty() { name.to_owned() } else { format!("{name}: {description}") }
}
