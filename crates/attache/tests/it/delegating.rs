//! A session gives tasks to remote agents: the whole product, with our own server or a scripted agent at the other end.

mod asking;
mod cancelling;
mod continuing;
mod killing;
mod policy;
mod quoting;
mod storm;
mod surfaces;
mod switched_off;
mod switching;
pub(crate) mod world;

use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use self::world::{Delegating, invoke, peer, peer_tasks};
use crate::agent_world::{
    answer_text, calls, first_told, last_output, launch_with, reply, says, send, state, work, write,
};
use crate::watching::{batch, eventually};

#[tokio::test]
async fn an_agent_is_asked_after_approval_and_its_words_come_back() {
    let peer = peer().await;
    let model = ModelServer::with_responses([invoke("helper", "stream"), says("It counts to five.")]);
    let world = Delegating::start(&model, &[("helper", peer.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "Let the helper count").await;
    let question = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains(&format!("ask the agent helper at {}:\nstream", peer.url())), "{question}");
    assert_eq!(peer_tasks(&peer).await.len(), 0, "nothing is sent before a person agrees");
    let done = reply(&client, "m2", &asked, "yes").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "It counts to five."));
    let said = "<untrusted_context>\nArtifact (Answer):\none two three four five\n</untrusted_context>";
    assert_eq!(last_output(&model), said);
    assert_eq!(peer_tasks(&peer).await.len(), 1);
}

#[tokio::test]
async fn the_model_is_told_of_agents_only_where_they_are_switched_on() {
    let peer = peer().await;
    let model = ModelServer::with_responses([says("Hello."), says("Hello again.")]);
    let world = Delegating::start(&model, &[("helper", peer.url())]).await;
    send(&world.server.client(), "m1", "Hello").await;
    let tools = declared(&model.received()[0].json());
    let tool = tools.iter().find(|tool| tool["name"] == "invoke_agent").unwrap();
    let description = tool["description"].as_str().unwrap();
    assert!(description.contains("User Description: It is helper."), "{description}");
    let off = launch_with(&model);
    world::write_agent(&off, "helper", peer.url());
    let server = off.start().await;
    send(&server.client(), "m1", "Hello").await;
    let tools = declared(&model.received()[1].json());
    // The agent that is built in needs no switch.
    let tool = tools.iter().find(|tool| tool["name"] == "invoke_agent").unwrap();
    let names = &tool["parametersJsonSchema"]["properties"]["agent_name"]["enum"];
    assert_eq!(*names, json!(["cli_help"]), "{tool:#}");
}

fn declared(request: &Value) -> Vec<Value> {
    request["tools"][0]["functionDeclarations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_mention_of_an_agent_asks_for_it_and_one_of_a_file_still_reads_it() {
    let peer = peer().await;
    let model = ModelServer::with_responses([says("I will.")]);
    let world = Delegating::start(&model, &[("helper", peer.url())]).await;
    std::fs::write(work(&world.launch).join("helper"), "a file of that name").unwrap();
    send(&world.server.client(), "m1", "@helper, look at @hello.txt").await;
    let told = first_told(&model);
    assert!(told.contains("wants this to be done by the agent they named: helper"), "{told}");
    assert!(told.contains("Hello, world."), "{told}");
    assert!(!told.contains("a file of that name"), "{told}");
    let model = ModelServer::with_responses([says("I read it.")]);
    let world = Delegating::start(&model, &[("other", peer.url())]).await;
    write(&world.launch, "work/helper", "a file of that name");
    send(&world.server.client(), "m1", "@helper").await;
    let told = first_told(&model);
    assert!(told.contains("a file of that name") && !told.contains("delegate"), "{told}");
}

#[tokio::test]
async fn several_agents_work_at_the_same_time() {
    let agent = world::scripted_agent(|_| world::done("ok").hold());
    let names = ["one", "two", "three"];
    let inputs = names.map(|name| ("invoke_agent", json!({"agent_name": name, "prompt": name})));
    let model = ModelServer::with_responses([batch(inputs), says("All three.")]);
    let url = agent.url();
    let world = Delegating::yolo(&model, &names.map(|name| (name, url.as_str()))).await;
    let client = world.server.client();
    let sent = send(&client, "m1", "Ask all");
    let together = async {
        eventually("three messages at a time", || world::sent(&agent).len() == 3).await;
        names.iter().for_each(|_| agent.release());
    };
    let (done, ()) = tokio::join!(sent, together);
    assert_eq!(answer_text(&done), "All three.", "{done:#}");
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_told_to_the_model() {
    let model = ModelServer::with_responses([invoke("helper", "x"), says("It is not there.")]);
    let world = Delegating::yolo(&model, &[("helper", "http://127.0.0.1:9")]).await;
    let done = send(&world.server.client(), "m1", "Ask").await;
    assert_eq!(answer_text(&done), "It is not there.");
    let output = last_output(&model);
    assert!(
        output.contains("The agent helper failed: the connection to http://127.0.0.1:9 failed"),
        "{output}"
    );
}

#[tokio::test]
async fn an_agent_that_is_this_server_is_refused() {
    let model = ModelServer::with_responses([
        calls("invoke_agent", json!({"agent_name": "me", "prompt": "x"})),
        says("No."),
    ]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let port = free_port();
    world::switch_on(&launch);
    world::write_agent(&launch, "me", &format!("http://localhost:{port}"));
    let server = launch.argument("--port").argument(port.to_string()).start().await;
    send(&server.client(), "m1", "Ask yourself").await;
    assert!(last_output(&model).contains("its card leads back to this server"), "{}", last_output(&model));
}

#[tokio::test]
async fn servers_that_delegate_to_each_other_come_to_an_end() {
    let models = [("other", "First."), ("first", "Second.")]
        .map(|(agent, end)| ModelServer::with_responses([invoke(agent, "Work!"), says(end)]));
    let ports = [free_port(), free_port()];
    let mut servers = Vec::new();
    for (place, name) in [(0, "other"), (1, "first")] {
        let url = format!("http://127.0.0.1:{}", ports[1 - place]);
        let launch = world::yolo_launch(&models[place], &[(name, &url)]);
        let launch = launch.argument("--port").argument(ports[place].to_string());
        servers.push((launch.start().await, launch));
    }
    let ended = send(&servers[0].0.client(), "m1", "Begin").await;
    assert_eq!(answer_text(&ended), "First.", "{ended:#}");
    let refused = last_output(&models[1]);
    assert!(refused.contains("it would go round in circles"), "{refused}");
    assert!(last_output(&models[0]).contains("Second."), "{}", last_output(&models[0]));
}

#[tokio::test]
async fn many_agents_that_are_not_there_delay_nothing_and_are_told_later() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let names: Vec<String> = (0..100).map(|number| format!("agent-{number}")).collect();
    let agents: Vec<_> = names.iter().map(|name| (name.as_str(), "http://127.0.0.1:9")).collect();
    let world = Delegating::start(&model, &agents).await;
    let ended = send(&world.server.client(), "m1", "Hello").await;
    assert_eq!(answer_text(&ended), "Hello.");
    eventually("warnings about all", || unreachable_agents(&world.server.log()) == 100).await;
}

/// How many agents the warnings are about. On a slow machine they come in several parts.
fn unreachable_agents(log: &str) -> usize {
    let of_line = |line: &str| {
        let many = line.split_once(" agents cannot be used: ");
        let many = many.and_then(|(before, _)| before.rsplit(' ').next()?.parse().ok());
        many.unwrap_or(usize::from(line.contains("an agent cannot be used")))
    };
    log.lines().map(of_line).sum()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
