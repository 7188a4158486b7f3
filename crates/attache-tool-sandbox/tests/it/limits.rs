use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use attache_tool::{Access, ConfinedProgram, Confiner, Launch, ProgramInput};
use attache_tool_sandbox::{CommandLimits, EgressOptions, Supervisor};

use crate::world::World;

const BOMB: &str = "bomb() { bomb | bomb & bomb; }; bomb; sleep 600";
const HOG: &str = "python3 -c 'x = bytearray(b\"x\") * (1 << 30); import time; time.sleep(600)'";
/// Any user but root and the one that runs the tests.
const OTHER_USER: &str = "54321";

fn limited(limits: CommandLimits) -> World {
    World::with(limits, EgressOptions::default())
}

#[test]
fn a_fork_bomb_is_ended() {
    let world = limited(CommandLimits { processes: 64, ..CommandLimits::default() });
    let started = Instant::now();
    let ran = world.work(BOMB);
    assert!(started.elapsed() < Duration::from_secs(120), "{ran:?}");
    assert!(is_bomb_ended(&ran.text), "{ran:?}");
}

fn is_bomb_ended(text: &str) -> bool {
    text.contains("more than 64 processes") || text.contains("Resource temporarily unavailable")
}

#[test]
fn memory_is_limited_for_one_process_and_for_all_together() {
    let world = limited(CommandLimits { memory_bytes: 256 << 20, ..CommandLimits::default() });
    let ran = world.work(HOG);
    assert!(ran.code != Some(0) && ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
    let ran = world.work("python3 -c 'x = bytearray(6 << 30); print(\"GOT\")'");
    assert!(ran.code != Some(0) && !ran.text.contains("GOT"), "{ran:?}");
    let one = "python3 -c 'x = bytearray(b\"x\") * (100 << 20); import time; time.sleep(600)'";
    let ran = world.work(&format!("{one} & {one} & {one} & {one} & wait"));
    assert!(ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
}

#[test]
fn files_cpu_time_and_open_files_are_limited() {
    let world = limited(CommandLimits {
        file_bytes: 1 << 20,
        cpu_seconds: 1,
        open_files: 64,
        ..CommandLimits::default()
    });
    let ran = world.work("seq 1 99999999999 > big; wc -c < big");
    assert!(ran.text.contains("1048576"), "{ran:?}");
    let ran = world.work("while :; do :; done");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(world.work("ulimit -n").text, "64\n");
}

#[test]
fn limits_hold_for_commands_without_confinement_too() {
    let world = limited(CommandLimits { file_bytes: 1 << 20, open_files: 64, ..CommandLimits::default() });
    let ran = world.run("ulimit -n; cat ~/.ssh/id_rsa", &Access::open());
    assert!(ran.text.starts_with("64\n") && ran.text.contains("the private key"), "{ran:?}");
    let ran = world.run("seq 1 99999999999 > big; wc -c < big", &Access::open());
    assert!(ran.text.contains("1048576"), "{ran:?}");
}

#[test]
fn a_fork_bomb_and_a_hog_are_ended_at_level_open_too() {
    let world = limited(CommandLimits { processes: 64, memory_bytes: 256 << 20, ..CommandLimits::default() });
    let ran = world.run(BOMB, &Access::open());
    assert!(ran.code != Some(0) && is_bomb_ended(&ran.text), "{ran:?}");
    let ran = world.run(HOG, &Access::open());
    assert!(ran.code != Some(0) && ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
    let small = "python3 -c 'x = bytearray(b\"x\") * (100 << 20); import time; time.sleep(600)'";
    let ran = world.run(&format!("{small} & {small} & setsid {small} & {small} & wait"), &Access::open());
    assert!(ran.code != Some(0) && ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
    let ran = world.run("for i in 1 2 3; do sleep 0.1 & done; wait; echo fine", &Access::open());
    assert_eq!((ran.code, ran.text.as_str()), (Some(0), "fine\n"));
}

/// Runs a command as confinement that is switched off does, and MCP servers that are not confined.
fn supervised(limits: CommandLimits, script: &str, world: &World, own: &[&str]) -> Output {
    let confined = world.beside("confined");
    // Where other users can start it.
    if !confined.exists() {
        fs::copy(env!("CARGO_BIN_EXE_confined"), &confined).unwrap();
    }
    let supervisor = Supervisor::probe(confined, limits, "a test".into()).unwrap();
    let (workspace, access) = (&world.workspace, &Access::open());
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    let program = ConfinedProgram { name: "bash", arguments, workspace, access, input: ProgramInput::Empty };
    let Launch { program, arguments, environment, .. } = supervisor.supervise(program).unwrap();
    let line: Vec<_> =
        own.iter().map(Into::into).chain([program.into_os_string()]).chain(arguments).collect();
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).envs(environment).current_dir("/").stdin(Stdio::null());
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn limits_hold_where_nothing_is_confined() {
    let limits = CommandLimits {
        processes: 64,
        memory_bytes: 256 << 20,
        cpu_seconds: 77,
        open_files: 65,
        file_bytes: 1 << 20,
    };
    let world = World::new();
    let told = text(&supervised(limits, "ulimit -n; ulimit -t; ulimit -f", &world, &[]));
    assert_eq!(told, "65\n77\n1024\n");
    for (script, expected) in [(BOMB, "processes"), (HOG, "more than 256 MiB of memory")] {
        let output = supervised(limits, script, &world, &[]);
        let told = text(&output);
        assert!(!output.status.success(), "{script}: {told}");
        assert!(told.contains(expected) || is_bomb_ended(&told), "{script}: {told}");
    }
}

/// Root has no limit on processes: here another user starts them, if that is possible.
#[test]
fn a_user_who_is_not_root_cannot_start_more_processes() {
    let world = World::new();
    fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let limits = CommandLimits { processes: 64, ..CommandLimits::default() };
    let own: &[&str] = if rustix::process::getuid().is_root() {
        &["setpriv", "--reuid", OTHER_USER, "--clear-groups"]
    } else {
        &[]
    };
    let output = supervised(limits, "ulimit -u", &world, own);
    let most: u64 = text(&output).trim().parse().unwrap_or_else(|_| panic!("{output:?}"));
    assert!((64..100_000).contains(&most), "{most}");
    // It is about all processes of the user, so those that there are already are added.
    if !own.is_empty() {
        assert!(most < 64 + 64 + 16, "{most}");
    }
    // The note cannot be seen here: the pipe belongs to the user who runs the test.
    let output = supervised(limits, BOMB, &world, own);
    assert!(!output.status.success(), "{output:?}");
}
