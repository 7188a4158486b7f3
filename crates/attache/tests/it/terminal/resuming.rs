//! Sessions that are gone on with, also after the program was killed.

use super::world::{CTRL_D, World};

#[tokio::test]
async fn a_session_goes_on_where_it_was_left() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    terminal.press(CTRL_D).await;
    let (_, shown) = terminal.end().await;
    let (_, rest) = shown.split_once("attache --resume ").unwrap();
    let id = rest.split_whitespace().next().unwrap().to_owned();

    let mut before = "hello".to_owned();
    for arguments in [&["--resume"][..], &["-r", "latest"], &["--resume", &id], &["--resume", &id[..30]]] {
        let mut terminal = world.start(arguments);
        terminal.until(&format!("goes on with session {id}")).await;
        terminal.until(&format!("> {before}\nYou said {before}.")).await;
        before.push('o');
        terminal.line(&before).await;
        terminal.until(&format!("You said {before}.")).await;
        terminal.press(CTRL_D).await;
        assert_eq!(terminal.end().await.0, Some(0));
    }
    assert_eq!(world.sessions().len(), 1);
}

#[tokio::test]
async fn a_killed_session_asks_again_what_it_asked() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("make one").await;
    terminal.until("and Enter.").await;
    terminal.kill().await;
    let mut terminal = world.start(&["--resume"]);
    terminal.until("> make one").await;
    let question = terminal.until("and Enter.").await;
    assert!(question.contains("touch one"), "{question}");
    terminal.press("y").await;
    terminal.until("The result for one is here.").await;
    assert!(world.work("one").exists());
    terminal.press(CTRL_D).await;
    terminal.end().await;
    // The conversation is shown without the questions about calls.
    let mut terminal = world.start(&["--resume"]);
    terminal.until("goes on with session").await;
    let shown = terminal.until("The result for one is here.").await;
    assert!(shown.contains("> make one") && !shown.contains("Approved"), "{shown}");
}

#[tokio::test]
async fn a_session_that_runs_is_not_resumed_a_second_time() {
    let world = World::new();
    let mut first = world.start(&[]);
    first.line("hello").await;
    first.until("You said hello.").await;
    let mut second = world.start(&["--resume"]);
    let (code, shown) = second.end().await;
    assert_ne!(code, Some(0));
    assert!(shown.contains("is in use by another process"), "{shown}");
    assert!(shown.contains("without --resume") && !shown.contains("--store"), "{shown}");
    // Another session of the same folder runs beside it.
    let mut third = world.start(&[]);
    third.line("beside").await;
    third.until("You said beside.").await;
    first.line("still here").await;
    first.until("You said still here.").await;
}
