//! Input and terminals that are out of the ordinary.

use super::world::World;

#[tokio::test]
async fn bytes_that_are_no_text_are_left_out_and_the_line_stays() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.press("half").await;
    terminal.until("half").await;
    terminal.bytes(b"\xff").await;
    terminal.until("not UTF-8").await;
    terminal.until("> half").await;
    terminal.keys(" a line\r").await;
    terminal.until("You said half a line.").await;
    terminal.press("x").await;
    terminal.until("x").await;
    terminal.bytes(b"\xc3\x28\xf0\x9f\x98").await;
    terminal.until("not UTF-8").await;
    // Whatever is left of it: the session goes on.
    terminal.keys("\u{15}\u{b}").await;
    terminal.line("still here").await;
    terminal.until("You said").await;
}

#[tokio::test]
async fn the_terminal_may_change_its_size_at_any_time() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    terminal.press("a line that is longer than the terminal will be wide in a moment").await;
    terminal.until("in a moment").await;
    for (rows, columns) in [(24, 20), (1, 1), (500, 500), (50, 100)] {
        terminal.resize(rows, columns);
    }
    terminal.keys("!\r").await;
    terminal.until("You said a line that is longer than the terminal will be wide in a moment!.").await;
    terminal.resize(50, 0);
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn a_very_long_line_is_one_prompt() {
    let world = World::new();
    let mut terminal = world.start(&[]);
    let long = "word ".repeat(4000);
    terminal.press(&format!("\u{1b}[200~{long}\u{1b}[201~")).await;
    terminal.keys("end\r").await;
    terminal.until("You said word").await;
    terminal.until("end.").await;
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
}

#[tokio::test]
async fn a_terminal_without_an_editor_survives_bytes_that_are_no_text() {
    let world = World::new();
    let mut terminal = world.start_with(&[], &[("TERM", "dumb")]);
    terminal.until("> ").await;
    terminal.bytes(b"\xff\xfe\r").await;
    terminal.until("not UTF-8").await;
    terminal.keys("hello\r").await;
    terminal.until("You said hello.").await;
}
