//! Old sessions are deleted, unless the person's settings keep them.

use std::fs::File;
use std::time::{Duration, SystemTime};

use super::world::{CTRL_D, World};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A session in which something was said.
async fn used_session(world: &World, arguments: &[&str]) {
    let mut terminal = world.start(arguments);
    if arguments.contains(&"--resume") {
        // What was said before is shown first, with its prompt.
        terminal.until("You said hello.").await;
    }
    terminal.line("hello").await;
    terminal.until("You said hello.").await;
    terminal.press(CTRL_D).await;
    assert_eq!(terminal.end().await.0, Some(0));
}

/// Every session that there is was last used so many days ago.
fn age(world: &World, days: u32) {
    for file in world.session_files() {
        File::options().write(true).open(file).unwrap().set_modified(SystemTime::now() - days * DAY).unwrap();
    }
}

#[tokio::test]
async fn a_session_that_was_not_used_for_a_month_is_deleted_when_another_begins() {
    let world = World::new();
    used_session(&world, &[]).await;
    let old = world.sessions();
    age(&world, 29);
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 2);
    // One that is gone on with is as good as new.
    age(&world, 40);
    used_session(&world, &["--resume", old[0].trim_end_matches(".db")]).await;
    assert_eq!(world.sessions(), old);
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 2);
}

#[tokio::test]
async fn a_session_in_use_stays_however_old_it_is() {
    let world = World::new();
    let mut used = world.start(&[]);
    used.line("hello").await;
    used.until("You said hello.").await;
    age(&world, 99);
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 2);
    used.line("still").await;
    used.until("You said still.").await;
}

#[tokio::test]
async fn the_settings_of_the_person_decide_and_those_of_a_project_do_not() {
    let world = World::new();
    used_session(&world, &[]).await;
    let settings = |text: &str| format!(r#"{{"general": {{"sessionRetention": {text}}}}}"#);
    age(&world, 99);
    world.write(".gemini/settings.json", &settings(r#"{"enabled": false}"#));
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 2);
    age(&world, 3);
    world.write(".gemini/settings.json", "{}");
    world.write("work/.gemini/settings.json", &settings(r#"{"maxAge": "1d", "maxCount": 1}"#));
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 3);
    world.write(".gemini/settings.json", &settings(r#"{"maxAge": "2d"}"#));
    used_session(&world, &[]).await;
    assert_eq!(world.sessions().len(), 2, "the others are three days old");
    for (wrong, told) in [(r#"{"maxAge": "soon"}"#, "such as"), (r#"{"maxCount": 0}"#, "from 1 to")] {
        world.write(".gemini/settings.json", &settings(wrong));
        let (code, shown) = world.start(&[]).end().await;
        assert!(
            code == Some(52) && shown.contains("general.sessionRetention") && shown.contains(told),
            "{shown}"
        );
    }
}
