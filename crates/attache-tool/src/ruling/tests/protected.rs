//! Files that decide what runs are asked about, and what the mode confined lets run.

use super::*;
use crate::AccessLevel;

const ALL: &str = "[[rule]]\ndecision = 'allow'\nallowRedirection = true";

#[test]
fn edits_of_protected_files_are_asked_about_whatever_is_allowed() {
    for name in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".gemini/settings.json",
        ".env",
        "GEMINI.md",
        "sub/AGENTS.md",
        ".vscode/tasks.json",
        ".github/workflows/ci.yml",
        ".bashrc",
        // No content is shown, so the scripts may change.
        "package.json",
    ] {
        let path = format!("{ROOT}/{name}");
        for mode in [PolicyMode::Default, PolicyMode::AutoEdit, PolicyMode::Confined] {
            for policy in [Policy::default(), policy(ALL)] {
                let ruling = Call::new("write_file", [write(&path)]).mode(mode).judge(&policy);
                assert_eq!(ruling.decision, Ask, "{name} in {mode:?}: {}", ruling.why);
            }
        }
        let call = Call::new("write_file", [write(&path)]);
        assert_eq!(call.mode(PolicyMode::Yolo).judge(&Policy::default()).decision, Allow, "{name}");
        let call = Call::new("write_file", [write(&path)]);
        assert_eq!(call.mode(PolicyMode::Plan).judge(&Policy::default()).decision, Deny, "{name}");
        let alone =
            Call { interactive: false, ..Call::new("write_file", [write(&path)]).mode(PolicyMode::AutoEdit) };
        assert_eq!(alone.judge(&Policy::default()).decision, Deny, "{name}");
    }
    for name in ["src/main.rs", ".gitignore", ".env.example"] {
        let call = Call::new("write_file", [write(&format!("{ROOT}/{name}"))]).mode(PolicyMode::AutoEdit);
        assert_eq!(call.judge(&Policy::default()).decision, Allow, "{name}");
    }
}

#[test]
fn commands_that_are_seen_to_write_protected_files_are_asked_about() {
    for line in [
        "echo x > .env",
        "echo x >> ./.git/config",
        "cat a > .github/workflows/x.yml",
        "cd sub && echo x > GEMINI.md",
        "echo x > sub/../.bashrc",
        "echo x | tee .env",
        "cp a .git/hooks/pre-commit",
        "rm .gitattributes",
        "sed -i s/a/b/ .npmrc",
    ] {
        check(&Policy::default(), line, PolicyMode::AutoEdit, Ask);
        check(&Policy::default(), line, PolicyMode::Confined, Ask);
        check(&policy(ALL), line, PolicyMode::Default, Ask);
        check(&policy(ALL), line, PolicyMode::Confined, Ask);
        check(&Policy::default(), line, PolicyMode::Yolo, Allow);
    }
    let granted = policy(&format!("{ALL}\naccess = 'work'\nwrites = '{ROOT}/.env'"));
    check(&granted, "echo x > .env", PolicyMode::Default, Allow);
    check(&granted, "echo x > .npmrc", PolicyMode::Default, Ask);
    check(&Policy::default(), "echo x > .env.example", PolicyMode::AutoEdit, Allow);
}

#[test]
fn what_is_asked_about_names_the_protected_files_it_writes() {
    for (line, expected) in [
        ("git remote add x y", &[".git/config"][..]),
        ("git -C sub remote add x y", &["sub/.git/config"]),
        ("cd sub && git remote add x y", &["sub/.git/config"]),
        ("git config a.b c", &[".git/config"]),
        ("git push -u origin x", &[".git/config"]),
        ("git push --set-upstream=x", &[".git/config"]),
        ("git branch -u origin/x", &[".git/config"]),
        ("git branch -d x", &[".git/config"]),
        ("git checkout -b x origin/x", &[".git/config"]),
        ("git checkout -b x", &[]),
        ("git submodule add x", &[".git/config", ".git/modules", ".gitmodules"]),
        ("git init", &[".git"]),
        ("git clone https://a.example/b/c.git", &["c/.git"]),
        ("git clone https://a.example/b/c.git d", &["d/.git"]),
        ("git commit -m x", &[]),
        ("git remote -v && make", &[]),
        ("npm install x", &["package.json"]),
        ("npm install", &[]),
        ("npm ci", &[]),
        ("yarn add x", &["package.json"]),
        ("pnpm remove x", &["package.json"]),
        ("npm run test", &[]),
        ("echo x > .env", &[".env"]),
        ("make > log", &[]),
        ("cp a .vscode/tasks.json", &[".vscode/tasks.json"]),
    ] {
        let ruling = Call::command(line).judge(&Policy::default());
        assert_eq!(ruling.decision, Ask, "{line}");
        let access = ruling.access.unwrap();
        let expected: Vec<PathBuf> = expected.iter().map(|name| Path::new(ROOT).join(name)).collect();
        assert_eq!((access.level, access.writes), (AccessLevel::Work, expected), "{line}");
    }
    // What runs unasked gets none of them.
    let ruling = Call::command("git push -u origin x").judge(&policy(ALL));
    assert_eq!((ruling.decision, ruling.access), (Allow, Some(Access::new(AccessLevel::Work))));
}

#[test]
fn the_mode_confined_runs_what_the_confinement_holds() {
    for (line, expected) in [
        ("make", Allow),
        ("cargo test > log", Allow),
        ("rm -rf target", Allow),
        ("git commit -am x", Allow),
        ("git -c a=b log", Allow),
        ("python3 x.py $y", Allow),
        ("$x", Allow),
        ("echo x > $y", Allow),
        ("echo x > /etc/x", Ask),
        ("echo x > ../../x", Ask),
        ("git remote add x y", Ask),
        ("git config a.b c", Ask),
        ("npm install x", Ask),
    ] {
        check(&Policy::default(), line, PolicyMode::Confined, expected);
    }
    let work = Access::new(AccessLevel::Work);
    assert_eq!(
        Call::command("make").mode(PolicyMode::Confined).judge(&Policy::default()).access,
        Some(work.clone())
    );
    let more = [
        Access { network: vec!["a.example".into()], ..work.clone() },
        Access { writes: vec![format!("{ROOT}/.env").into()], ..work.clone() },
        Access::open(),
    ];
    for access in more {
        for line in ["make", "ls"] {
            let effect = Effect::Run { command: line.into(), directory: ROOT.into(), access: access.clone() };
            let call = Call::new("run_shell_command", [effect]).mode(PolicyMode::Confined);
            let ruling = call.judge(&Policy::default());
            assert_eq!((ruling.decision, ruling.access), (Ask, Some(access.clone())), "{line}");
        }
    }
}

#[test]
fn rules_count_in_the_mode_confined() {
    let rules = policy(
        "[[rule]]\ncommandPrefix = 'curl'\ndecision = 'deny'\n\
         [[rule]]\ncommandPrefix = 'make'\ndecision = 'ask_user'\n\
         [[rule]]\ncommandPrefix = 'npm'\ndecision = 'allow'\nnetwork = 'registry.example'",
    );
    for (line, expected) in [
        ("curl x", Deny),
        ("make", Ask),
        ("cargo test", Allow),
        ("cargo test && make", Ask),
        ("$x", Ask),
        ("npm ci", Allow),
    ] {
        check(&rules, line, PolicyMode::Confined, expected);
    }
    let ruling = Call::command("npm ci").mode(PolicyMode::Confined).judge(&rules);
    assert_eq!(ruling.access.unwrap().network, ["registry.example"]);
    let untrusted = Call { trusted: false, ..Call::command("make").mode(PolicyMode::Confined) };
    assert_eq!(untrusted.judge(&Policy::default()).decision, Ask);
}
