use super::*;
use crate::policy::legacy_rule;

#[test]
fn commands_that_only_look_are_allowed() {
    for line in [
        "ls",
        "ls -la src",
        "cat a b",
        "cat *.rs",
        "grep -rn main src",
        "head -n 5 a | wc -l",
        "echo 'hello there'",
        "pwd",
        "git status",
        "git log --oneline -n 5",
        "git diff --stat main..dev -- src",
        "git show HEAD",
        "git branch -a",
        "git branch --list x",
        "find . -name '*.rs' -type f",
        "find src -name x.rs | head",
        "rg -n main src",
        "sed -n 5p a",
        "sed -n 5,9p a",
        "cd src && ls",
        "cat /w/project/a",
        "base64 a",
        "uniq -c a",
        "timeout 5 ls",
        "cat a 2>/dev/null",
        "ls 2>&1",
        "cat < a",
        "x=1; echo done",
        "for f in a b; do cat a; done",
        "if true; then ls; fi",
        "sh -c 'ls | wc'",
        "/bin/ls",
        "[ -f a ] && cat a",
        "which cargo; uname -a",
        "echo \"it's\" # a note",
        "cat <<'E'\n$(rm x)\nE",
    ] {
        check(&Policy::default(), line, PolicyMode::Default, Allow);
        check(&Policy::default(), line, PolicyMode::AutoEdit, Allow);
        check(&Policy::default(), line, PolicyMode::Plan, Deny);
    }
}

#[test]
fn commands_that_do_or_see_more_are_asked_about() {
    for line in [
        "make",
        "cat /etc/passwd",
        "cat ../../x",
        "cat ~/.ssh/id",
        "cat $HOME/x",
        "ls /",
        "head -c5 /w/other",
        "./ls",
        "cd ..",
        "cd /",
        "cd",
        "cd -",
        "cd src && cat ../../x",
        "git -c a=b status",
        "git -C / log",
        "git diff --output=x",
        "git diff --outp=x",
        "git diff --ext-diff",
        "git log --no-index /etc",
        "git branch x",
        "git branch -D x",
        "git commit",
        "find . -delete",
        "find . -exec cat {} +",
        "find / -name x",
        "find . -fprint x",
        "find *",
        "rg --pre x y",
        "rg -z x",
        "rg -nz x",
        "base64 -o x a",
        "uniq a b",
        "sed -i s/a/b/ a",
        "sed -n '1w x' a",
        "sed 5p a",
        "cat < /etc/passwd",
        "A=1 ls",
        "cat a | tee b",
        "grep -f/etc/passwd a",
        "grep --file=/etc/passwd a",
        "ls & make",
        "echo $(make)",
        "ls `make`",
        "cat <(make)",
        "f() { make; }; f",
        "sudo ls",
        "env make",
        "ls; $x",
        "eval \"ls $x\"",
        "cat $(< /etc/passwd)",
        "wc --files0-from=/etc/x",
        "cat /w/project/../x",
        "cat /w/projects",
    ] {
        check(&Policy::default(), line, PolicyMode::Default, Ask);
        check(&Policy::default(), line, PolicyMode::AutoEdit, Ask);
        check(&Policy::default(), line, PolicyMode::Yolo, Allow);
    }
}

#[test]
fn a_redirection_is_asked_about_unless_it_is_allowed() {
    let plain = policy("[[rule]]\ncommandPrefix = 'make'\ndecision = 'allow'");
    let redirects = policy("[[rule]]\ncommandPrefix = 'make'\ndecision = 'allow'\nallowRedirection = true");
    // plain rule: default, auto_edit, yolo; rule that allows redirection: default
    for (line, expected, redirected) in [
        ("make", [Allow, Allow, Allow], Allow),
        ("make > log", [Ask, Allow, Allow], Allow),
        ("make >> /w/project/log", [Ask, Allow, Allow], Allow),
        ("make > /etc/x", [Ask, Ask, Allow], Allow),
        ("make > ../x", [Ask, Ask, Allow], Allow),
        ("make > $x", [Ask, Ask, Allow], Allow),
        ("make 2>&1", [Allow, Allow, Allow], Allow),
        ("timeout 5 make > log", [Ask, Allow, Allow], Allow),
        ("make && ls > log", [Ask, Allow, Allow], Ask),
        ("cd src && make > ../log", [Ask, Ask, Allow], Allow),
    ] {
        for (mode, expected) in
            [PolicyMode::Default, PolicyMode::AutoEdit, PolicyMode::Yolo].into_iter().zip(expected)
        {
            check(&plain, line, mode, expected);
        }
        check(&redirects, line, PolicyMode::Default, redirected);
    }
}

#[test]
fn dangerous_commands_are_asked_about_even_where_a_rule_allows_them() {
    let all = policy("[[rule]]\ntoolName = 'run_shell_command'\ndecision = 'allow'\nallowRedirection = true");
    for line in [
        "rm -rf x",
        "rm -r -f x",
        "rm x -f",
        "rm --force x",
        "rm --rec x",
        "rm -Rv x",
        "/bin/rm -rf x",
        "sudo rm -rf x",
        "env rm -f x",
        "sh -c 'rm -rf x'",
        "find . -delete",
        "find . -exec cat {} +",
        "rg --pre x y",
        "base64 -o a b",
        "git -c core.pager=x log",
        "git -cfoo=x log",
        "git clean -fdx",
        "git push --force",
        "git push -f",
        "git push o +a",
        "git reset --hard",
        "git $x",
        "git rebase -x make",
        "git submodule foreach make",
        "chmod -R 777 .",
        "dd if=a of=b",
        "mkfs.ext4 /dev/x",
        "git diff --output=x",
        "git fetch --upload-pack=x",
    ] {
        check(&all, line, PolicyMode::Default, Ask);
        check(&all, line, PolicyMode::AutoEdit, Ask);
        check(&all, line, PolicyMode::Yolo, Allow);
    }
    for line in [
        "rm x",
        "git push",
        "git commit -m 'say -f'",
        "git log",
        "find . -name x",
        "rg x",
        "make",
        "chmod +x a",
    ] {
        check(&all, line, PolicyMode::Default, Allow);
    }
}

#[test]
fn rules_are_applied_to_each_piece() {
    let rules = policy(
        "[[rule]]\ncommandPrefix = ['make', 'git push origin']\ndecision = 'allow'\n\
         [[rule]]\ncommandPrefix = 'curl'\ndecision = 'deny'\npriority = 5\ndenyMessage = 'no network'\n\
         [[rule]]\ncommandRegex = 'npm (test|ci)$'\ndecision = 'allow'\n\
         [[rule]]\ncommandPrefix = 'git tag'\ndecision = 'ask_user'\npriority = 9",
    );
    for (line, expected) in [
        ("make", Allow),
        ("make all", Allow),
        ("makes", Ask),
        ("./make", Ask),
        ("make && ls", Allow),
        ("make && cargo", Ask),
        ("git push origin main", Allow),
        ("git push", Ask),
        ("git push $x", Ask),
        ("curl x", Deny),
        ("/usr/bin/curl x", Deny),
        ("make | curl x", Deny),
        ("make $(curl x)", Deny),
        ("env A=1 curl x", Deny),
        ("make; $x; curl y", Deny),
        ("echo curl", Allow),
        ("npm test", Allow),
        ("npm testing", Ask),
        ("xnpm test", Ask),
        ("npm test $x", Ask),
        ("git tag v1", Ask),
    ] {
        check(&rules, line, PolicyMode::Default, expected);
    }
    let ruling = Call::command("make\ncurl x").judge(&rules);
    assert_eq!(
        (ruling.why.as_str(), ruling.deny_message.as_deref()),
        ("rule user.toml:4", Some("no network"))
    );
    check(&rules, "curl x", PolicyMode::Yolo, Deny);
    check(&rules, "$x", PolicyMode::Yolo, Ask);
    check(&rules, "git tag v1", PolicyMode::Yolo, Allow);
    check(&rules, "make", PolicyMode::Plan, Deny);
}

#[test]
fn a_wrapper_can_be_forbidden_by_its_name() {
    let rules = policy(
        "[[rule]]\ntoolName = 'run_shell_command'\ndecision = 'allow'\n[[rule]]\ncommandPrefix = 'bash'\ndecision = 'deny'\npriority = 1",
    );
    check(&rules, "bash -c ls", PolicyMode::Default, Deny);
    check(&rules, "sh -c ls", PolicyMode::Default, Allow);
}

#[test]
fn a_tool_that_is_forbidden_stays_so_when_its_command_cannot_be_read() {
    let forbidden = policy("[[rule]]\ntoolName = 'run_shell_command'\ndecision = 'deny'");
    for line in ["", "# x", "ls", "'", &"a;".repeat(40_000)] {
        check(&forbidden, line, PolicyMode::Default, Deny);
        check(&forbidden, line, PolicyMode::Yolo, Deny);
    }
}

#[test]
fn a_rule_in_the_legacy_form_counts() {
    let rules = Policy::new(vec![
        legacy_rule("ShellTool(git commit)", Allow, PolicyTier::User, "--allowed-tools").unwrap(),
    ]);
    check(&rules, "git commit -m x", PolicyMode::Default, Allow);
    check(&rules, "git commit -m \"$(make)\"", PolicyMode::Default, Ask);
    check(&rules, "git merge", PolicyMode::Default, Ask);
}

#[test]
fn a_command_without_a_name_is_asked_about_whatever_the_rules_allow() {
    let rule = |key: &str, value: &str| {
        let text = format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\n{key} = '{value}'\ndecision = \"allow\"\npriority = 100\n"
        );
        policy(&text)
    };
    let policies = [
        rule("commandPrefix", "a"),
        rule("commandRegex", ".*"),
        rule("commandRegex", " a"),
        rule("commandRegex", "$"),
    ];
    for policy in policies {
        for line in ["|a", "'' a", "''"] {
            check(&policy, line, PolicyMode::Default, Ask);
            check(&policy, line, PolicyMode::AutoEdit, Ask);
        }
    }
}
