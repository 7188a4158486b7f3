//! The options of `cargo xtask bench`.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Only these parts; empty: all.
    pub(super) only: Vec<String>,
    /// Put the table into `docs/benchmarks.md`.
    pub(super) write: bool,
    /// Count instructions instead of measuring time.
    pub(super) callgrind: bool,
    /// Compare with Gemini CLI's server instead of bare ones.
    pub(super) against_gemini: bool,
    /// How often each comparison is repeated.
    pub(super) rounds: usize,
}

const DEFAULT_ROUNDS: usize = 5;

impl Options {
    pub(super) fn parse(arguments: Vec<String>, names: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            only: Vec::new(),
            write: false,
            callgrind: false,
            against_gemini: false,
            rounds: DEFAULT_ROUNDS,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--write" => options.write = true,
                "--callgrind" => options.callgrind = true,
                "--against-gemini" => options.against_gemini = true,
                "--only" => match arguments.next() {
                    Some(name) if names.contains(&name.as_str()) => options.only.push(name),
                    _ => return Err(format!("--only takes one of: {}", names.join(", "))),
                },
                "--rounds" => match arguments.next().and_then(|text| text.parse().ok()) {
                    Some(rounds @ 1..=50) => options.rounds = rounds,
                    _ => return Err("--rounds takes a number from 1 to 50".to_owned()),
                },
                other => {
                    return Err(format!(
                        "there is no option `{other}`\n\nusage: cargo xtask bench [--only NAME]... \
                         [--rounds N] [--write] [--callgrind | --against-gemini]\nnames: {}",
                        names.join(", ")
                    ));
                }
            }
        }
        if options.write && (options.callgrind || !options.only.is_empty()) {
            return Err("--write needs a whole run: leave out --only and --callgrind".to_owned());
        }
        if options.against_gemini && (options.callgrind || !options.only.is_empty()) {
            return Err("--against-gemini is a run of its own: leave out --only and --callgrind".to_owned());
        }
        Ok(options)
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned).collect(), &["send", "stream"])
    }

    #[test]
    fn only_picks_parts_and_nothing_picks_all() {
        let options = parse("--only send --rounds 3").unwrap();
        assert!(options.wants("send") && !options.wants("stream"));
        assert_eq!(options.rounds, 3);
        assert!(parse("").unwrap().wants("stream"));
    }

    #[test]
    fn a_part_of_a_run_is_never_written() {
        assert!(parse("--write").is_ok());
        assert!(parse("--write --only send").is_err());
        assert!(parse("--only nothing").is_err());
        assert!(parse("--rounds 0").is_err());
        assert!(parse("--fast").is_err());
    }

    #[test]
    fn the_comparison_with_gemini_is_a_run_of_its_own() {
        assert!(parse("--against-gemini --write --rounds 3").unwrap().against_gemini);
        assert!(parse("--against-gemini --only send").is_err());
        assert!(parse("--against-gemini --callgrind").is_err());
    }
}
