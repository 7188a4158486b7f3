//! A task each of whose writes fails in turn: it ends right all the same, does things once, and loses nothing that was
//! acknowledged.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    CancelTask, Fact, Fault, GetTask, Message, Part, Rights, Role, SendConfiguration, SendMessage,
    SendOptions, Seq, TaskId, TaskState, TaskView,
};
use attache_session::SendReply;
use tokio::time::sleep;

use crate::recording_log::{Failure, How};
use crate::world::{World, calls, says, scope, status_text};

/// So often a client looks before the server is started anew.
const MAX_LOOKS: usize = 30;

/// A client that repeats a request if the error allows a retry.
struct Client {
    world: World,
    /// The number of the last event that the client received.
    acknowledged: Seq,
}

impl Client {
    async fn of(failure: Option<Failure>) -> Self {
        let world = World::new([]).await;
        let answers: [fn() -> _; 2] = [|| calls("I write.", &["a write"]), || says("All is done.")];
        world.model.after_results.lock().unwrap().extend(answers);
        *world.failure.lock().unwrap() = failure;
        Self { world, acknowledged: Seq::START }
    }

    /// The store works again, and so does everything that the log says should.
    async fn restart(mut self) -> Self {
        *self.world.failure.lock().unwrap() = None;
        self.world = self.world.restart().await;
        self
    }

    async fn send(mut self, id: &str, task: Option<&TaskId>, text: &str) -> (Self, TaskId) {
        let mut message = Message::from_agent(id.into(), "c".into(), task.cloned(), "");
        (message.role, message.parts) = (Role::User, vec![Part::text(text)]);
        let configuration = SendConfiguration { return_immediately: true, ..SendConfiguration::default() };
        for _ in 0..2 {
            for _ in 0..3 {
                let (message, configuration) = (message.clone(), configuration.clone());
                let answers = attache_wire::read_answers(&message);
                let options = SendOptions { rights: Rights::ALL, ..SendOptions::default() };
                let send = SendMessage { message, answers, configuration, metadata: None, options };
                match self.world.session.send(&scope(), send).await {
                    Ok(SendReply::Task(view)) => {
                        self.acknowledged = self.acknowledged.max(view.progress.head);
                        return (self, view.task.clone());
                    }
                    Ok(SendReply::Message(_)) => panic!("a task"),
                    Err(Fault::StoreFull { .. }) => sleep(Duration::from_secs(5)).await,
                    Err(fault) => panic!("{id} is refused: {fault}"),
                }
            }
            self = self.restart().await;
        }
        panic!("{id} is never taken");
    }

    async fn get(&self, task: &TaskId) -> Arc<TaskView> {
        let get = GetTask { task: task.clone(), history_length: None, at: None };
        self.world.session.get(&scope(), &get).await.unwrap().view.clone()
    }

    async fn until_settled(mut self, task: &TaskId) -> (Self, Arc<TaskView>) {
        for _ in 0..2 {
            for _ in 0..MAX_LOOKS {
                let view = self.get(task).await;
                self.acknowledged = self.acknowledged.max(view.progress.head);
                if view.progress.is_settled() {
                    return (self, view);
                }
                sleep(Duration::from_secs(1)).await;
            }
            self = self.restart().await;
        }
        panic!("the task never settles: {:#?}", self.get(task).await.progress);
    }

    /// What the log has to say, and that it has no hole.
    async fn log(&self, view: &TaskView) -> Vec<Fact> {
        let events = self.world.stores.log.read(&view.key(), Seq::START, 1000).await.unwrap();
        assert!(events.iter().map(|event| event.seq.0).eq(1..=events.len() as u64));
        assert!(Seq(events.len() as u64) >= self.acknowledged, "what was acknowledged is there");
        assert_eq!(TaskView::fold(events.iter().map(|event| &**event)).unwrap().status, view.status);
        events.iter().map(|event| event.fact.clone()).collect()
    }
}

/// The whole task: asked, allowed, done, told. Returns how many appends it took.
async fn play(failure: Option<Failure>) -> usize {
    let client = Client::of(failure).await;
    let (client, task) = client.send("m1", None, "Write!").await;
    let (mut client, mut view) = client.until_settled(&task).await;
    let mut lost = false;
    for number in 0..3 {
        if view.status.state != TaskState::InputRequired {
            break;
        }
        // A person who is asked whether a call took effect skips it.
        let asks_about_lost = status_text(&view).contains("not known whether it took effect");
        lost |= asks_about_lost;
        let answer = if asks_about_lost { "skip" } else { "yes" };
        (client, _) = client.send(&format!("answer-{number}"), Some(&task), answer).await;
        (client, view) = client.until_settled(&task).await;
    }
    assert_eq!(view.status.state, TaskState::Completed, "{failure:?}: {}", status_text(&view));
    let done = client.world.tools.done();
    match lost {
        true => assert!(done.len() <= 1, "{failure:?}: {done:?}"),
        false => assert_eq!(done, ["write a proposed"], "{failure:?}"),
    }
    let facts = client.log(&view).await;
    let count = |is_it: fn(&Fact) -> bool| facts.iter().filter(|fact| is_it(fact)).count();
    assert_eq!(count(|fact| matches!(fact, Fact::TaskOpened(_))), 1, "{failure:?}");
    assert_eq!(count(|fact| matches!(fact, Fact::CallStarted { .. })), 1, "{failure:?}");
    assert_eq!(count(|fact| matches!(fact, Fact::CallFinished(_))), 1, "{failure:?}");
    assert_eq!(count(|fact| matches!(fact, Fact::ModelAnswered(_))), 2, "{failure:?}");
    assert_eq!(count(|fact| matches!(fact, Fact::TurnEnded { .. })), 1, "{failure:?}");
    let said: Vec<_> = view.history.iter().map(|message| message.text()).collect();
    assert_eq!(
        (said[0].as_str(), said.last().unwrap().as_str()),
        ("Write!", "I write.All is done."),
        "{failure:?}"
    );
    client.world.appends.lock().unwrap().len()
}

async fn each_write_fails(how: How) {
    let writes = play(None).await;
    assert!(writes >= 5, "a task of {writes} appends says little");
    for at in 1..=writes {
        play(Some(Failure { at, how })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_write_of_a_task_may_fail_once() {
    each_write_fails(How::Once).await;
}

#[tokio::test(start_paused = true)]
async fn each_write_of_a_task_may_seem_to_fail() {
    each_write_fails(How::OnceThoughWritten).await;
}

#[tokio::test(start_paused = true)]
async fn after_each_write_of_a_task_all_others_may_fail_until_the_restart() {
    each_write_fails(How::FromThenOn).await;
}

/// A call is under way, and then the store fails.
async fn cancel_while(how: How, after: usize) {
    let world = World::new([calls("", &["a slow"]), says("Never.")]).await;
    world.send_until("Go!", "begin a").await;
    let written = world.appends.lock().unwrap().len();
    *world.failure.lock().unwrap() = Some(Failure { at: written + after, how });
    let task = world.newest().await.task.clone();
    let canceled = world.session.cancel(&scope(), &CancelTask { task: task.clone(), metadata: None }).await;
    if how == How::FromThenOn && after == 1 {
        let fault = canceled.unwrap_err();
        assert!(matches!(&fault, Fault::StoreFull { what } if what.contains("is stopped")), "{fault}");
        assert_eq!(world.newest().await.status.state, TaskState::Working);
    }
    world.tools.go.add_permits(1);
    sleep(Duration::from_secs(1)).await;
    *world.failure.lock().unwrap() = None;
    while world.newest().await.status.state != TaskState::Canceled {
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(world.tools.done(), ["begin a"], "{how:?} {after}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_a_call_whichever_write_of_it_fails() {
    for how in [How::Once, How::OnceThoughWritten, How::FromThenOn] {
        for after in 1..=3 {
            cancel_while(how, after).await;
        }
    }
}
