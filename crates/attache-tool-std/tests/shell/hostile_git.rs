//! Repositories whose settings name programs: whatever git runs unasked starts none of them.

use std::path::Path;
use std::process::Command;

use attache_tool::policy::{Policy, PolicyDecision, PolicyMode};
use attache_tool::ruling::{CallFacts, rule};
use attache_tool::{Access, AccessLevel, Confinement, Effect, Proposal, Tool};
use attache_tool_std::WorkspaceFiles;
use serde_json::{Map, json};

use super::world::World;

/// A repository with a trap, and the lines that would step into it.
struct Trap {
    name: &'static str,
    /// Run in a fresh repository; `$T` is the trap, which leaves `$T.ran` behind.
    set: &'static str,
    lines: &'static [&'static str],
    /// What the ruling says: asked about, or run with the trap switched off.
    expected: PolicyDecision,
}

const TRAPS: &[Trap] = &[
    Trap {
        name: "a text converter of an attribute",
        set: "echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv $T",
        lines: &["git diff", "git show", "git log -p", "git blame a.txt", "git status -v"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a text converter of every file",
        set: "git config diff.default.textconv $T",
        lines: &["git diff", "git show HEAD"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a diff program",
        set: "git config diff.external $T",
        lines: &["git diff", "cd . && git diff", "git -C . diff a.txt"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a diff program of an attribute in the repository itself",
        set: "echo '*.txt diff=x' > .git/info/attributes; git config diff.x.command $T",
        lines: &["git diff"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a filter",
        set: "echo '*.txt filter=x' > .gitattributes; git config filter.x.clean $T; touch a.txt",
        lines: &["git status", "git diff"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "settings that are included",
        set: "git config include.path ../more; printf '[diff]\\n\\texternal = %s\\n' $T > more",
        lines: &["git diff"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a filter of a submodule",
        set: "git init -q sub; cd sub; echo a > a.txt; echo '*.txt filter=x' > .gitattributes; git add .; \
              git commit -qm one; git config filter.x.clean $T; touch -d 2001-01-01 a.txt; cd ..; \
              git -c protocol.file.allow=always submodule --quiet add ./sub sub",
        lines: &["git status", "git diff"],
        expected: PolicyDecision::Ask,
    },
    Trap {
        name: "a file watcher of a submodule",
        set: "git init -q sub; cd sub; echo a > a.txt; git add .; git commit -qm one; \
              git config core.fsmonitor $T; echo b >> a.txt; cd ..; \
              git -c protocol.file.allow=always submodule --quiet add ./sub sub",
        lines: &["git status", "git diff"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "a file watcher",
        set: "git config core.fsmonitor $T",
        lines: &["git status", "git diff"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "a pager",
        set: "git config core.pager $T; git config pager.log $T",
        lines: &["git log", "git -p diff"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "a program that checks signatures",
        set: "git config gpg.program $T; git config log.showSignature true; \
              printf 'tree %s\\nauthor a <a@b> 1 +0000\\ncommitter a <a@b> 1 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n \
              x\\n -----END PGP SIGNATURE-----\\n\\nm\\n' $(git rev-parse HEAD^{tree}) > c; \
              git update-ref HEAD $(git hash-object -t commit -w c)",
        lines: &["git log", "git log --format='%G?'"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "a hook",
        // The index changes when a file has another time and the same content.
        set: "echo c > c.txt; git add c.txt; git commit -qm two c.txt; touch -d 2001-01-01 c.txt; \
              cp $T .git/hooks/post-index-change; git config core.hooksPath .git/hooks",
        lines: &["git status"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "a repository in a folder of the project",
        set: "git init -q --bare fixtures; cd fixtures; git config core.bare false; git config core.worktree ..; \
              git config core.fsmonitor $T; git config diff.external $T; cd ..; \
              git push -q fixtures HEAD:refs/heads/m; git -C fixtures symbolic-ref HEAD refs/heads/m",
        lines: &["cd fixtures && git show", "cd fixtures && git diff", "git -C fixtures status"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "objects that are fetched when they are missing",
        set: "git clone -q --bare . far; B=$(git rev-parse HEAD:a.txt); git config extensions.partialClone far; \
              git config core.repositoryFormatVersion 1; git config remote.far.url ./far; \
              git config remote.far.promisor true; git config remote.far.uploadpack $T; \
              rm -f .git/objects/$(echo $B | cut -c1-2)/$(echo $B | cut -c3-)",
        lines: &["git show", "git log -p"],
        expected: PolicyDecision::Allow,
    },
    Trap {
        name: "another meaning of a name",
        set: "git config alias.status '!'$T; git config alias.look '!'$T",
        lines: &["git status"],
        expected: PolicyDecision::Allow,
    },
];

/// Runs a script without knowing what the repository holds.
fn by_hand(folder: &Path, trap: &Path, script: &str) {
    let done = Command::new("bash")
        .args(["-c", script])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .env("T", trap)
        .output();
    done.expect("bash can be started");
}

fn repository(trap: &Trap, terminal: bool) -> (World, std::path::PathBuf) {
    let world = if terminal { World::on_terminal() } else { World::new() };
    let root = world.root();
    let program = world.folder.path().canonicalize().unwrap().join("trap");
    std::fs::write(&program, format!("#!/bin/sh\ntouch {0}.ran\nexit 0\n", program.display())).unwrap();
    by_hand(
        &root,
        &program,
        "chmod +x $T; git init -q .; echo a > a.txt; git add .; git commit -qm one; echo b >> a.txt",
    );
    by_hand(&root, &program, trap.set);
    (world, program.with_extension("ran"))
}

fn judge(world: &World, proposal: &Proposal) -> attache_tool::ruling::Ruling {
    rule(
        &Policy::default(),
        &CallFacts {
            tool: "run_shell_command",
            server: None,
            subagent: None,
            annotations: &Map::new(),
            proposal,
            roots: &world.context.workspace.roots,
            plans: None,
            mode: PolicyMode::Default,
            interactive: true,
            trusted: true,
            confinement: &Confinement::full(),
            files: &WorkspaceFiles::new(world.context.workspace.as_ref().clone()),
        },
    )
}

#[tokio::test]
async fn nothing_that_git_runs_unasked_is_the_repository_s() {
    for trap in TRAPS {
        for terminal in [false, true] {
            let (world, ran) = repository(trap, terminal);
            for line in trap.lines {
                let mut proposal = world.propose(json!({ "command": line })).await.unwrap();
                let ruling = judge(&world, &proposal);
                let _ = std::fs::remove_file(&ran);
                assert_eq!(ruling.decision, trap.expected, "{}: {line}: {}", trap.name, ruling.why);
                if ruling.decision == PolicyDecision::Allow {
                    assert_eq!(ruling.access, Some(Access::new(AccessLevel::Look)), "{line}");
                    proposal.set_access(&Access::new(AccessLevel::Look));
                    world.tool().run(proposal, &world.context).await.unwrap();
                    assert!(!ran.exists(), "{}: {line} has started it", trap.name);
                }
            }
        }
    }
}

/// Otherwise the test above would show nothing.
#[test]
fn the_traps_are_no_duds() {
    // A pager is started only on a terminal, and a name of git itself is never another.
    for trap in TRAPS.iter().filter(|trap| !["a pager", "another meaning of a name"].contains(&trap.name)) {
        let (world, ran) = repository(trap, false);
        let _ = std::fs::remove_file(&ran);
        for line in trap.lines {
            by_hand(&world.root(), &ran.with_extension(""), line);
        }
        assert!(ran.exists(), "{}: a plain git would have started it", trap.name);
    }
}

#[tokio::test]
async fn hooks_run_where_a_command_may_work() {
    let trap = Trap {
        name: "",
        set: "cp $T .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        lines: &[],
        expected: PolicyDecision::Ask,
    };
    let (world, ran) = repository(&trap, false);
    let line = "git -c user.name=a -c user.email=a@b commit -qam two";
    let proposal = world.propose(json!({ "command": line })).await.unwrap();
    assert!(
        matches!(&proposal.effects[..], [Effect::Run { access, .. }] if access.level == AccessLevel::Work)
    );
    world.tool().run(proposal, &world.context).await.unwrap();
    assert!(ran.exists());
}
