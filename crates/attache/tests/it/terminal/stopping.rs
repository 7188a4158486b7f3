//! Ctrl-C: once for the turn, twice for the session.

use super::world::{CTRL_C, World};

const ESCAPE: &str = "\u{1b}";
const CTRL_Z: &str = "\u{1a}";

#[tokio::test]
async fn ctrl_c_stops_the_turn_and_the_session_goes_on() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("slow").await;
    terminal.until("It takes a while.").await;
    terminal.press(CTRL_C).await;
    terminal.until("! Stopped, as requested.").await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    assert!(!terminal.raw().contains("Never said"));
}

#[tokio::test]
async fn ctrl_c_stops_a_turn_that_waits_for_an_answer() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("make one").await;
    terminal.until("and Enter.").await;
    terminal.press(CTRL_C).await;
    terminal.until("The turn was stopped.").await;
    terminal.until("! Stopped, as requested.").await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    assert!(!world.work("one").exists());
}

#[tokio::test]
async fn one_call_is_cancelled_and_the_turn_goes_on() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("/calls").await;
    terminal.until("No call is running.").await;
    terminal.line("hang").await;
    terminal.until("and Enter.").await;
    terminal.press("y").await;
    terminal.until("| begun").await;
    terminal.line("/calls cancel another").await;
    terminal.until("/calls cancel names a call that is not under way (another)").await;
    terminal.line("/calls").await;
    let shown = terminal.until("  run_shell_command  echo begun").await;
    let id = shown.split_whitespace().rev().nth(3).unwrap();
    terminal.line(&format!("/calls cancel {id}")).await;
    terminal.until("The user cancelled this call while it ran.").await;
    terminal.until("It goes on.").await;
    terminal.line("/calls stop").await;
    terminal.until("say /calls, or /calls cancel ID").await;
}

#[tokio::test]
async fn a_prompt_that_waits_is_taken_up_when_the_turn_is_stopped() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("slow").await;
    terminal.until("It takes a while.").await;
    terminal.line("next").await;
    terminal.until("Your message is queued").await;
    terminal.press(CTRL_C).await;
    terminal.until("! Stopped, as requested.").await;
    terminal.until("You said next.").await;
}

#[tokio::test]
async fn a_line_stays_while_escape_or_ctrl_c_stops_a_turn_and_ctrl_c_clears_it_in_an_idle_session() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    for key in [ESCAPE, CTRL_C] {
        terminal.line("slow").await;
        terminal.until("It takes a while.").await;
        terminal.press("dra").await;
        terminal.until("dra").await;
        terminal.keys(key).await;
        terminal.until("! Stopped, as requested.").await;
        terminal.until("> dra").await;
        terminal.keys("ft\r").await;
        terminal.until("You said draft.").await;
    }
    // In an idle session Ctrl-C clears it, and nothing else happens.
    terminal.press("nonsense").await;
    terminal.until("nonsense").await;
    terminal.keys(CTRL_C).await;
    terminal.press("hello\r").await;
    terminal.until("You said hello.").await;
    terminal.line("exit").await;
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn ctrl_c_twice_leaves() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.until("Ctrl-D leaves").await;
    terminal.press(CTRL_C).await;
    terminal.until("Ctrl-C again leaves").await;
    terminal.press(CTRL_C).await;
    assert_eq!(terminal.end().await.0, Some(130));

    let mut terminal = world.start(&[]);
    terminal.line("slow").await;
    terminal.until("It takes a while.").await;
    terminal.press(CTRL_C).await;
    terminal.until("stopping").await;
    terminal.press(CTRL_C).await;
    assert_eq!(terminal.end().await.0, Some(130));

    let mut terminal = world.start(&[]);
    terminal.press(&format!("{CTRL_C}{CTRL_C}")).await;
    assert_eq!(terminal.end().await.0, Some(130), "at once");
}

#[tokio::test]
async fn a_signal_ends_the_session_and_gives_the_terminal_back() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    let pid = terminal.child.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").arg(&pid).status().await.unwrap().success());
    let (code, shown) = terminal.end().await;
    assert_eq!(code, Some(143), "{shown}");
    assert!(terminal.raw().contains("\u{1b}[?2004l"), "bracketed paste is switched off");
    assert!(shown.contains("goes on with this session"), "{shown}");
}

#[tokio::test]
async fn escape_in_an_idle_session_holds_nothing_up() {
    let world = World::new();
    let (mut terminal, endpoint) = world.start_with_endpoint().await;
    let mut socket = endpoint.socket().await;
    terminal.press(ESCAPE).await;
    socket.prompt("hello").await;
    terminal.until("You said hello.").await;
    terminal.line("again").await;
    terminal.until("You said again.").await;
}

#[tokio::test]
async fn a_suspended_session_goes_on_with_its_line() {
    let world = World::new();
    let mut terminal = world.start_in_shell(&[]).await;
    for begun in ["half", "other"] {
        terminal.press(begun).await;
        terminal.until(begun).await;
        terminal.keys(CTRL_Z).await;
        terminal.until("Stopped").await;
        terminal.press("fg\r").await;
        terminal.until(&format!("> {begun}")).await;
        terminal.keys(" a line\r").await;
        terminal.until(&format!("You said {begun} a line.")).await;
    }
}

#[tokio::test]
async fn a_session_without_a_shell_is_not_suspended() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    // The banner is written above the prompt, which is shown again below it.
    terminal.until("Ctrl-D leaves").await;
    terminal.press("half").await;
    terminal.until("half").await;
    terminal.keys(CTRL_Z).await;
    terminal.until("> half").await;
    terminal.keys(" a line\r").await;
    terminal.until("You said half a line.").await;
}

#[tokio::test]
async fn ctrl_c_ends_a_search_and_clears_all_lines_of_a_prompt() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    terminal.press("half\u{12}hel").await;
    terminal.until("(reverse-i-search)`hel': hello").await;
    terminal.keys(CTRL_C).await;
    terminal.until("> half").await;
    terminal.keys("\u{1b}\rand more").await;
    terminal.until("and more").await;
    terminal.keys(CTRL_C).await;
    terminal.press("again\r").await;
    terminal.until("You said again.").await;
}
