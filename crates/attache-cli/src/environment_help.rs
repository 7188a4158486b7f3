//! The help about environment variables and exit codes.

use attache_config::VARIABLES;

/// The widest line of the help, as in clap.
const HELP_WIDTH: usize = 98;

/// A table of the variables, then the exit codes.
pub fn environment_help() -> String {
    let names = VARIABLES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::from("Environment:");
    for (name, meaning) in VARIABLES {
        for (place, line) in wrapped(meaning, HELP_WIDTH - names - 4).iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            text.push_str(&format!("\n  {name:<names$}  {line}"));
        }
    }
    text + "\n\nExit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted; docs/command-line.md has those of -p"
}

/// The words of `text` in lines that are not longer than `width`, unless a word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < width);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.extend([" ", word]),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_variables_is_aligned_and_fits() {
        let text = environment_help();
        let rows: Vec<&str> = text.lines().skip(1).take_while(|line| !line.is_empty()).collect();
        let column = rows[0].find("port to listen").unwrap();
        for row in rows {
            assert!(row.len() <= HELP_WIDTH && row.as_bytes()[column - 1] == b' ', "{row}");
            assert_ne!(row.as_bytes()[column], b' ', "{row}");
        }
    }
}
