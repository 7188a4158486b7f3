//! Prompts, answers, commands, and what the terminal must not be told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::world::{CTRL_D, World};

#[tokio::test]
async fn a_prompt_is_answered_and_the_session_goes_on_until_ctrl_d() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.until("/help lists the commands").await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    terminal.line("again").await;
    terminal.until("You said again.").await;
    terminal.press(CTRL_D).await;
    let (code, shown) = terminal.end().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("goes on with this session"), "{shown}");
    assert_eq!(world.sessions().len(), 1);
    let history = world.data().join("history");
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(history).unwrap().contains("hello\nagain\n"));
}

#[tokio::test]
async fn words_on_the_command_line_are_the_first_prompt() {
    for arguments in [&["say", "it"][..], &["-i", "say it"], &["--prompt-interactive", "say it"]] {
        let world = World::new();
        let mut terminal = world.start(arguments);
        terminal.until("You said say it.").await;
        terminal.line("more").await;
        terminal.until("You said more.").await;
        terminal.line("/quit").await;
        assert_eq!(terminal.end().await.0, Some(0));
    }
}

#[tokio::test]
async fn commands_are_carried_out_and_mistakes_are_told() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("/help").await;
    terminal.until("/quit, exit or Ctrl-D leaves").await;
    terminal.until("/memory").await;
    terminal.line("?").await;
    terminal.until("/memory").await;
    terminal.line("/nonsense").await;
    terminal.until("there is no command `/nonsense`").await;
    terminal.line("see @src/missing.rs").await;
    terminal.until("there is no such file or folder").await;
    terminal.line("/exit").await;
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn what_a_model_says_cannot_steer_the_terminal() {
    let world = World::new();
    let mut terminal = world.start_with(&[], &[]);
    terminal.line("evil").await;
    terminal.until(r"before \u{1b}[2J\u{1b}]0;title\u{7} after").await;
    terminal.until("next").await;
    let raw = terminal.raw();
    assert!(!raw.contains("\u{1b}[2J") && !raw.contains("\u{1b}]0;") && !raw.contains('\u{7}'), "{raw:?}");
    assert!(raw.contains("\u{1b}[90m"), "there are colours unless NO_COLOR is set");
}

#[tokio::test]
async fn a_turn_that_fails_does_not_end_the_session() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("fail").await;
    terminal.until("! It broke.").await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    assert!(!terminal.raw().contains("\u{1b}[33m"), "no colours with NO_COLOR");
}

#[tokio::test]
async fn a_session_without_a_word_leaves_no_file() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.until("Ctrl-D leaves").await;
    assert_eq!(world.sessions().len(), 1);
    terminal.press(CTRL_D).await;
    let (code, shown) = terminal.end().await;
    assert!(code == Some(0) && !shown.contains("goes on with this session"), "{shown}");
    assert_eq!(world.sessions(), [""; 0]);
}

#[tokio::test]
async fn a_terminal_that_cannot_move_its_cursor_is_good_enough() {
    let world = World::new();
    let mut terminal = world.start_with(&[], &[("TERM", "dumb")]);
    terminal.line("make one").await;
    terminal.until("then Enter.").await;
    terminal.keys("y\r").await;
    terminal.until("The result for one is here.").await;
    terminal.keys("/quit\r").await;
    assert_eq!(terminal.end().await.0, Some(0));
    assert!(!terminal.raw().contains("\u{1b}[3"), "no colours");
}

#[tokio::test]
async fn lines_that_arrive_together_are_all_taken_and_one_line_may_have_several() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.press("one a\rtwo b\rthree c\rdra").await;
    terminal.until("You said one a.").await;
    terminal.until("You said two b.").await;
    terminal.until("You said three c.").await;
    terminal.keys("ft\r").await;
    terminal.until("You said draft.").await;
    // A line goes on behind a backslash and behind Alt-Enter.
    terminal.press("one\\\rtwo\u{1b}\rthree\r").await;
    let shown = terminal.until("three.").await;
    assert!(shown.contains("You said one\ntwo\n"), "{shown}");
}

#[tokio::test]
async fn tab_completes_commands_and_paths() {
    let world = World::new();
    std::fs::write(world.work("notes of mine.md"), "Tabs, not spaces.").unwrap();
    let mut terminal = world.start(&[]);
    terminal.line("/help").await;
    terminal.until("/tools").await;
    terminal.press("/mem\tsh\t\r").await;
    terminal.until("/memory show").await;
    terminal.until("> ").await;
    terminal.keys("see @no\ttoday\r").await;
    terminal.until(r"You said see @notes\ of\ mine.md today").await;
}
