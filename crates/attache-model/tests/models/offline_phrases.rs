//! Which calls the offline model makes of what people write.

use attache_model::offline::OfflineModel;
use attache_model::{ModelStreamItem, TurnFinish};
use proptest::prelude::*;
use serde_json::Value;

use crate::world::{answer, conversation, play};

/// All the phrasings ask for the same first calls.
#[track_caller]
fn check(texts: &[&str], expected: &str) {
    for text in texts {
        assert_eq!(play(&OfflineModel, &[text]), [format!("calls: {expected}")], "{text}");
    }
}

/// None of these is understood; the answer comes at once.
#[track_caller]
fn check_unknown(texts: &[&str]) {
    for text in texts {
        let said = play(&OfflineModel, &[text]);
        assert_eq!(said.last().map(String::as_str), Some("completed"), "{text}: {said:?}");
        assert!(said.concat().contains("did not"), "{text}: {said:?}");
    }
}

#[test]
fn the_agent_that_a_message_begins_with_is_asked() {
    check(
        &[
            "@cli_help how do I add a server?",
            "@cli_help: how do I add a server? ",
            "@cli_help,\n how do I add a server?",
        ],
        r#"invoke_agent {"agent_name":"cli_help","prompt":"how do I add a server?"}"#,
    );
    check(&["@a-1_b read x then y"], r#"invoke_agent {"agent_name":"a-1_b","prompt":"read x then y"}"#);
    check_unknown(&[
        "@cli_help",
        "@ what",
        "@src/main.rs what?",
        "@Helper what?",
        "@cli_help.md what?",
        "@cli_help:",
    ]);
}

#[test]
fn folders_are_listed() {
    check(
        &[
            "list files",
            "List files.",
            "LIST ALL FILES!",
            "list",
            "ls",
            "list the files here",
            "show me the files",
            "Please list my files",
            "what files are there?",
            "which files are in this folder",
            "list files and folders",
            "list files in the current directory",
            "list everything in the workspace",
            "hi, list files",
            "can you list files for me?",
            "what's in here?",
            "what is in this folder?",
            "list files in .",
        ],
        r#"list_directory {"dir_path":"."}"#,
    );
    check(
        &[
            "list files in src",
            "list files in `src`",
            "list the files in the folder \"src\".",
            "list all files in the src directory, please",
            "show the contents of src",
            "ls src",
            "list src",
            "list the folder src",
            "what is in src?",
            "what is in the src folder",
            "show me what's in the src directory",
            "what files are there in src?",
            "please show me the files of 'src'",
        ],
        r#"list_directory {"dir_path":"src"}"#,
    );
    check(&["list files in .."], r#"list_directory {"dir_path":".."}"#);
    check(&["list files in 'my stuff'"], r#"list_directory {"dir_path":"my stuff"}"#);
}

#[test]
fn files_are_read() {
    check(
        &[
            "read README.md",
            "Read README.md.",
            "read the file README.md",
            "read the file called README.md",
            "show README.md",
            "show me `README.md`",
            "show me the file README.md, please",
            "open README.md",
            "cat README.md",
            "view 'README.md'",
            "show the contents of README.md",
            "what is in README.md?",
            "what does README.md say?",
            "could you please read “README.md”?",
            "print my README.md file",
        ],
        r#"read_file {"file_path":"README.md"}"#,
    );
    check(&["read notes", "show the file notes"], r#"read_file {"file_path":"notes"}"#);
    check(&["show Makefile"], r#"read_file {"file_path":"Makefile"}"#);
    check(&["read \"my notes.txt\""], r#"read_file {"file_path":"my notes.txt"}"#);
    check(
        &["read lines 3 to 7 of a.rs", "show me lines 3-7 of `a.rs`", "print the lines 3 through 7 in a.rs"],
        r#"read_file {"end_line":7,"file_path":"a.rs","start_line":3}"#,
    );
    check(
        &["show the first 5 lines of a.rs", "read lines 1-5 of a.rs"],
        r#"read_file {"end_line":5,"file_path":"a.rs","start_line":1}"#,
    );
    check(&["read line 4 of a.rs"], r#"read_file {"end_line":4,"file_path":"a.rs","start_line":4}"#);
}

#[test]
fn files_are_found_by_name() {
    check(
        &["find *.rs", "find all *.rs files", "find files named `*.rs`", "locate '*.rs'", "find .rs files"],
        r#"glob {"pattern":"**/*.rs"}"#,
    );
    check(
        &["find main.rs", "find the file main.rs", "where is main.rs?", "find files called main.rs"],
        r#"glob {"pattern":"**/main.rs"}"#,
    );
    check(&["find main", "search for files named main"], r#"glob {"pattern":"**/*main*"}"#);
    check(&["find src/**/*.rs"], r#"glob {"pattern":"src/**/*.rs"}"#);
    check(
        &["find *.md in docs", "find *.md files in the folder docs."],
        r#"glob {"dir_path":"docs","pattern":"**/*.md"}"#,
    );
    check(&["find all files", "find everything."], r#"glob {"pattern":"**/*"}"#);
}

#[test]
fn text_is_searched() {
    check(
        &[
            "search for milk",
            "Search for \"milk\".",
            "grep milk",
            "grep for `milk`",
            "look for the word milk",
            "search milk in all files",
            "search the code for milk",
            "search my files for \"milk\"",
            "find the text milk",
            "find lines containing milk",
            "which files contain milk?",
            "where is milk mentioned?",
            "search for milk in the project",
        ],
        r#"grep_search {"fixed_strings":true,"pattern":"milk"}"#,
    );
    check(
        &[
            "search for milk in src",
            "grep 'milk' in the folder src",
            "search src for milk",
            "look in src for milk",
        ],
        r#"grep_search {"dir_path":"src","fixed_strings":true,"pattern":"milk"}"#,
    );
    check(
        &["search for fn main() in a.rs"],
        r#"grep_search {"dir_path":"a.rs","fixed_strings":true,"pattern":"fn main()"}"#,
    );
    check(
        &["search for bread and butter"],
        r#"grep_search {"fixed_strings":true,"pattern":"bread and butter"}"#,
    );
    check(&["grep 'a in b'"], r#"grep_search {"fixed_strings":true,"pattern":"a in b"}"#);
}

#[test]
fn files_are_written() {
    check(
        &[
            "create notes.txt with Buy milk",
            "write notes.txt with \"Buy milk\"",
            "Create a file called notes.txt with Buy milk",
            "create a new file named `notes.txt` containing `Buy milk`",
            "write notes.txt: Buy milk",
            "create notes.txt with the text: Buy milk",
            "create notes.txt with content Buy milk",
            "create a file called notes.txt and write Buy milk in it",
            "create notes.txt with the text 'Buy milk'",
            "make the file notes.txt, with Buy milk",
            "write Buy milk to notes.txt",
            "write 'Buy milk' into the file notes.txt.",
            "save \"Buy milk\" as notes.txt",
            "put Buy milk in notes.txt",
            "please create notes.txt that says Buy milk",
            "create notes.txt with:\nBuy milk",
            "create notes.txt with the following content:\n\n```\nBuy milk\n```\n",
            "write notes.txt\n```text\nBuy milk\n```",
        ],
        r#"write_file {"content":"Buy milk\n","file_path":"notes.txt"}"#,
    );
    check(
        &[
            "write a.py:\nif x:\n    run y\n\nread z",
            "write a.py:\r\nif x:\r\n    run y\r\n\r\nread z\r\n",
            "create the file a.py with this content:\n```python\nif x:\n    run y\n\nread z\n```",
        ],
        r#"write_file {"content":"if x:\n    run y\n\nread z\n","file_path":"a.py"}"#,
    );
    check(
        &["write todo.txt:\n1. milk then bread\n2. list files"],
        r#"write_file {"content":"1. milk then bread\n2. list files\n","file_path":"todo.txt"}"#,
    );
    check(
        &["create a.txt with bread and read more books"],
        r#"write_file {"content":"bread and read more books\n","file_path":"a.txt"}"#,
    );
}

#[test]
fn files_are_edited() {
    let expected = r#"replace {"file_path":"notes.txt","instruction":"Replace \"milk\" with \"bread\", as the user asked.","new_string":"bread","old_string":"milk"}"#;
    check(
        &[
            "replace milk with bread in notes.txt",
            "Replace \"milk\" by 'bread' in `notes.txt`.",
            "change milk to bread in notes.txt",
            "change the word milk into bread in the file notes.txt",
            "replace milk to bread in notes.txt",
            "change milk with bread in notes.txt",
            "substitute milk with bread in notes.txt",
            "rename milk to bread in notes.txt",
            "in notes.txt, replace milk with bread",
            "in notes.txt change 'milk' to 'bread'",
            "edit notes.txt: replace milk by bread",
        ],
        expected,
    );
    check(
        &[
            "replace all milk with bread in notes.txt",
            "change every occurrence of milk to bread in notes.txt",
        ],
        &expected.replace(r#"{"file"#, r#"{"allow_multiple":true,"file"#),
    );
    let texts = |text: &str| {
        let items = answer(&OfflineModel, conversation(&[text]));
        let Some(ModelStreamItem::Finish(TurnFinish::Calls(calls))) = items.last() else {
            panic!("{items:?}")
        };
        let input = &calls[0].input;
        format!("{}|{}", input["old_string"].as_str().unwrap(), input["new_string"].as_str().unwrap())
    };
    assert_eq!(texts("replace go to with come to in a.txt"), "go to|come to");
    assert_eq!(texts("change a to b in c in a.txt"), "a|b in c");
    assert_eq!(texts("replace 'a with b' with 'c in d' in a.txt"), "a with b|c in d");
    assert_eq!(texts("replace \"a\nb\" with \"c\nd\" in a.txt"), "a\nb|c\nd");
    assert_eq!(texts("replace ' ' with '_' in a.txt"), " |_");
}

#[test]
fn appending_begins_with_reading() {
    check(
        &[
            "append Call mum to notes.txt",
            "append the line Call mum to notes.txt",
            "add 'Call mum' to the end of notes.txt",
            "add the line \"Call mum\" to the file notes.txt.",
            "append to notes.txt: Call mum",
            "append to notes.txt:\nCall mum",
        ],
        r#"read_file {"file_path":"notes.txt"}"#,
    );
}

#[test]
fn commands_are_run() {
    let run = |command: &str| {
        format!(
            r#"run_shell_command {{"command":{command:?},"description":"Run the command that the user asked for"}}"#
        )
    };
    check(
        &[
            "run cargo test",
            "Run `cargo test`",
            "run `cargo test`",
            "execute 'cargo test'",
            "run the command cargo test",
            "run this shell command: `cargo test`",
            "please run: cargo test",
            "Run cargo test.",
            "Run `cargo test`.",
            "run\n```sh\ncargo test\n```",
        ],
        &run("cargo test"),
    );
    check(&["run ls ."], &run("ls ."));
    check(&["run git status and list files"], &run("git status"));
    check(
        &["run `ls` in src", "run the command `ls` in the folder src."],
        &run("ls").replace(r#"user asked for""#, r#"user asked for","dir_path":"src""#),
    );
    check(&["run `echo a.`"], &run("echo a."));
    check(&["run \"my program\" --flag"], &run(r#""my program" --flag"#));
    check(&["run echo 'a and b' and c"], &run("echo 'a and b' and c"));
    check(&["run if true; then echo yes; fi"], &run("if true; then echo yes; fi"));
    check(&["run:\n```\na\nb\n```"], &run("a\nb"));
}

#[test]
fn looking_is_done_together() {
    let both = r#"read_file {"file_path":"a.txt"} + read_file {"file_path":"b.txt"}"#;
    check(
        &[
            "read a.txt and b.txt",
            "read a.txt and read b.txt",
            "show me a.txt and b.txt.",
            "read `a.txt` and `b.txt`",
            "read a.txt, b.txt",
            "please read a.txt, and show b.txt",
        ],
        both,
    );
    check(&["read a.txt, b.txt and c.txt"], &format!(r#"{both} + read_file {{"file_path":"c.txt"}}"#));
    check(
        &["list files and read a.txt and b.txt"],
        &format!(r#"list_directory {{"dir_path":"."}} + {both}"#),
    );
    check(
        &["list files in src and tests"],
        r#"list_directory {"dir_path":"src"} + list_directory {"dir_path":"tests"}"#,
    );
    check(&["find *.rs and *.toml"], r#"glob {"pattern":"**/*.rs"} + glob {"pattern":"**/*.toml"}"#);
    check(
        &["search for milk and list files"],
        r#"grep_search {"fixed_strings":true,"pattern":"milk"} + list_directory {"dir_path":"."}"#,
    );
}

#[test]
fn other_texts_make_no_calls() {
    check_unknown(&[
        "write me a compiler",
        "read me a story about whales",
        "show me your best side",
        "open the door",
        "print hello",
        "create a website with love",
        "create notes.txt",
        "write notes.txt with ''",
        "add salt to soup",
        "replace milk with bread",
        "replace '' with bread in a.txt",
        "append something",
        "add a line to notes.txt",
        "read a.txt and count words in it",
        "list files then reverse it",
        "run the tests",
        "run it",
        "run ``",
        "run `ls` twice",
        "run cargo build\nplease be quick",
        "search",
        "grep -r foo",
        "read it",
        "read -n",
        "read lines 7 to 3 of a.rs",
        "read line 0 of a.rs",
        "listen to me",
        "ask me something then list files",
        "1. list files\n2. sing a song",
    ]);
}

#[test]
fn a_near_miss_is_answered_with_an_example() {
    let said = |text: &str| play(&OfflineModel, &[text]).concat().replace("text ", "");
    assert!(said("please create notes.txt").contains("looks like this: create notes.txt with Buy milk"));
    assert!(said("run the tests").contains("looks like this: run `cargo test`"));
    assert!(!said("xyzzy").contains("looks like this"));
    let list = said("1. list files\n2. replace a with b\n");
    assert!(
        list.starts_with("I did not understand this part of your list, so I did nothing: `replace a with b`")
    );
    assert!(list.contains("looks like this: replace milk with bread in notes.txt"));
}

#[test]
fn requests_without_tools_are_answered_as_before() {
    for text in [
        "echo list files",
        "say read a.txt then b.txt",
        "add 3 to 4",
        "count lines in:\nlist files",
        "sort read, list",
    ] {
        assert_eq!(play(&OfflineModel, &[text]).last().map(String::as_str), Some("completed"), "{text}");
    }
    assert!(play(&OfflineModel, &["hello there"])[0].contains("Hello!"));
    let both = play(&OfflineModel, &["hello\nlist files"]);
    assert!(
        both[0].contains("Hello!") && both.concat().ends_with(r#"list_directory {"dir_path":"."}"#),
        "{both:?}"
    );
}

const WORDS: &[&str] = &[
    "list", "files", "read", "show", "find", "search", "for", "in", "write", "create", "with", "to",
    "replace", "by", "append", "run", "then", "and", "the", "file", "a.txt", "src", "it", "lines", "1", "-",
    "of", "all", "named", "hi", "\n", ":", ":\n", "```", "`", "'", "\"", "“", "”", ",", ".", "?", "1. ",
    "- ", "ä", "*", "please", "  ", "\r\n",
];

fn made_of_words() -> impl Strategy<Value = String> {
    let word =
        prop_oneof![5 => proptest::sample::select(WORDS).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(word, 0..16).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_a_call_with_nothing_in_it(text in made_of_words()) {
        let items = answer(&OfflineModel, conversation(&[&text]));
        let Some(ModelStreamItem::Finish(finish)) = items.last() else { panic!("no finish") };
        let TurnFinish::Calls(calls) = finish else { return Ok(()) };
        prop_assert!(!calls.is_empty());
        for call in calls {
            prop_assert!(!call.input.is_empty());
            for (key, value) in &call.input {
                prop_assert!(!matches!(value, Value::String(text) if text.is_empty()), "{key} of {call:?}");
                prop_assert!(!value.is_null());
            }
        }
    }
}
