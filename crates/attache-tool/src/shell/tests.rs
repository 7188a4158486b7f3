use super::*;

/// The segments as text, wrappers in angle brackets.
fn shown(parsed: &ParsedCommand) -> Vec<String> {
    let show = |segment: &Segment| match segment.role {
        SegmentRole::Program => segment.text(),
        SegmentRole::Wrapper => format!("<{}>", segment.text()),
    };
    parsed.segments.iter().map(show).collect()
}

#[track_caller]
fn sure(line: &str, expected: &[&str]) {
    let parsed = parse(line);
    assert_eq!(
        (shown(&parsed), parsed.sure),
        (expected.iter().map(|it| (*it).to_owned()).collect(), true),
        "{line:?}"
    );
}

#[track_caller]
fn unsure(line: &str) {
    assert!(!parse(line).sure, "{line:?} was taken for {:?}", shown(&parse(line)));
}

#[test]
fn commands_are_found_at_any_depth() {
    for (line, expected) in [
        ("ls", &["ls"][..]),
        ("  ls -l  ", &["ls -l"]),
        ("a; b && c || d | e |& f", &["a", "b", "c", "d", "e", "f"]),
        ("a\nb\n\nc", &["a", "b", "c"]),
        ("a & b &", &["a", "b"]),
        ("(a; b)", &["a", "b"]),
        ("{ a; b; }", &["a", "b"]),
        ("! a", &["a"]),
        ("a $(b $(c))", &["a $?", "b $?", "c"]),
        ("a `b c`", &["a $?", "b c"]),
        ("a \"x $(b) y\"", &["a $?", "b"]),
        ("a <(b) >(c)", &["a $? $?", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("for x in 1 2 $(a); do b; done", &["a", "b"]),
        ("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
        ("case x in a) b;; c|d) e;; esac", &["b", "e"]),
        ("f() { a; }; f", &["a", "f"]),
        ("function f { a; }", &["a"]),
        ("x=$(a) b", &["b", "a"]),
        ("a # b; c", &["a"]),
        ("a \\\n  b", &["a b"]),
        ("a << E\n$(b) c\nE\nd", &["a", "b", "d"]),
        ("a <<'E'\n$(b)\nE\nd", &["a", "d"]),
        ("a <<-E | b\n\tx\n\tE\nc", &["a", "b", "c"]),
        ("a <<E && b\nx\nE", &["a", "b"]),
        ("a -m \"$(cat <<'E'\nit's (odd) `b`\nE\n)\"", &["a -m $?", "cat"]),
        ("a <<< \"$(b)\"", &["a", "b"]),
        ("a $(< file)", &["a $?", ""]),
        ("[ -f x ] && a", &["[", "a"]),
        ("[[ -f x && -d y ]] || a", &["[", "a"]),
        ("a > f b", &["a b"]),
        ("> f a", &["a"]),
        ("", &[]),
        ("# nothing", &[]),
    ] {
        sure(line, expected);
    }
}

#[test]
fn quotes_are_taken_off() {
    for (line, expected) in [
        ("'ev'\"il\"", "evil"),
        ("e\\vil", "evil"),
        ("\\evil", "evil"),
        ("$'\\x65vil'", "evil"),
        ("$'\\145vil'", "evil"),
        ("$'e\\u0076il'", "evil"),
        ("\"ev\\\nil\"", "evil"),
        ("''evil''", "evil"),
        ("a 'b c' \"d e\" f\\ g", "a b c d e f g"),
        ("a \"\\$x \\`y\\` \\q\"", "a $x `y` \\q"),
        ("a $", "a $"),
        ("a 'x;y' \"z|w\"", "a x;y z|w"),
        ("a *.rs", "a *.rs"),
        ("a 100% x=y", "a 100% x=y"),
    ] {
        sure(line, &[expected]);
    }
}

#[test]
fn wrappers_are_looked_through() {
    for (line, expected) in [
        ("env A=1 b c", &["<env A=1 b c>", "b c"][..]),
        ("env -i -u X b", &["<env -i -u X b>", "b"]),
        ("nice -n 5 b", &["<nice -n 5 b>", "b"]),
        ("nohup b &", &["<nohup b>", "b"]),
        ("timeout -k 1 5s b", &["<timeout -k 1 5s b>", "b"]),
        ("time -p b", &["<time -p b>", "b"]),
        ("command b", &["<command b>", "b"]),
        ("command -v b", &["command -v b"]),
        ("exec b", &["<exec b>", "b"]),
        ("sudo -u me b", &["sudo -u me b", "b"]),
        ("a | xargs -0 -n 1 b c", &["a", "<xargs -0 -n 1 b c>", "b c $?"]),
        ("a | xargs -I {} b {} c", &["a", "<xargs -I {} b {} c>", "b $? c $?"]),
        ("sh -c 'b; c'", &["<sh -c b; c>", "b", "c"]),
        ("bash -lc \"b 'c d'\"", &["<bash -lc b 'c d'>", "b c d"]),
        ("/bin/bash -eu -o pipefail -c b", &["</bin/bash -eu -o pipefail -c b>", "b"]),
        ("eval b 'c;' d", &["<eval b c; d>", "b c", "d"]),
        ("sh -c \"sh -c 'b'\"", &["<sh -c sh -c 'b'>", "<sh -c b>", "b"]),
        ("env nice timeout 1 b", &["<env nice timeout 1 b>", "<nice timeout 1 b>", "<timeout 1 b>", "b"]),
        ("find . -name x -exec b {} \\;", &["find . -name x -exec b {} ;", "b $?"]),
        ("trap 'b' EXIT", &["trap b EXIT", "b"]),
        ("bash run.sh", &["bash run.sh"]),
    ] {
        sure(line, expected);
    }
}

#[test]
fn what_is_not_understood_is_said_to_be() {
    for line in [
        "$x",
        "\"$x\" y",
        "$(a) b",
        "`a`",
        "e*l",
        "/bin/e?il",
        "{a,b}",
        "time {\n{a,}\n}",
        "~/a",
        "a$IFS",
        "a ${IFS}b",
        "$'\\q'",
        "a (",
        "a )",
        "if a",
        "'a",
        "\"a",
        "a <<E",
        "coproc a",
        "alias a=b",
        "shopt -s expand_aliases",
        "source x",
        ". x",
        "env -S 'a b'",
        "env $x",
        "nice $x a",
        "timeout $x a",
        "sudo -s",
        "sudo -i",
        "xargs -I% %",
        "xargs sh -c",
        "a | sh",
        "sh",
        "bash -s",
        "bash -i -c a",
        "sh -c \"$x\"",
        "sh -c $x",
        "eval $x",
        "eval \"a $x\"",
        "watch a",
        "busybox sh",
        "PATH=. a",
        "LD_PRELOAD=x a",
        "GIT_PAGER=x git log",
        "env PAGER=x git log",
        "export PATH=.",
        "declare -n a=b",
        "let x",
        "x='a[$(evil)]'; a",
        "printf -v 'a[$(evil)]' x",
        "a $((x))",
        "a ${x:y}",
        "a ${!x}",
        "a ${x@P}",
        "a ${y[x]}",
        "((x))",
        "for ((;;)); do a; done",
        "[[ x -eq 1 ]]",
        "test -v 'a[`b`]'",
        "a\\\nb",
        "a < /dev/tcp/h/80",
        "a <<E\n`b`\nE",
        "a $\"b\"",
        "a\rb",
        "a\u{0}b",
        "a `b \\`c\\``",
        "find . $x",
        "find -exec {} \\;",
        "fd -x a",
        "$\nA=1 b",
        "[ a && b ]",
        "[ a\nb ]",
        "a[$(b)]=1",
        "a $[1]",
        "$'a\\\\' ; b ' c'",
        "\\ a",
        "trap \"$x\" EXIT",
        "a # b\\\n; $c",
    ] {
        unsure(line);
    }
}

#[test]
fn nothing_is_so_long_or_deep_that_it_is_not_bounded() {
    unsure(&"a;".repeat(MAX_BYTES));
    unsure(&format!("a {}", "$(".repeat(5_000)));
    unsure(&format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000)));
    unsure(&format!("{}a{}", "{ ".repeat(2_000), "; }".repeat(2_000)));
    unsure(&format!("a {}b{}", "$(a ".repeat(300), ")".repeat(300)));
    unsure(&format!("{}a", "eval ".repeat(500)));
    unsure(&format!("{}a", "nice ".repeat(500)));
    unsure(&"a;".repeat(2_000));
    for piece in
        ["`", "$(", "\"$(", "${x:-", "$((", "case x in x) ", "if a; then ", "a|", "[[ ", "a<<E;", "a && "]
    {
        unsure(&piece.repeat(MAX_BYTES / piece.len() - 1));
    }
}

#[test]
fn redirections_say_whether_they_write() {
    for (line, expected) in [
        ("a > f", &[(true, "f")][..]),
        ("a >> f", &[(true, "f")]),
        ("a &> f", &[(true, "f")]),
        ("a >| f", &[(true, "f")]),
        ("a < f", &[(false, "f")]),
        ("a 2>&1", &[]),
        ("a 2>/dev/null", &[]),
        ("a >& f", &[(true, "f")]),
        ("a < f > g", &[(false, "f"), (true, "g")]),
        ("(a; b) > f", &[(true, "f"), (true, "f")]),
        ("> f", &[(true, "f")]),
        ("cat <<E > f\nx\nE", &[(true, "f")]),
        ("a | b > f", &[(true, "f")]),
        ("a && b | c > f", &[(true, "f")]),
        ("a > f | b", &[(true, "f")]),
        ("a $(b) && (c; d) > f", &[(true, "f"), (true, "f")]),
    ] {
        let parsed = parse(line);
        let found: Vec<_> = parsed
            .segments
            .iter()
            .flat_map(|segment| &segment.redirections)
            .map(|redirection| (redirection.write, redirection.target.text().unwrap_or("$?")))
            .collect();
        assert!(parsed.sure, "{line:?}");
        assert_eq!(found, expected, "{line:?}");
    }
}

#[test]
fn assignments_and_the_background_are_noted() {
    let parsed = parse("A=1 B='x y' c & d");
    let [first, second] = &parsed.segments[..] else { panic!("{parsed:?}") };
    assert!(parsed.sure && first.background && !second.background);
    let value = |text: &str| ShellWord::Text(text.to_owned());
    assert_eq!(
        first.assignments,
        [
            Assignment { name: "A".into(), value: value("1") },
            Assignment { name: "B".into(), value: value("x y") }
        ]
    );
}

#[test]
fn each_program_is_named_once() {
    assert_eq!(
        roots(&parse("cd x && git add . && git commit -m y | env tee z; sudo rm q")),
        ["cd", "git", "tee", "sudo", "rm"]
    );
}

#[test]
fn a_program_without_a_name_is_shown_nowhere_and_never_understood() {
    for line in ["|a", "''", "'' a", "\"\" && a", "&& a", "; a", "a | | b", "$'' x"] {
        unsure(line);
        assert!(roots(&parse(line)).iter().all(|root| !root.is_empty()), "{line:?}");
    }
}

#[test]
fn letters_beyond_the_grammar_s_table_are_letters() {
    // The grammar's scanner crashed on these, now and then, depending on what lay behind its table.
    for letter in ['\u{104a77}', '\u{10ffff}', '\u{e000}', 'é', '日', '\u{a0}', '\u{3000}'] {
        for line in [
            format!("{letter}"),
            format!("${letter}"),
            format!("a={letter} b"),
            format!("[[ {letter} ]]"),
            format!("${{a{letter}"),
            format!("cat <<{letter}\n{letter}\n"),
            format!("a@({letter})"),
            format!("-{letter} +{letter} {letter}["),
        ] {
            for times in [1, 7] {
                let line = line.repeat(times);
                assert_eq!(parse(&line), parse(&line), "{line:?}");
            }
        }
    }
    assert_eq!(roots(&parse("echo é日 | größe 'ü'")), ["echo", "größe"]);
    assert!(parse("echo é日 | größe 'ü'").sure);
}

#[test]
fn a_name_that_cannot_be_assigned_to_is_not_looked_past() {
    unsure("é=1 git status");
    unsure("日=1");
    unsure("1=2 ls");
    unsure("0x=2 git status");
}
