//! Only what was proposed is done, to the file that was proposed.

use std::os::unix::fs::symlink;

use attache_tool::ToolErrorKind;
use attache_tool_std::Replace;
use serde_json::json;

use super::world::{World, content_of, edit_of_file, refused, told};

#[tokio::test]
async fn a_change_between_proposal_and_run_is_refused_and_kept() {
    let world = World::with("a\n");
    for change in ["b\n", "a", ""] {
        std::fs::write(world.at("file"), "a\n").unwrap();
        let edit = world.propose(&world.replace, edit_of_file("a", "c")).await.unwrap();
        let write =
            world.propose(&world.write_file, json!({ "file_path": "file", "content": "c" })).await.unwrap();
        std::fs::write(world.at("file"), change).unwrap();
        let message = refused(world.run(&world.replace, edit).await, ToolErrorKind::EditPreparationFailure);
        assert!(message.contains("read it again"), "{message}");
        refused(world.run(&world.write_file, write).await, ToolErrorKind::EditPreparationFailure);
        assert_eq!(world.text("file"), change);
    }
}

#[tokio::test]
async fn a_file_that_appears_or_goes_away_meanwhile_is_refused() {
    let world = World::with("a\n");
    let gone = world.propose(&world.replace, edit_of_file("a", "b")).await.unwrap();
    std::fs::remove_file(world.at("file")).unwrap();
    refused(world.run(&world.replace, gone).await, ToolErrorKind::EditPreparationFailure);
    assert!(!world.at("file").exists());

    let new = world.propose(&world.write_file, json!({ "file_path": "file", "content": "b" })).await.unwrap();
    std::fs::write(world.at("file"), "theirs").unwrap();
    refused(world.run(&world.write_file, new).await, ToolErrorKind::EditPreparationFailure);
    assert_eq!(world.text("file"), "theirs");
}

#[tokio::test]
async fn a_link_that_takes_the_files_place_is_refused() {
    let world = World::with("a\n");
    std::fs::write(world.at("other"), "a\n").unwrap();
    let proposal = world.propose(&world.replace, edit_of_file("a", "b")).await.unwrap();
    std::fs::remove_file(world.at("file")).unwrap();
    symlink("other", world.at("file")).unwrap();
    refused(world.run(&world.replace, proposal).await, ToolErrorKind::PathNotInWorkspace);
    assert_eq!(world.text("other"), "a\n");
}

#[tokio::test]
async fn what_a_person_made_of_the_content_is_written() {
    let world = World::with("a\r\n");
    let mut proposal = world.propose(&world.replace, edit_of_file("a", "b")).await.unwrap();
    assert_eq!(content_of(&mut proposal), "b\r\n");
    *content_of(&mut proposal) = "theirs\nto the letter".into();
    let output = world.run(&world.replace, proposal).await.unwrap();
    assert_eq!(world.text("file"), "theirs\nto the letter");
    assert!(
        told(&output).contains("A person changed") && told(&output).contains("+to the letter"),
        "{output:?}"
    );
    assert!(output.diff.unwrap().contains("+theirs"));
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_refused_until_it_is_read_again() {
    let world = World::with("a\n");
    world.reads.record(world.at("file"), b"a\n");
    world.edit("a", "b").await.unwrap();
    world.edit("b", "c").await.unwrap();

    std::fs::write(world.at("file"), "c and more\n").unwrap();
    let message = refused(world.edit("c", "d").await, ToolErrorKind::EditPreparationFailure);
    assert!(message.contains("read it again"), "{message}");
    refused(world.write("file", "d").await, ToolErrorKind::EditPreparationFailure);

    world.reads.record(world.at("file"), b"c and more\n");
    world.edit("c", "d").await.unwrap();
    assert_eq!(world.text("file"), "d and more\n");
}

#[tokio::test]
async fn a_file_that_was_read_is_known_under_every_name() {
    let world = World::with("a\n");
    symlink("file", world.at("link")).unwrap();
    world.reads.record(world.at("file"), b"something else\n");
    refused(world.write("link", "d").await, ToolErrorKind::EditPreparationFailure);
}

#[test]
fn no_edit_that_went_well_is_lost_to_another() {
    const EDITORS: usize = 4;
    const EDITS: usize = 40;

    let world = World::with("end\n");
    let edit = |editor: usize| {
        let world = &world;
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let line = |edit: &usize| format!("{editor} {edit}\n");
            let add = |edit: &usize| {
                let tool = Replace::new(Default::default());
                runtime.block_on(world.call(&tool, edit_of_file("end\n", &(line(edit) + "end\n")))).is_ok()
            };
            (0..EDITS).filter(add).map(|edit| line(&edit)).collect::<Vec<String>>()
        }
    };
    let mut lines: Vec<String> = std::thread::scope(|scope| {
        let editors: Vec<_> = (0..EDITORS).map(|editor| scope.spawn(edit(editor))).collect();
        editors.into_iter().flat_map(|editor| editor.join().unwrap()).collect()
    });
    let text = world.text("file");
    let mut found: Vec<String> =
        text.strip_suffix("end\n").unwrap().split_inclusive('\n').map(String::from).collect();
    lines.sort();
    found.sort();
    assert_eq!(found, lines);
}

#[tokio::test]
async fn a_cancelled_call_writes_nothing() {
    let world = World::with("a\n");
    let proposal = world.propose(&world.replace, edit_of_file("a", "b")).await.unwrap();
    world.context.cancel.cancel();
    refused(world.run(&world.replace, proposal).await, ToolErrorKind::ExecutionFailed);
    assert_eq!(world.text("file"), "a\n");
}
