//! How it ends, and the exit code that says so.

use std::sync::atomic::{AtomicU32, Ordering};

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::{Value, json};

use super::{Ended, Run, calls, says};

#[track_caller]
fn check(ended: &Ended, code: i32, words: &str) {
    assert_eq!(ended.code, Some(code), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("[ERROR] ") && ended.err.contains(words), "{}", ended.err);
    assert_eq!(ended.out, "");
}

#[tokio::test]
async fn nothing_to_do_is_bad_input_in_every_format() {
    check(&Run::offline(&["-p", " "]).end().await, 42, "there is nothing to do");
    check(&Run::offline(&[]).piped("\n").end().await, 42, "there is nothing to do");
    check(&Run::offline(&["-p", "a", "b"]).end().await, 42, "not both");
    let ended = Run::offline(&["-p", "", "-o", "json"]).end().await;
    assert_eq!(ended.json()["error"]["type"], "FatalInputError");
    let ended = Run::offline(&["-p", "", "-o", "stream-json"]).end().await;
    assert_eq!(ended.lines().last().unwrap()["error"]["type"], "FatalInputError");
    assert_eq!(ended.code, Some(42));
}

#[tokio::test]
async fn a_mentioned_file_that_is_not_there_is_bad_input() {
    check(&Run::offline(&["-p", "explain @src/missing.rs"]).end().await, 42, "@src/missing.rs");
    let ended =
        Run::offline(&["-p", "echo me@example.com, @someone and @hello.txt"]).piped("@a/b.rs").end().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[tokio::test]
async fn wrong_settings_are_told_apart_from_a_missing_key() {
    check(&Run::offline(&["-p", "x", "--approval-mode", "maybe"]).end().await, 2, "maybe");
    check(&Run::offline(&["-p", "x", "-m", "magic"]).end().await, 2, "magic");
    let mut run = Run::offline(&["-p", "x"]);
    run.command.env("ATTACHE_APPROVAL_MODE", "maybe");
    check(&run.end().await, 52, "maybe");
    check(&Run::offline(&["-p", "x", "--workspace", "nowhere"]).end().await, 52, "nowhere");
    check(&Run::offline(&["-p", "x", "-m", "script:missing.yaml"]).end().await, 52, "missing.yaml");
    check(&Run::offline(&["-p", "x", "-m", "gemini-2.5-pro"]).end().await, 41, "GEMINI_API_KEY");
    let ended = Run::offline(&["-p", "x", "--yolo", "--approval-mode", "plan"]).end().await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("cannot be used with"), "{}", ended.err);
}

#[tokio::test]
async fn an_address_that_is_none_is_told_with_what_would_be_right() {
    for (url, words) in [
        (
            "http://example.com/v1",
            "OPENAI_BASE_URL is no address of a model's server: http is for this machine only",
        ),
        ("example", "it is not a URL such as https://example.com"),
        ("localhost:11434/v1", "it must start with https://, or with http:// for this machine"),
    ] {
        let mut run = Run::offline(&["-p", "x", "--model", "openai:m"]);
        run.command.env("OPENAI_BASE_URL", url);
        let ended = run.end().await;
        check(&ended, 52, words);
        assert!(ended.err.contains("http://127.0.0.1:PORT"), "{}", ended.err);
        assert_eq!(ended.err.matches("cannot be used").count(), 0, "{}", ended.err);
    }
}

#[tokio::test]
async fn a_refused_key_is_a_matter_of_authentication() {
    let refused = || gemini::error(403, "PERMISSION_DENIED", "this key is not for you", json!([]));
    let model = ModelServer::with_responses([refused(), refused()]);
    check(&Run::with(&model, &["-p", "x"]).end().await, 41, "this key is not for you");
    let ended = Run::with(&model, &["-p", "x", "-o", "json"]).end().await;
    assert_eq!(ended.code, Some(41));
    let error = &ended.json()["error"];
    assert_eq!((&error["type"], &error["code"]), (&json!("FatalAuthenticationError"), &json!(41)));
    assert!(!ended.out.contains("key-for-tests") && !ended.err.contains("key-for-tests"));
}

#[tokio::test]
async fn a_model_that_gives_no_answer_is_an_error_in_every_format_without_advice_to_send_a_message() {
    let refused = || gemini::error(400, "INVALID_ARGUMENT", "no such field", json!([]));
    let model = ModelServer::with_responses([refused(), refused(), refused()]);
    let ended = Run::with(&model, &["-p", "x"]).end().await;
    check(&ended, 1, "no such field");
    assert_eq!(ended.err.matches("no such field").count(), 1, "told once: {}", ended.err);
    let ended = Run::with(&model, &["-p", "x", "-o", "json"]).end().await;
    let document = ended.json();
    assert_eq!(ended.err, "", "all there is to say is in the document");
    assert_eq!((ended.code, &document["error"]["code"]), (Some(1), &json!(1)));
    assert_eq!(document["stats"]["models"]["gemini-2.5-pro"]["api"]["totalErrors"], 1);
    let ended = Run::with(&model, &["-p", "x", "-o", "stream-json"]).end().await;
    let lines = ended.lines();
    let last = lines.last().unwrap();
    assert_eq!((ended.code, &last["type"], &last["status"]), (Some(1), &json!("result"), &json!("error")));
    assert!(last["error"]["message"].as_str().unwrap().contains("no such field"), "{last}");
    assert!(lines.iter().any(|line| line["type"] == "error" && line["severity"] == "error"), "{lines:?}");
    let model =
        ModelServer::with_responses([PlannedResponse::text(200, "text/html", "<html>Welcome!</html>")]);
    let ended = Run::with(&model, &["-p", "x"]).end().await;
    check(&ended, 1, "instead of a response of the API: is the base URL right?");
    assert!(!ended.err.contains("Send any message") && !ended.err.contains("right?."), "{}", ended.err);
}

/// A model that runs a command and then says "Done!".
fn running(command: &str) -> ModelServer {
    let call = calls("run_shell_command", json!({ "command": command }));
    ModelServer::with_responses([call, says("Done!")])
}

#[tokio::test]
async fn a_denied_call_is_told_with_the_flag_that_allows_it_and_the_model_goes_on() {
    let models = [(); 3].map(|()| running("touch made"));
    let mut run = Run::with(&models[0], &["-p", "Make it"]);
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("Done!\n", Some(0)), "{}", ended.err);
    let warning = "run_shell_command (touch made) was denied: it needs an approval, which cannot be asked for here; \
                   --allowed-tools 'run_shell_command(touch)' or --yolo would allow it";
    assert_eq!(ended.err, format!("[WARNING] {warning}\n"));
    assert!(!run.file("made").exists());
    let told = Run::with(&models[1], &["-p", "Make it", "-o", "json"]).end().await.json();
    assert_eq!(told["warnings"], json!([warning]));
    let ended = Run::with(&models[2], &["-p", "Make it", "-o", "stream-json"]).end().await;
    let result = tool_result(&ended);
    assert_eq!((&result["status"], &result["error"]["type"]), (&json!("error"), &json!("policy_violation")));
    assert_eq!(ended.code, Some(0), "{}", ended.out);
}

#[tokio::test]
async fn flags_allow_what_they_name_and_nothing_else() {
    for (flags, is_allowed) in [
        (&["--yolo"][..], true),
        (&["--allowed-tools", "run_shell_command(touch)"], true),
        (&["--allowed-tools", "read_file,run_shell_command(touch made)"], true),
        (&["--allowed-tools", "run_shell_command(touch other)"], false),
    ] {
        let line = if flags == ["--yolo"] { "touch made && echo it is made" } else { "touch made" };
        let model = running(line);
        let mut run = Run::with(&model, &["-p", "Make it", "-o", "stream-json"]);
        run.command.args(flags);
        let ended = run.end().await;
        let result = tool_result(&ended);
        assert_eq!(
            (run.file("made").exists(), ended.code),
            (is_allowed, Some(0)),
            "{flags:?}: {}",
            ended.out
        );
        assert_eq!(result["status"] == "success", is_allowed, "{flags:?}: {result}");
        if is_allowed {
            let output = result["output"].as_str().unwrap();
            assert!(
                output.ends_with("exited with code 0") && ended.err.is_empty(),
                "{flags:?}: {}",
                ended.err
            );
            assert!(flags != ["--yolo"] || output == "it is made\n\nexited with code 0", "{output}");
        }
    }
}

fn tool_result(ended: &Ended) -> Value {
    ended.lines().into_iter().find(|line| line["type"] == "tool_result").unwrap()
}

#[tokio::test]
async fn an_untrusted_folder_is_told_what_it_needs_in_one_form() {
    let write = || {
        let call = calls("write_file", json!({"file_path": "new.txt", "content": "x\n"}));
        ModelServer::with_responses([call, says("Done!")])
    };
    let model = write();
    let mut run = Run::untrusting(&["-p", "Write it", "--model", "gemini-2.5-pro"]);
    run.command.env("GEMINI_API_KEY", "k").env("GOOGLE_GEMINI_BASE_URL", model.url());
    let ended = run.end().await;
    assert!(ended.err.contains("[WARNING] write_file (new.txt) was denied"), "{}", ended.err);
    assert!(ended.err.contains("--approval-mode auto_edit --trust"), "{}", ended.err);
    let model = write();
    let mut run = Run::with(&model, &["-p", "Write it", "--approval-mode", "auto_edit"]);
    assert_eq!(run.end().await.err, "");
    assert!(run.file("new.txt").exists());
    let ended = Run::untrusting(&["-p", "help", "--yolo"]).end().await;
    let warning = "[WARNING] the approval mode is default and not yolo: ";
    assert!(ended.err.lines().any(|line| line.starts_with(warning)), "{}", ended.err);
    assert!(!ended.err.contains("WARN attache"), "{}", ended.err);
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "echo x > $TMPDIR/x; echo x"})),
        says("Ran."),
    ]);
    let mut run = Run::with(&model, &["--yolo", "-p", "Run it"]);
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("Ran.\n", Some(0)), "{}", ended.err);
    let left: Vec<_> =
        std::fs::read_dir(run.launch.folder()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["work"]);
    // A task that is kept may need its files again.
    let store = format!("sqlite:{}", run.launch.folder().join("tasks.db").display());
    run.command.args(["--store", &store]);
    model.plan(says("Kept."));
    assert_eq!(run.end().await.code, Some(0));
    assert!(run.launch.folder().join(".local/share/attache/scratch").exists());
}

#[tokio::test]
async fn a_model_that_never_comes_to_an_end_is_stopped() {
    let round = AtomicU32::new(0);
    let model = ModelServer::with_handler(move |_| {
        let number = round.fetch_add(1, Ordering::Relaxed);
        calls("glob", json!({"pattern": format!("{number}-*.txt")}))
    });
    let ended = Run::with(&model, &["-p", "Look for everything"]).end().await;
    check(&ended, 53, "100 times");
}

#[tokio::test]
async fn rules_from_a_file_count() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Made."),
    ]);
    let mut run = Run::with(&model, &["-p", "Make it", "--policy", "rules.toml"]);
    let rules = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"allow\"\npriority = 100\n";
    std::fs::write(run.file("rules.toml"), rules).unwrap();
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("Made.\n", Some(0)), "{}", ended.err);
    assert!(run.file("made").exists());
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_is_refused_unless_it_is_trusted_for_this_run() {
    let mut run = Run::untrusting(&["-p", "reverse abc"]);
    let folder = run.launch.folder().join(".gemini");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), r#"{"security": {"folderTrust": {"enabled": true}}}"#)
        .unwrap();
    check(&run.end().await, 55, "--trust");
    run.command.arg("--skip-trust");
    let ended = run.end().await;
    assert_eq!((ended.out.as_str(), ended.code), ("cba\n", Some(0)), "{}", ended.err);
}
