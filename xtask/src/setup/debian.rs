//! Programs that come as Debian packages.

use std::process::Command;

use crate::process;

/// A program, how to see that it is there, and the package that brings it.
struct Program {
    package: &'static str,
    name: &'static str,
    probe: &'static [&'static str],
}

const PROGRAMS: &[Program] = &[
    Program { package: "python3", name: "python3", probe: &["--version"] },
    // Debian's python3 has `venv` without the `ensurepip` it needs.
    Program { package: "python3-venv", name: "python3", probe: &["-c", "import venv, ensurepip"] },
    Program { package: "nodejs", name: "node", probe: &["--version"] },
    Program { package: "npm", name: "npm", probe: &["--version"] },
    // Used to watch the processes that a hostile repository starts.
    // Commands in a sandbox must find it outside of home folders.
    Program { package: "python3", name: "/usr/bin/python3", probe: &["--version"] },
    Program { package: "git", name: "git", probe: &["--version"] },
    Program { package: "curl", name: "curl", probe: &["--version"] },
    Program { package: "strace", name: "strace", probe: &["-V"] },
    // Makes the certificates of tests.
    Program { package: "openssl", name: "openssl", probe: &["version"] },
    // The benchmark compares searches with it.
    Program { package: "ripgrep", name: "rg", probe: &["--version"] },
];

/// Installs the packages of the programs that are missing; asks nothing.
pub(super) fn provide() -> Result<(), String> {
    let packages = missing(PROGRAMS);
    if packages.is_empty() {
        return Ok(());
    }
    println!("installing Debian packages: {}", packages.join(", "));
    let root = process::stdout_of(Command::new("id").arg("-u"))?.trim() == "0";
    process::succeed(&mut apt_get(root, &["update"]))
        .and_then(|()| {
            process::succeed(apt_get(root, &["install", "--no-install-recommends"]).args(&packages))
        })
        .map_err(|message| format!("{message}\n\nhint: run `apt-get install {}` as root", packages.join(" ")))
}

fn missing(programs: &[Program]) -> Vec<&'static str> {
    let absent = programs.iter().filter(|program| !process::works(program.name, program.probe));
    absent.map(|program| program.package).collect()
}

fn apt_get(root: bool, arguments: &[&str]) -> Command {
    let mut command = if root { Command::new("env") } else { Command::new("sudo") };
    if !root {
        // Fails instead of asking for a password; `env`, because sudo drops our variables.
        command.args(["-n", "env"]);
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "--quiet"]).args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_of_missing_programs_are_asked_for() {
        let present = Program { package: "dash", name: "sh", probe: &["-c", "true"] };
        let broken = Program { package: "half-there", name: "sh", probe: &["-c", "false"] };
        let absent = Program { package: "not-there", name: "attache-no-such-program", probe: &[] };
        assert_eq!(missing(&[present, broken, absent]), ["half-there", "not-there"]);
    }

    #[test]
    fn no_password_is_requested() {
        assert_eq!(
            process::line(&apt_get(false, &["update"])),
            "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get --yes --quiet update"
        );
        assert!(
            process::line(&apt_get(true, &["update"]))
                .starts_with("env DEBIAN_FRONTEND=noninteractive apt-get")
        );
    }
}
