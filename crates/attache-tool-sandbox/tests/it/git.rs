//! Daily work with git at level work, while what makes git run programs stays unchanged.

use std::fs;
use std::path::Path;

use crate::world::World;

/// Steps of ordinary work; each has to succeed.
const WORK: &str = "set -e; git config --get user.name >/dev/null; echo two > two.txt; git add two.txt; \
     git commit -qm two; echo three >> two.txt; git stash -q; git stash pop -q; git commit -qam three; \
     git checkout -q -b topic HEAD~1; echo four > four.txt; git add .; git commit -qm four; git rebase -q main; \
     git checkout -q main; git merge -q topic; git worktree add -q linked -b linked; git -C linked status -s; \
     git branch -d topic; git tag one; git reflog -n 1; git gc -q; git log --oneline";

/// Ways to make git run something later.
const ATTACKS: &str = "git config core.fsmonitor 'touch P'; git config --worktree core.pager x; echo x > $G/hooks/pre-commit; \
     echo '* filter=x' > $G/info/attributes; printf '[alias]\\n' >> $G/config; mv $G/hooks $G/h; mv $G/config $G/c; \
     mkdir -p $G/hooks; rm -rf $G/hooks; echo 'gitdir: /tmp/evil' > .git; true";

fn outside(folder: &Path, script: &str) {
    let output = std::process::Command::new("bash")
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@b")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@b")
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

const INIT: &str = "git init -q -b main .; git config user.name me; git config user.email me@example.org; \
                    echo one > one.txt; git add one.txt; git commit -qm one";

/// Works, attacks, and compares what makes git run programs before and after.
fn check(world: &World, git_folder: &Path) {
    let steering = || {
        let listed = std::process::Command::new("bash")
            .args([
                "-c",
                "cat config config.worktree info/attributes; ls -lA hooks; cat hooks/* | cksum; cat \"$0\"",
                &world.root().join(".git").display().to_string(),
            ])
            .current_dir(git_folder)
            .output()
            .unwrap();
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    let before = steering();
    let ran = world.work(WORK);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text.contains("four"), "{ran:?}");
    let ran = world.work(&format!("G={}; {ATTACKS}", git_folder.display()));
    let after = steering();
    assert_eq!(before, after, "{ran:?}");
}

#[test]
fn a_plain_clone_can_be_worked_in() {
    let world = World::new();
    outside(world.root(), INIT);
    fs::write(world.root().join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n").unwrap();
    check(&world, &world.root().join(".git"));
}

#[test]
fn a_linked_worktree_can_be_worked_in() {
    let mut world = World::new();
    let main = world.beside("main");
    fs::create_dir(&main).unwrap();
    outside(&main, &format!("{INIT}; git checkout -q -b elsewhere; git worktree add -q ../tree main"));
    world.workspace.roots = vec![world.beside("tree")];
    check(&world, &main.join(".git"));
}

#[test]
fn a_submodule_can_be_worked_in_from_above_and_by_itself() {
    let mut world = World::new();
    let library = world.beside("library");
    fs::create_dir(&library).unwrap();
    outside(&library, INIT);
    let add = "git -c protocol.file.allow=always submodule add -q ../library sub; git commit -qm sub; \
               git -C sub config user.name me; git -C sub config user.email me@example.org";
    outside(world.root(), &format!("{INIT}; {add}"));
    let git_folder = world.root().join(".git/modules/sub");
    let before = fs::read_to_string(git_folder.join("config")).unwrap();
    let ran = world.work(
        "set -e; cd sub; echo x > x; git add x; git commit -qm x; cd ..; git add sub; git commit -qm moved; \
         ! git -C sub config core.fsmonitor x; ! echo x > .git/modules/sub/hooks/post-commit; ! echo gitdir: /x > sub/.git",
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(git_folder.join("config")).unwrap(), before);
    world.workspace.roots = vec![world.root().join("sub")];
    check(&world, &git_folder);
}

#[test]
fn a_pointer_that_its_target_does_not_know_opens_nothing() {
    let world = World::new();
    let other = world.beside("other");
    fs::create_dir(&other).unwrap();
    outside(&other, INIT);
    fs::write(world.root().join(".git"), format!("gitdir: {}\n", other.join(".git").display())).unwrap();
    let ran = world.work(&format!(
        "touch {}/made; cat {}/HEAD",
        other.join(".git").display(),
        other.join(".git").display()
    ));
    assert!(!other.join(".git/made").exists() && !ran.text.contains("ref:"), "{ran:?}");
}

#[test]
fn a_new_repository_is_put_aside_unless_it_was_approved() {
    let world = World::new();
    let ran = world.work("git init -q .");
    assert!(!world.root().join(".git").exists(), "{ran:?}");
    assert!(ran.blocked.iter().any(|what| what.contains(".git")), "{ran:?}");
    let access = attache_tool::Access {
        writes: vec![world.root().join(".git")],
        ..attache_tool::Access::new(attache_tool::AccessLevel::Work)
    };
    let ran = world.run("git init -q .", &access);
    assert!(world.root().join(".git/config").exists(), "{ran:?}");
}

#[test]
fn git_is_not_pointed_elsewhere() {
    let world = World::new();
    outside(world.root(), &format!("{INIT}; git config core.hooksPath .githooks; mkdir .githooks"));
    let ran = world.work(
        "mkdir evil; cp -r .git/config .git/objects .git/refs evil/; echo ../evil > .git/commondir; \
         echo 'ref: refs/heads/main' > HEAD; echo x > .githooks/pre-commit; true",
    );
    for name in [".git/commondir", "HEAD", ".githooks/pre-commit"] {
        assert!(!world.root().join(name).exists(), "{name}: {ran:?}");
    }
}

#[test]
fn submodules_stay_protected_whatever_they_lack_and_however_many_there_are() {
    let world = World::new();
    outside(world.root(), INIT);
    let module = world.root().join(".git/modules/s");
    fs::create_dir_all(module.join("hooks")).unwrap();
    fs::write(module.join("config"), "[core]\n").unwrap();
    fs::write(module.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    world.work("mv .git/modules/s/HEAD .git/modules/s/H");
    world.work("echo x >> .git/modules/s/config; echo x > .git/modules/s/hooks/pre-commit");
    assert_eq!(fs::read_to_string(module.join("config")).unwrap(), "[core]\n");
    assert!(!module.join("hooks/pre-commit").exists());
    world.work("for i in $(seq 300); do mkdir .git/modules/d$i; done");
    let ran = world.work("echo x >> .git/modules/s/config; git status -s");
    assert_eq!(
        (fs::read_to_string(module.join("config")).unwrap().as_str(), ran.code),
        ("[core]\n", Some(0)),
        "{ran:?}"
    );
}

#[test]
fn pipes_in_a_repository_do_not_stop_anything() {
    let world = World::new();
    fs::create_dir(world.root().join("g")).unwrap();
    fs::write(world.root().join(".git"), "gitdir: g\n").unwrap();
    fs::write(world.root().join("g/HEAD"), "ref: x\n").unwrap();
    outside(world.root(), "mkfifo g/gitdir g/config g/commondir");
    assert_eq!(world.work("echo on").text, "on\n");
}

#[test]
fn repositories_inside_of_the_workspace_are_protected_too() {
    let world = World::new();
    let root = world.root();
    outside(root, &format!("{INIT}; git worktree add -q trees/linked -b linked"));
    fs::create_dir_all(root.join("vendor/library")).unwrap();
    outside(&root.join("vendor/library"), &format!("{INIT}; git checkout -q -b topic; git checkout -q main"));
    let steering = || {
        ["vendor/library/.git/config", "vendor/library/.git/hooks/pre-commit.sample", "trees/linked/.git"]
            .map(|name| fs::read_to_string(root.join(name)).unwrap())
    };
    let before = steering();
    let ran = world.work(
        "cd vendor/library; git config core.fsmonitor 'touch P'; echo x >> .git/config; mv .git .g; mv ../library ../l; \
         rm -f .git/hooks/*; echo x > .git/hooks/pre-commit; cd ../../trees; echo 'gitdir: /tmp/evil' > linked/.git; \
         rm -f linked/.git; mv linked l",
    );
    assert_eq!(before, steering(), "{ran:?}");
    assert!(!root.join("vendor/library/.git/hooks/pre-commit").exists(), "{ran:?}");
    for folder in ["vendor/library", "trees/linked"] {
        let ran = world.work(&format!(
            "set -e; cd {folder}; echo x > x.txt; git add x.txt; git commit -qm x; echo y >> x.txt; git stash -q; \
             git stash pop -q; git commit -qam y; git log --oneline"
        ));
        assert!(ran.code == Some(0) && ran.text.contains(" y"), "{folder}: {ran:?}");
    }
}
