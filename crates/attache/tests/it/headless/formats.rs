//! What is asked and what is printed.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse, ResponseEnd, gemini, openai};
use serde_json::{Value, json};

use super::{Run, calls, says};

/// The last thing that the model was told.
fn prompt(model: &ModelServer) -> Value {
    let body = model.received()[0].json();
    let last = body["contents"].as_array().unwrap().last().unwrap();
    last["parts"].as_array().unwrap().last().unwrap()["text"].clone()
}

#[tokio::test]
async fn text_is_the_answer_and_nothing_else() {
    let model = ModelServer::with_responses([says("All is \u{1b}[31mwell\u{1b}[0m.")]);
    let ended = Run::with(&model, &["-p", "How are you?"]).piped("I am here.").end().await;
    let shown = "All is \\u{1b}[31mwell\\u{1b}[0m.\n";
    assert_eq!((ended.out.as_str(), ended.err.as_str(), ended.code), (shown, "", Some(0)));
    assert_eq!(prompt(&model), "I am here.\n\nHow are you?", "piped text stands before the prompt");
}

#[tokio::test]
async fn several_words_are_a_prompt_and_a_mistyped_command_is_none() {
    for (arguments, words) in [
        (&["serv"][..], "did you mean `attache serve`?"),
        (&["explain"], "attache -p \"explain\""),
        (&["-m", "offline", "serv"], "there is no command `serv`"),
    ] {
        let ended = Run::offline(arguments).end().await;
        assert_eq!((ended.out.as_str(), ended.code), ("", Some(2)), "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(words), "{arguments:?}: {}", ended.err);
    }
    for (arguments, answer) in
        [(&["reverse abc"][..], "cba\n"), (&["what", "is", "12", "*", "7"], "That is 84.\n")]
    {
        let ended = Run::offline(arguments).end().await;
        assert_eq!((ended.out.as_str(), ended.code), (answer, Some(0)), "{}", ended.err);
    }
    let ended = Run::offline(&["-p", "hello"]).end().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[tokio::test]
async fn the_window_of_a_model_of_ones_own_is_what_the_settings_say() {
    let answer =
        |text: &str| openai::answer([openai::chunk().text(text).finish("stop"), openai::usage(7, 12)]);
    // Too long for a window of 2,000 tokens, and far from too long for any other: the model is asked about a part of it.
    let long = "All work and no play makes Jack a dull boy. ".repeat(400);
    for (window, fits) in [(Some("2000"), false), (None, true)] {
        let model = ModelServer::with_handler(move |_| answer("Fine."));
        let mut run = Run::offline(&["-p", "Summarise this", "--model", "openai:local"]).piped(&long);
        run.command.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        run.command.envs(window.map(|window| ("ATTACHE_CONTEXT_WINDOW", window)));
        let ended = run.end().await;
        assert_eq!(ended.code == Some(0), fits, "{window:?}: {}{}", ended.out, ended.err);
    }
    let mut run = Run::offline(&["-p", "hi there"]);
    run.command.env("ATTACHE_CONTEXT_WINDOW", "many");
    let ended = run.end().await;
    assert_eq!(ended.code, Some(52));
    assert!(
        ended.err.contains("ATTACHE_CONTEXT_WINDOW") && ended.err.contains("a number of tokens"),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn piped_text_is_a_prompt_and_a_pipe_without_a_writer_is_not_waited_for() {
    let ended = Run::offline(&[]).piped("reverse abc").end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("cba\n", Some(0)), "{}", ended.err);
    let mut run = Run::offline(&["-p", "reverse abc"]);
    run.command.stdin(std::process::Stdio::piped());
    let mut child = run.command.spawn().unwrap();
    let silent = child.stdin.take();
    let output =
        tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "cba\n");
    drop(silent);
}

#[tokio::test]
async fn json_is_one_object_with_the_figures() {
    let edit = json!({"file_path": "hello.txt", "instruction": "greet the moon", "old_string": "world", "new_string": "moon"});
    let model = ModelServer::with_responses([calls("replace", edit), says("Done.")]);
    let mut run = Run::with(&model, &["-p", "Greet the moon", "-o", "json", "--approval-mode", "auto_edit"]);
    let ended = run.end().await;
    let document = ended.json();
    assert_eq!(ended.code, Some(0), "{document:#}");
    assert_eq!(fs::read_to_string(run.file("hello.txt")).unwrap(), "Hello, moon.\n");
    assert_eq!(document["response"], "Done.");
    assert_eq!(document["session_id"].as_str().unwrap().len(), 36);
    assert!(document.get("error").is_none() && document.get("warnings").is_none(), "{document:#}");
    let stats = &document["stats"];
    let model = &stats["models"]["gemini-2.5-pro"];
    assert_eq!((&model["api"]["totalRequests"], &model["api"]["totalErrors"]), (&json!(2), &json!(0)));
    let tokens = json!({"input": 200, "prompt": 200, "candidates": 20, "total": 220, "cached": 0, "thoughts": 0, "tool": 0});
    assert_eq!(model["tokens"], tokens);
    assert_eq!(stats["tools"]["totalCalls"], 1);
    assert_eq!(stats["tools"]["byName"]["replace"]["success"], 1);
    assert_eq!(stats["tools"]["totalDecisions"]["auto_accept"], 1);
    assert_eq!(stats["files"], json!({"totalLinesAdded": 1, "totalLinesRemoved": 1}));
}

#[tokio::test]
async fn an_alias_is_told_as_the_model_it_stands_for() {
    let refused = || gemini::error(404, "NOT_FOUND", "no access to previews", json!([]));
    let with_alias = |answers: Vec<PlannedResponse>, format: &str| {
        let model = ModelServer::with_responses(answers);
        let mut run = Run::offline(&["-p", "Hi", "-o", format, "--model", "flash"]);
        run.command.env("GEMINI_API_KEY", "key-for-tests").env("GOOGLE_GEMINI_BASE_URL", model.url());
        (run, model)
    };
    let (mut run, _model) = with_alias(vec![refused(), refused(), says("Hi.")], "json");
    let document = run.end().await.json();
    let names: Vec<_> = document["stats"]["models"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["gemini-2.5-flash"], "{document:#}");
    let (mut run, _model) = with_alias(vec![refused(), refused(), refused()], "stream-json");
    let ended = run.end().await;
    assert_eq!(ended.lines()[0]["model"], "gemini-3.6-flash", "{}", ended.out);
    assert!(!ended.out.contains("no model flash"), "{}", ended.out);
    let switched = "There is no model gemini-3.6-flash: no access to previews (404 NOT_FOUND); gemini-3-flash-preview answers instead.";
    assert!(ended.out.contains(switched), "{}", ended.out);
}

#[tokio::test]
async fn stream_json_tells_what_happens_line_by_line() {
    let model = ModelServer::with_responses([
        calls("read_file", json!({"file_path": "hello.txt"})),
        says("One line."),
    ]);
    let ended = Run::with(&model, &["-p", "What is in it?", "--output-format", "stream-json"]).end().await;
    let mut lines = ended.lines();
    assert!(lines.iter().all(|line| line["timestamp"].as_str().unwrap().ends_with('Z')), "{}", ended.out);
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("timestamp");
    }
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["init", "message", "tool_use", "tool_result", "message", "result"]);
    assert_eq!(lines[0]["model"], "gemini-2.5-pro");
    assert_eq!(lines[1], json!({"type": "message", "role": "user", "content": "What is in it?"}));
    let id = &lines[2]["tool_id"];
    assert_eq!(lines[2]["tool_name"], "read_file");
    assert_eq!(lines[2]["parameters"], json!({"file_path": "hello.txt"}));
    assert_eq!((&lines[3]["tool_id"], &lines[3]["status"]), (id, &json!("success")));
    assert_eq!(
        lines[4],
        json!({"type": "message", "role": "assistant", "content": "One line.", "delta": true})
    );
    let (status, stats) = (&lines[5]["status"], &lines[5]["stats"]);
    assert_eq!(
        (status, &stats["total_tokens"], &stats["tool_calls"]),
        (&json!("success"), &json!(220), &json!(1))
    );
    assert_eq!(stats["models"]["gemini-2.5-pro"]["input_tokens"], 200);
    let body = model.received()[0].json();
    let tools = body["tools"][0]["functionDeclarations"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let asks = names.contains(&"ask_user");
    assert!(
        names.contains(&"read_file") && !asks,
        "no person can answer, so the model cannot ask: {names:?}"
    );
}

#[tokio::test]
async fn an_answer_that_starts_again_is_told_in_every_format() {
    let plan = || {
        let cut = gemini::answer([gemini::chunk().text("Lost wor")]).ending(ResponseEnd::Cut);
        ModelServer::with_responses([cut, says("Whole words.")])
    };
    let models = [plan(), plan(), plan()];
    let mut runs = [
        Run::with(&models[0], &["-p", "Speak"]),
        Run::with(&models[1], &["-p", "Speak", "-o", "json"]),
        Run::with(&models[2], &["-p", "Speak", "-o", "stream-json"]),
    ];
    let [text, json, stream] = &mut runs;
    let (text, json, stream) = tokio::join!(text.end(), json.end(), stream.end());
    assert_eq!(text.out, "Lost wor\nWhole words.\n");
    assert!(
        text.err.contains("[WARNING] the answer was cut off; what was printed of it does not count"),
        "{}",
        text.err
    );
    assert_eq!(json.json()["response"], "Whole words.");
    let warnings = json.json()["warnings"].as_array().unwrap().len();
    assert_eq!(warnings, 1, "{}", json.out);
    assert_eq!(json.json()["stats"]["models"]["gemini-2.5-pro"]["api"]["totalErrors"], 1);
    let lines = stream.lines();
    let errors: Vec<_> = lines.iter().filter(|line| line["type"] == "error").collect();
    assert!(errors.iter().all(|line| line["severity"] == "warning") && errors.len() == 2, "{errors:?}");
    for ended in [text, json, stream] {
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
}

#[tokio::test]
async fn settings_say_what_is_printed_where_the_command_line_does_not() {
    let mut run = Run::offline(&["-p", "count to 2"]);
    let folder = run.launch.folder().join(".gemini");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), r#"{"output": {"format": "json"}}"#).unwrap();
    let ended = run.end().await;
    let printed: Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{}", ended.out));
    assert_eq!(printed["response"], "1 2");
}
