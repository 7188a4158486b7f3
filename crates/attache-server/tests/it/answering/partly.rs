//! Several calls wait: open questions are shown, approved calls run, and the model reads which call was refused.

use attache_testkit::model_requests::outputs;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::says;

use super::{Speaker, Words, asked_in, is_final, state_in, task_in, touches};
use crate::agent_world::{start, work};

/// A message of these files' calls for each way to speak, and the end of each.
fn model() -> ModelServer {
    ModelServer::with_handler(|received| {
        let told = received.json()["contents"].as_array().unwrap().last().unwrap().to_string();
        if told.contains("functionResponse") { says("Done.") } else { touches(&["one", "two"]) }
    })
}

#[tokio::test]
async fn after_one_of_two_answers_the_stream_shows_the_other_question_and_ends() {
    let model = model();
    let (launch, server) = start(&model).await;
    for (number, speaker) in Speaker::all(&server.client()).into_iter().enumerate() {
        let name = speaker.name();
        let first = speaker.stream(speaker.opening(&launch, &format!("a{number}"), "Make two!")).await;
        let (task, both) = (task_in(&first[0]), asked_in(&first.iter().cloned().collect()));
        assert_eq!(both.len(), 2, "{name}: {first:#?}");
        let [one, two] = [&both[0], &both[1]];
        let answer = speaker.answering(&task, &format!("b{number}"), &[(one, "proceed_once")]);
        let second = speaker.stream(answer).await;
        let last = second.last().unwrap();
        assert_eq!(
            (state_in(last), last.get("task")),
            ("input-required".into(), None),
            "{name}: {second:#?}"
        );
        assert!(speaker.pair.is_v1_0() || is_final(last), "{name}: {second:#?}");
        assert_eq!(asked_in(&second.iter().cloned().collect()), [two.as_str()], "{name}: {second:#?}");
        if speaker.words == Words::Plain {
            let text = last.to_string();
            assert!(text.contains("still need") && text.contains("touch "), "{name}: {text}");
        }
        let answer = speaker.answering(&task, &format!("c{number}"), &[(two, "proceed_once")]);
        let third = speaker.stream(answer).await;
        assert_eq!(state_in(&third[0]), "working", "{name}: the answered question is not shown again");
        assert!(asked_in(&third.iter().cloned().collect()).is_empty(), "{name}: {third:#?}");
        let ends = if speaker.words == Words::Gemini { "input-required" } else { "completed" };
        assert_eq!(state_in(third.last().unwrap()), ends, "{name}: {third:#?}");
    }
    assert!(work(&launch).join("one").exists() && work(&launch).join("two").exists());
}

#[tokio::test]
async fn of_two_calls_the_approved_one_runs_and_the_model_hears_that_the_other_does_not() {
    for number in 0..12 {
        let model = model();
        let (launch, server) = start(&model).await;
        let speaker = Speaker::all(&server.client()).remove(number);
        let name = speaker.name();
        let first = speaker.stream(speaker.opening(&launch, "m1", "Make two!")).await;
        // In the order of the answer, which their ids are not in.
        let (task, mut asked) = (task_in(&first[0]), Vec::new());
        first.iter().flat_map(asked_in).for_each(|id| {
            if !asked.contains(&id) {
                asked.push(id);
            }
        });
        let both = [(&*asked[0], "cancel"), (&*asked[1], "proceed_once")];
        let done = match number % 2 {
            0 => speaker.stream(speaker.answering(&task, "m2", &both)).await,
            _ => {
                let still = speaker.stream(speaker.answering(&task, "m2", &both[..1])).await;
                assert_eq!(
                    asked_in(&still.iter().cloned().collect()),
                    [asked[1].clone()],
                    "{name}: {still:#?}"
                );
                assert_eq!(state_in(still.last().unwrap()), "input-required", "{name}");
                speaker.stream(speaker.answering(&task, "m3", &both[1..])).await
            }
        };
        assert!(done.iter().any(|item| item.to_string().contains("Done.")), "{name}: {done:#?}");
        let heard = outputs(&model);
        let refused = heard.iter().filter(|(_, text)| text.contains("did not agree to this")).count();
        assert_eq!((heard.len(), refused), (2, 1), "{name}: {heard:#?}");
        let made = ["one", "two"].map(|file| work(&launch).join(file).exists());
        let told = heard.iter().map(|(_, text)| !text.contains("did not agree")).collect::<Vec<_>>();
        assert_eq!(made.to_vec(), told, "{name}: what ran is what the model hears of");
    }
}

#[tokio::test]
async fn a_message_to_a_task_that_rests_begins_with_a_task_that_works() {
    for number in 0..12 {
        let model = ModelServer::with_responses([touches(&["one"]), says("Fine.")]);
        let (launch, server) = start(&model).await;
        let speaker = Speaker::all(&server.client()).remove(number);
        let name = speaker.name();
        let first = speaker.stream(speaker.opening(&launch, "m1", "Make one!")).await;
        let (task, asked) = (task_in(&first[0]), asked_in(&first.iter().cloned().collect()));
        let rests = speaker.stream(speaker.answering(&task, "m2", &[(&asked[0], "cancel")])).await;
        assert_eq!(state_in(rests.last().unwrap()), "input-required", "{name}: {rests:#?}");
        assert_eq!(state_in(&rests[0]), "working", "{name}: {rests:#?}");
        let done = speaker.stream(speaker.pair.text_to(&task, "m3", "Never mind.")).await;
        assert_eq!(state_in(&done[0]), "working", "{name}: {done:#?}");
        let shown = done[0].get("task").unwrap_or(&done[0])["status"].to_string();
        assert!(!shown.contains("What shall I do"), "{name}: {shown}");
    }
}
