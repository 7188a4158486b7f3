//! A prompt that is a command.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::{Run, calls, says};

#[tokio::test]
async fn a_command_is_carried_out_and_the_model_is_not_asked() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let mut run = Run::with(&model, &["-p", "/memory show"]);
    fs::write(run.file("GEMINI.md"), "Tabs, not spaces.\n").unwrap();
    let ended = run.end().await;
    assert_eq!((ended.err.as_str(), ended.code), ("", Some(0)));
    assert!(ended.out.starts_with("The memory, from 1 file:\n\n"), "{}", ended.out);
    assert!(ended.out.contains("Tabs, not spaces."), "{}", ended.out);
    assert!(model.received().is_empty());
}

#[tokio::test]
async fn a_command_needs_no_model_and_is_told_in_every_format() {
    let ended = Run::offline(&["/model", "list"]).end().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.starts_with("Model: offline\n"), "{}", ended.out);
    let ended = Run::offline(&["-p", "/memory list", "-o", "json"]).end().await;
    let document = ended.json();
    assert_eq!(document["response"], "There are no context files.");
    assert_eq!((&document["stats"]["models"], &document["error"]), (&json!({}), &Value::Null));
    let ended = Run::offline(&["-p", "/memory list", "-o", "stream-json"]).end().await;
    let lines = ended.lines();
    let types: Vec<_> = lines.iter().map(|line| line["type"].clone()).collect();
    assert_eq!(types, ["init", "message", "message", "result"], "{lines:#?}");
    assert_eq!(lines[1]["content"], "/memory list");
    assert_eq!(
        (&lines[2]["role"], &lines[2]["content"]),
        (&json!("assistant"), &json!("There are no context files."))
    );
    assert_eq!(lines[3]["status"], "success");
}

#[tokio::test]
async fn a_command_that_fails_ends_with_1() {
    for (line, part) in [
        ("/memory add", "usage: /memory add <text>"),
        ("/stats now", "it takes no arguments"),
        ("/model set openai:gpt-4o", "OPENAI_API_KEY"),
    ] {
        let ended = Run::offline(&["-p", line]).end().await;
        assert_eq!((ended.out.as_str(), ended.code), ("", Some(1)), "{line}: {}", ended.err);
        assert!(ended.err.starts_with("[ERROR] ") && ended.err.contains(part), "{line}: {}", ended.err);
        let document = Run::offline(&["-p", line, "-o", "json"]).end().await.json();
        assert_eq!(document["error"]["code"], 1, "{line}: {document:#}");
    }
}

#[tokio::test]
async fn what_is_no_command_is_said_to_the_model() {
    for line in ["/etc/hosts is empty, why?", "// what is this?"] {
        let model = ModelServer::with_responses([says("I see.")]);
        let ended = Run::with(&model, &["-p", line]).end().await;
        assert_eq!((ended.out.as_str(), ended.code), ("I see.\n", Some(0)), "{line}: {}", ended.err);
        assert!(model.received()[0].json()["contents"].to_string().contains(line));
    }
    let model = ModelServer::with_responses([says("I see.")]);
    let ended = Run::with(&model, &["-p", "Explain"]).piped("/memory show").end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("I see.\n", Some(0)), "words follow: {}", ended.err);
    let ended = Run::offline(&[]).piped("/memory list\n").end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("There are no context files.\n", Some(0)), "{}", ended.err);
}

#[tokio::test]
async fn a_mistyped_slash_command_is_refused_with_what_was_meant() {
    for line in ["/memry", "/memry show"] {
        let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
        let ended = Run::with(&model, &["-p", line]).end().await;
        assert_eq!((ended.out.as_str(), ended.code), ("", Some(2)), "{line}: {}", ended.err);
        assert!(ended.err.contains("`/memry`") && ended.err.contains("`/memory`"), "{}", ended.err);
        assert!(model.received().is_empty());
    }
    let ended = Run::offline(&["-p", "/nonsense at all", "-o", "json"]).end().await;
    assert_eq!((&ended.json()["error"]["code"], ended.code), (&json!(2), Some(2)));
    let model = ModelServer::with_responses([says("I see.")]);
    let ended = Run::with(&model, &[]).piped("/nonsense at all").end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("I see.\n", Some(0)), "piped text is text: {}", ended.err);
}

#[tokio::test]
async fn no_person_can_agree_so_what_needs_that_is_denied() {
    // What later conversations are told decides what they do, so being free to edit is not enough.
    for mode in ["default", "auto_edit"] {
        let mut run = Run::offline(&["-p", "/memory add tabs", "--approval-mode", mode]);
        let ended = run.end().await;
        assert_eq!((ended.out.as_str(), ended.code), ("", Some(1)), "{}", ended.err);
        assert!(ended.err.contains("[ERROR] Nothing was remembered: "), "{}", ended.err);
        assert!(ended.err.starts_with("[WARNING] save_memory (tabs) was denied"), "{}", ended.err);
        assert!(ended.err.contains("; --yolo would allow it"), "{}", ended.err);
        assert!(!run.file("GEMINI.md").exists());
    }
    let mut run = Run::offline(&["-p", "/memory add tabs", "--approval-mode", "yolo", "-o", "json"]);
    let document = run.end().await.json();
    assert_eq!(document["response"], "Remembered: tabs");
    assert_eq!(document["stats"]["models"], json!({}), "a command costs no tokens: {document:#}");
    assert_eq!(document["stats"]["tools"]["byName"]["save_memory"]["success"], 1, "{document:#}");
    assert!(fs::read_to_string(run.file("GEMINI.md")).unwrap().contains("- tabs"));
}

#[tokio::test]
async fn a_prompt_that_lacks_what_is_denied_is_not_put() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let mut run = Run::with(&model, &["-p", "/look"]);
    fs::create_dir_all(run.file(".gemini/commands")).unwrap();
    fs::write(run.file(".gemini/commands/look.toml"), "prompt = \"See: !{touch made}\"\n").unwrap();
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("", Some(1)), "{}", ended.err);
    assert!(ended.err.contains("run_shell_command is not allowed: "), "{}", ended.err);
    assert!(!run.file("made").exists() && model.received().is_empty());
}

#[tokio::test]
async fn a_command_that_asks_the_model_prints_its_answer() {
    let write = calls("write_file", json!({"file_path": "GEMINI.md", "content": "Greets.\n"}));
    let model = ModelServer::with_responses([write, says("I wrote it down.")]);
    let mut run = Run::with(&model, &["-p", "/init", "--approval-mode", "yolo"]);
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("I wrote it down.\n", Some(0)), "{}", ended.err);
    assert_eq!(fs::read_to_string(run.file("GEMINI.md")).unwrap(), "Greets.\n");
}
