//! No link leads an edit out of the workspace.

use std::os::unix::fs::symlink;
use std::path::Path;

use attache_tool::{Preview, ToolErrorKind};
use serde_json::json;

use super::world::{World, refused};

async fn check(make: impl FnOnce(&World), path: &str) {
    let world = World::new();
    std::fs::write(world.outside("secret"), "secret\n").unwrap();
    make(&world);
    for tool in [&world.write_file as &dyn attache_tool::Tool, &world.replace] {
        let input = json!({
            "file_path": path, "content": "new", "instruction": "", "old_string": "secret", "new_string": "new",
        });
        let message = refused(world.call(tool, input).await, ToolErrorKind::PathNotInWorkspace);
        assert!(message.contains(world.root().to_str().unwrap()), "names the root: {message}");
    }
    assert_eq!(std::fs::read(world.outside("secret")).unwrap(), b"secret\n");
    let names: Vec<_> =
        std::fs::read_dir(world.outside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"], "nothing else was made");
}

fn link(world: &World, target: impl AsRef<Path>, name: &str) {
    symlink(target, world.at(name)).unwrap();
}

#[tokio::test]
async fn links_out_of_the_workspace_are_refused() {
    check(|world| link(world, "../outside/secret", "link"), "link").await;
    check(|world| link(world, "../outside", "folder"), "folder/secret").await;
    check(|world| link(world, "../outside", "folder"), "folder/new").await;
    check(|world| link(world, world.outside("secret"), "link"), "link").await;
    check(|world| link(world, world.outside(""), "folder"), "folder/new/file").await;
    check(|world| link(world, "../outside/dangling", "link"), "link").await;
    check(|world| link(world, world.outside("dangling"), "link"), "link").await;
    check(|world| link(world, "../outside/dangling", "folder"), "folder/new").await;
    check(|_| {}, "../outside/secret").await;
}

#[tokio::test]
async fn absolute_paths_outside_are_refused() {
    let world = World::new();
    let path = world.outside("new");
    refused(world.write(path.to_str().unwrap(), "new").await, ToolErrorKind::PathNotInWorkspace);
    let scratch = world.context.workspace.scratch.join("new");
    refused(world.write(scratch.to_str().unwrap(), "new").await, ToolErrorKind::PathNotInWorkspace);
    assert!(!path.exists() && !scratch.exists());
}

#[tokio::test]
async fn a_link_inside_is_written_and_shown_at_its_target() {
    let world = World::with("a\n");
    std::fs::create_dir(world.at("folder")).unwrap();
    link(&world, "../file", "folder/link");
    let input = json!({ "file_path": "folder/link", "content": "b\n" });
    let proposal = world.propose(&world.write_file, input).await.unwrap();
    let Preview::Edit { path, .. } = &proposal.shown else { panic!("{proposal:?}") };
    assert_eq!(*path, world.at("file"));
    world.run(&world.write_file, proposal).await.unwrap();
    assert_eq!(world.text("file"), "b\n");
    assert!(world.at("folder/link").is_symlink());
}
