//! What an agent asks becomes a question of the call, and the answer goes to the same task.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use attache_client::{Credential, CredentialError, CredentialRequest, CredentialSource};
use attache_testkit::model_server::ModelServer;
use attache_tool::{CallEnd, CallStart, QuestionKind, ToolError, ToolErrorKind};
use serde_json::json;

use crate::world::{
    World, bare_task, card, finished, input, piece, refusal, result, said, status, stream, task, tool_with,
};

fn asks(state: &str) -> [serde_json::Value; 3] {
    [task("WORKING"), piece("half "), status(state, Some("Which one?"))]
}

#[tokio::test]
async fn the_answer_goes_to_the_task_that_asked() {
    for (state, kind) in [("INPUT_REQUIRED", QuestionKind::Input), ("AUTH_REQUIRED", QuestionKind::Auth)] {
        let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
        let world = World::new([card(true), stream(&asks(state)), stream(&done)]);
        let CallEnd::Asks(question) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
        assert_eq!((question.kind, question.text.as_str()), (kind, "Which one?"));
        let text = finished(world.run("Work!", world.answered("the first")).await.unwrap());
        let shown = if kind == QuestionKind::Auth { "(a credential)" } else { "the first" };
        let dialog = format!("The agent asked:\n{}\nThe person answered: {shown}\n\n", said("Which one?"));
        assert_eq!(text, format!("{dialog}{}", said("half done")));
        let saved = format!("{:?}", world.memory.saved.lock().unwrap());
        assert_eq!(saved.contains("the first"), kind == QuestionKind::Input, "{saved}");
        let sent = world.requests();
        let (first, second) =
            (sent[0].json()["params"]["message"].clone(), sent[1].json()["params"]["message"].clone());
        assert_eq!((&second["taskId"], &second["contextId"]), (&json!("t-1"), &json!("c-1")));
        assert_eq!(second["parts"], json!([{"text": "the first"}]));
        assert_ne!(first["messageId"], second["messageId"]);
    }
}

/// A person has to sign in before the request with this number.
#[derive(Debug)]
struct SignInBefore(AtomicUsize);

#[async_trait]
impl CredentialSource for SignInBefore {
    async fn credential(&self, _: CredentialRequest<'_>) -> Result<Option<Credential>, CredentialError> {
        if self.0.fetch_sub(1, Ordering::Relaxed) != 1 {
            return Ok(None);
        }
        let url = Some("https://login.example".to_owned());
        Err(CredentialError::SignInRequired { what: "Sign in first.".to_owned(), url })
    }
}

#[tokio::test]
async fn a_person_who_has_to_sign_in_is_asked_and_then_the_prompt_is_sent() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let mut world = World::new([card(true), stream(&done)]);
    world.tool = tool_with(&world.agent.url(), Arc::new(SignInBefore(1.into())));
    let CallEnd::Asks(question) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
    assert_eq!((question.kind, question.text.as_str()), (QuestionKind::Auth, "Sign in first."));
    assert_eq!(question.url.as_deref(), Some("https://login.example"));
    assert!(world.requests().is_empty(), "nothing was sent");
    assert_eq!(finished(world.run("Work!", world.answered("I did")).await.unwrap()), said("done"));
    assert_eq!(world.requests()[0].json()["params"]["message"]["parts"], json!([{"text": "Work!"}]));
}

#[tokio::test]
async fn an_answer_is_sent_after_the_sign_in_that_it_needs() {
    for restarted in [false, true] {
        let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
        let mut world = World::new([card(true), stream(&asks("INPUT_REQUIRED")), stream(&done)]);
        world.tool = tool_with(&world.agent.url(), Arc::new(SignInBefore(2.into())));
        world.run("Work!", world.start()).await.unwrap();
        let CallEnd::Asks(question) = world.run("Work!", world.answered("red")).await.unwrap() else {
            panic!()
        };
        assert_eq!(question.text, "Sign in first.");
        let signed_in = CallStart { restarted, ..world.answered("I have signed in") };
        let text = finished(world.run("Work!", signed_in).await.unwrap());
        assert!(text.contains("The person answered: red\n"), "{text}");
        let message = world.requests()[1].json()["params"]["message"].clone();
        assert_eq!((&message["taskId"], &message["parts"]), (&json!("t-1"), &json!([{"text": "red"}])));
        assert_eq!(world.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_credential_is_asked_for_again_after_a_sign_in() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let mut world = World::new([card(true), stream(&asks("AUTH_REQUIRED")), stream(&done)]);
    world.tool = tool_with(&world.agent.url(), Arc::new(SignInBefore(2.into())));
    world.run("Work!", world.start()).await.unwrap();
    world.run("Work!", world.answered("key-1")).await.unwrap();
    let CallEnd::Asks(question) = world.run("Work!", world.answered("I did")).await.unwrap() else {
        panic!()
    };
    assert_eq!((question.kind, question.text.as_str()), (QuestionKind::Auth, "Which one?"));
    finished(world.run("Work!", world.answered("key-1")).await.unwrap());
    let message = world.requests()[1].json()["params"]["message"].clone();
    assert_eq!(message["parts"], json!([{"text": "key-1"}]), "and nothing else");
}

#[tokio::test]
async fn a_credential_that_a_person_types_is_hidden_where_the_agent_repeats_it() {
    for (typed, repeated) in [("sekret-key", "(hidden)"), ("done", "done")] {
        let done = [task("WORKING"), piece(&format!("You said {typed}")), status("COMPLETED", None)];
        let world = World::new([card(true), stream(&asks("AUTH_REQUIRED")), stream(&done)]);
        world.run("Work!", world.start()).await.unwrap();
        let text = finished(world.run("Work!", world.answered(typed)).await.unwrap());
        assert!(text.ends_with(&said(&format!("half You said {repeated}"))), "{text}");
        assert!(world.shown().ends_with(&format!("You said {repeated}")), "{}", world.shown());
    }
}

#[tokio::test]
async fn an_answer_that_was_not_sent_goes_to_the_task_that_waits() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([card(true), stream(&done)]);
    let saved = json!({
        "agent": "helper", "origin": world.agent.url(), "message": "m-1", "sent": 1, "phase": "unsent",
        "task": "t-1", "context": "c-1", "question": "Which one?", "answer": "red",
    });
    world.memory.saved.lock().unwrap().push(saved);
    finished(world.run("Work!", world.runs_again()).await.unwrap());
    let message = world.requests()[0].json()["params"]["message"].clone();
    assert_eq!((&message["taskId"], &message["parts"]), (&json!("t-1"), &json!([{"text": "red"}])));
}

/// An agent that tells nothing again when its task goes on.
#[tokio::test]
async fn what_came_before_a_question_is_part_of_the_result() {
    let report = json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": {
        "artifactId": "r", "name": "Report", "parts": [{"text": "important. "}, {"raw": "aGVsbG8=", "filename": "report.txt"}],
    }}});
    let first = [
        task("WORKING"),
        status("WORKING", Some("Looking. ")),
        report,
        status("INPUT_REQUIRED", Some("Colour?")),
    ];
    let second = [status("WORKING", None), status("INPUT_REQUIRED", Some("Size?"))];
    let last = [status("WORKING", None), status("COMPLETED", Some("Finished."))];
    let world = World::new([card(true), stream(&first), stream(&second), stream(&last)]);
    world.run("Work!", world.start()).await.unwrap();
    world.run("Work!", world.answered("red")).await.unwrap();
    let text = finished(world.run("Work!", world.answered("big")).await.unwrap());
    let turn = |question: &str, answer: &str| {
        format!("The agent asked:\n{}\nThe person answered: {answer}\n\n", said(question))
    };
    let expected = format!(
        "{}{}{}\n\nThe agent sent files:\nreport.txt: saved as ",
        turn("Colour?", "red"),
        turn("Size?", "big"),
        said("Looking. Finished.\n\nArtifact (Report):\nimportant. File: report.txt"),
    );
    assert!(text.starts_with(&expected), "{text}\n---\n{expected}");
    assert_eq!(text.matches("saved as").count(), 1, "{text}");
}

#[tokio::test]
async fn a_task_that_needs_no_answer_any_more_gives_its_result() {
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "b", "parts": [{"text": "the result"}]}]);
    let agent = ModelServer::with_handler(move |request| match request.method.as_str() {
        "GET" => card(true),
        _ => match request.json()["method"].as_str().unwrap() {
            "SendStreamingMessage" if request.json()["params"]["message"]["taskId"].is_null() => {
                stream(&asks("AUTH_REQUIRED"))
            }
            "GetTask" => result(&done),
            _ => refusal(-32004, "it is over"),
        },
    });
    let world = World::with(agent, true);
    world.run("Work!", world.start()).await.unwrap();
    let text = finished(world.run("Work!", world.answered("I did it elsewhere")).await.unwrap());
    assert!(text.contains("the result"), "{text}");
}

#[tokio::test]
async fn an_agent_that_keeps_its_stream_open_while_it_waits_is_answered_too() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([card(true), stream(&asks("INPUT_REQUIRED")).hold(), stream(&done)]);
    let CallEnd::Asks(question) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
    assert_eq!(question.text, "Which one?");
    let text = finished(world.run("Work!", world.answered("the first")).await.unwrap());
    assert!(text.ends_with(&said("half done")), "{text}");
}

/// It responds to the answer at once, with the question and the first piece of its result.
#[tokio::test]
async fn an_agent_without_streams_is_followed_past_the_question_that_was_answered() {
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let status = |state: &str, second: u32| {
            json!({
                "state": format!("TASK_STATE_{state}"),
                "timestamp": format!("2026-01-01T00:00:0{second}Z"),
                "message": {"messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}]},
            })
        };
        let with = |status: &serde_json::Value, text: &str| {
            json!({"id": "t-1", "contextId": "c-1", "status": status, "artifacts": [
                {"artifactId": "a", "parts": [{"text": text}]},
            ]})
        };
        let (asks, asks_again) = (status(state, 1), status(state, 2));
        let done = json!({"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:03Z"});
        let asked = json!({"id": "t-1", "contextId": "c-1", "status": asks});
        let world = World::new([
            card(false),
            result(&json!({"task": asked})),
            result(&asked),
            result(&json!({"task": with(&asks, "one ")})),
            result(&with(&asks, "one two ")),
            result(&with(&asks_again, "one two ")),
            // The same words again are a new question.
            result(&with(&asks_again, "one two ")),
            result(&json!({"task": with(&done, "one two three")})),
        ]);
        let CallEnd::Asks(_) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
        let again = world.run("Work!", world.answered("the first")).await.unwrap();
        assert!(matches!(&again, CallEnd::Asks(question) if question.text == "Which one?"), "{again:?}");
        let text = finished(world.run("Work!", world.answered("the second")).await.unwrap());
        assert!(text.ends_with(&said("one two three")), "{text}");
        let poll = ["GetTask", "SendMessage", "GetTask", "GetTask", "GetTask", "SendMessage"];
        assert_eq!(world.methods()[1..], poll);
    }
}

/// The person skips the question, and the agent cannot cancel its task.
#[tokio::test]
async fn the_next_prompt_does_not_answer_a_question_to_a_person() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([card(true), stream(&asks("INPUT_REQUIRED")), stream(&done)]);
    let CallEnd::Asks(_) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
    world.call("Something else").await.unwrap();
    let message = world.requests()[1].json()["params"]["message"].clone();
    assert_eq!((message.get("taskId"), &message["contextId"]), (None, &json!("c-1")), "{message}");
}

#[tokio::test]
async fn without_a_person_the_model_reads_the_question_and_the_next_call_answers_it() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let agent = ModelServer::with_responses([card(true), stream(&asks("INPUT_REQUIRED")), stream(&done)]);
    let world = World::with(agent, false);
    let text = world.call("Work!").await.unwrap();
    assert!(text.contains("Which one?") && text.contains("goes on with the same task"), "{text}");
    assert_eq!(world.call("the first").await.unwrap(), said("done"));
    let message = world.requests()[1].json()["params"]["message"].clone();
    assert_eq!((&message["taskId"], &message["contextId"]), (&json!("t-1"), &json!("c-1")));
}

/// An unrelated prompt is no credential.
#[tokio::test]
async fn without_a_person_a_task_that_waits_for_a_credential_gets_no_prompt() {
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let agent = ModelServer::with_responses([card(true), stream(&asks("AUTH_REQUIRED")), stream(&done)]);
    let world = World::with(agent, false);
    let text = world.call("Work!").await.unwrap();
    assert!(text.contains("which cannot be given here. Another call begins a new task."), "{text}");
    world.call("Something else").await.unwrap();
    let message = world.requests()[1].json()["params"]["message"].clone();
    assert_eq!((message.get("taskId"), &message["contextId"]), (None, &json!("c-1")));
}

#[tokio::test]
async fn a_question_is_shown_where_it_is_asked_and_not_in_the_live_output() {
    let question = [task("WORKING"), piece("half "), status("INPUT_REQUIRED", Some("Which \u{200b}one?"))];
    let world = World::new([card(true), stream(&question)]);
    let CallEnd::Asks(question) = world.run("Work!", world.start()).await.unwrap() else { panic!() };
    assert_eq!(question.text, r"Which \u{200b}one?");
    assert_eq!(world.shown(), "half ");
}

/// As Gemini CLI's server does after each turn.
#[tokio::test]
async fn a_task_that_waits_without_a_question_gives_its_result_and_the_next_call_goes_on() {
    let turn = || stream(&[task("WORKING"), piece("half"), status("INPUT_REQUIRED", None)]);
    let world = World::new([card(true), turn(), turn()]);
    let text = world.call("Work!").await.unwrap();
    assert!(text.starts_with(&said("half")) && text.contains("goes on with the same task"), "{text}");
    world.call("Go on").await.unwrap();
    assert_eq!(world.requests()[1].json()["params"]["message"]["taskId"], "t-1");
}

/// The agent was switched off while the person was asked.
#[tokio::test]
async fn a_call_that_may_not_go_on_cancels_its_task_and_keeps_what_was_said() {
    let canceled = result(&bare_task("CANCELED"));
    let world = World::new([card(true), stream(&asks("INPUT_REQUIRED")), canceled]);
    world.run("Work!", world.start()).await.unwrap();
    let proposal = world.tool.propose(&input("helper", "Work!"), &world.context).await.unwrap();
    let refused = ToolError::new(ToolErrorKind::PolicyViolation, "it is disabled");
    let tool = world.tool.resumable().unwrap();
    let error = tool.end(&proposal, world.answered("red"), refused, &world.context).await;
    let dialog = format!("The agent asked:\n{}\nThe person answered: (not sent)\n\n", said("Which one?"));
    assert_eq!(error.message, format!("{dialog}{}\n\nit is disabled", said("half ")));
    assert_eq!(world.methods(), ["SendStreamingMessage", "CancelTask"]);
}
