//! Questions, answered at the terminal.

use super::world::World;

#[tokio::test]
async fn a_command_is_approved_by_a_key_and_by_a_word() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    for (file, answer) in [("one", "y"), ("two", "yes"), ("three", "1")] {
        terminal.line(&format!("make {file}")).await;
        let question = terminal.until("then Enter.").await;
        assert!(question.contains(&format!("touch {file}")), "{question}");
        assert!(question.contains("1, y, yes") && question.contains("n, no"), "{question}");
        assert!(!world.work(file).exists());
        terminal.line(answer).await;
        terminal.until("| begun").await;
        terminal.until(&format!("The result for {file} is here.")).await;
        assert!(world.work(file).exists());
    }
}

#[tokio::test]
async fn always_is_asked_about_once() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("make one").await;
    terminal.until("then Enter.").await;
    terminal.line("always").await;
    terminal.until("The result for one is here.").await;
    terminal.line("make two").await;
    let shown = terminal.until("The result for two is here.").await;
    assert!(!shown.contains("needs your approval"), "{shown}");
    assert!(world.work("two").exists());
}

#[tokio::test]
async fn a_rejected_edit_was_shown_and_changes_nothing() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("write").await;
    let question = terminal.until("then Enter.").await;
    assert!(question.contains("+Hello") && question.contains("hello.txt"), "{question}");
    terminal.line("perhaps").await;
    terminal.until("that is no answer").await;
    terminal.line("no").await;
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
