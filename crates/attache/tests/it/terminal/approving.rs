//! Questions, answered at the terminal.

use super::world::World;

#[tokio::test]
async fn a_command_is_approved_or_rejected_by_a_key_or_a_word() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    for (file, answer) in [("one", "y"), ("two", "1"), ("three", "Y\r"), ("four", "yes\r")] {
        terminal.line(&format!("make {file}")).await;
        let question = terminal.until("and Enter.").await;
        assert!(question.contains(&format!("touch {file}")), "{question}");
        assert!(question.contains("1, y, yes") && question.contains("n, no"), "{question}");
        assert!(!world.work(file).exists());
        terminal.press(answer).await;
        terminal.until(": Allow Once").await;
        terminal.until("| begun").await;
        terminal.until(&format!("The result for {file} is here.")).await;
        assert!(world.work(file).exists());
    }
    for (file, answer) in [("five", "n"), ("six", "3")] {
        terminal.line(&format!("make {file}")).await;
        terminal.until("and Enter.").await;
        terminal.press(answer).await;
        terminal.until(": Reject").await;
        terminal.until("rejected").await;
        assert!(!world.work(file).exists());
    }
    // Nothing of the words was left for the next line.
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn a_half_written_line_stays_when_a_key_answers() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let mut socket = endpoint.socket().await;
    terminal.press("half a").await;
    terminal.until("half a").await;
    socket.prompt("make one").await;
    terminal.until("and Enter.").await;
    terminal.until("half a").await;
    terminal.keys("y").await;
    terminal.until(": Allow Once").await;
    terminal.until("The result for one is here.").await;
    assert!(world.work("one").exists());
    terminal.until("half a").await;
    terminal.keys(" line\r").await;
    terminal.until("You said half a line.").await;
}

#[tokio::test]
async fn a_line_that_is_being_typed_answers_nothing_by_its_letters() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("make one").await;
    terminal.until("and Enter.").await;
    terminal.line("perhaps yes, no, 1").await;
    terminal.until("that is no answer").await;
    assert!(!world.work("one").exists());
    terminal.press("\u{1b}[200~yes\u{1b}[201~").await;
    // What is pasted is no key.
    terminal.until("yes").await;
    assert!(!world.work("one").exists());
    terminal.keys("\r").await;
    terminal.until("The result for one is here.").await;
}

#[tokio::test]
async fn always_is_asked_about_once() {
    for answer in ["a\r", "always\r", "2"] {
        let world = World::new();
        let mut terminal = world.start(&[]);
        terminal.line("make one").await;
        terminal.until("and Enter.").await;
        terminal.press(answer).await;
        terminal.until("The result for one is here.").await;
        terminal.line("make two").await;
        let shown = terminal.until("The result for two is here.").await;
        assert!(!shown.contains("needs your approval"), "{shown}");
        assert!(world.work("two").exists());
    }
}

#[tokio::test]
async fn a_rejected_edit_was_shown_and_changes_nothing() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("write").await;
    let question = terminal.until("and Enter.").await;
    assert!(question.contains("+Hello") && question.contains("hello.txt"), "{question}");
    terminal.line("perhaps").await;
    terminal.until("that is no answer").await;
    terminal.press("no\r").await;
    terminal.until("rejected").await;
    assert!(!world.work("hello.txt").exists());
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn nothing_is_asked_in_the_mode_yolo() {
    for flags in [&["--yolo"][..], &["-y"], &["--approval-mode", "yolo"]] {
        let world = World::new();
        let mut terminal = world.start(flags);
        terminal.line("make one").await;
        let shown = terminal.until("The result for one is here.").await;
        assert!(!shown.contains("needs your approval") && world.work("one").exists(), "{shown}");
    }
}
