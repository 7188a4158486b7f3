//! Commands that run in a copy of the program that was started before them.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use attache_tool::{Access, AccessLevel, ReadyStart};

use crate::world::{RUNTIME, World, ran};

/// The processes that this one has started and that still run.
fn children() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.join("children")).ok());
    let pids: Vec<String> =
        lists.flat_map(|list| list.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let runs = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    pids.into_iter().filter(|pid| !pid.is_empty()).filter(runs).collect()
}

#[test]
fn a_waiting_copy_runs_a_command_as_a_new_one_does() {
    let world = World::new();
    let _context = RUNTIME.enter();
    for level in [AccessLevel::Look, AccessLevel::Work] {
        let access = Access::new(level);
        for script in [
            "pwd; echo \"$PATH $HOME $TMPDIR\"; env | sort; exit 7",
            "cat; ls -a / /tmp ~ /dev /etc; cat /proc/mounts | cut -d' ' -f2- | sort; ulimit -a",
            "kill -KILL $$",
            "echo x > \"$HOME/cache\"; cat \"$HOME/cache\"; ls /proc/self/fd | wc -l; ps ax -o pid=,args= | wc -l",
            "grep -E 'Cap|Seccomp|NoNewPrivs' /proc/self/status; cat /proc/1/environ; readlink /proc/self/ns/user | wc -c",
        ] {
            // Errors in the order in which they are written.
            let script = &format!("exec 2>&1; {script}");
            let (mut command, launch) = world.command(script, &access);
            let new = ran(command.output().unwrap(), &launch);
            drop(launch);
            let mut launch = world.launch(script, &access);
            let ready = launch.ready.take().expect("the end of a command starts the next copy");
            let waiting = world.run_ready(ready, &launch);
            assert_eq!((new.code, new.text), (waiting.code, waiting.text), "{level:?} {script}");
        }
    }
}

#[test]
fn a_waiting_copy_takes_one_command_and_has_nothing_of_the_server() {
    let world = World::new();
    let _context = RUNTIME.enter();
    world.look("true");
    let waiting = children();
    let [pid] = waiting.as_slice() else { panic!("{waiting:?}") };
    // It is empty until the copy has replaced the program of its parent.
    let deadline = Instant::now() + Duration::from_secs(30);
    let environment = loop {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
        if !environment.is_empty() || Instant::now() > deadline {
            break environment;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(String::from_utf8_lossy(&environment), "MIMALLOC_ARENA_RESERVE=0\0");
    let first = world.launch("true", &Access::new(AccessLevel::Look));
    let second = world.launch("true", &Access::new(AccessLevel::Look));
    assert!(first.ready.is_some() && second.ready.is_none());
}

#[test]
fn a_waiting_copy_ends_with_the_sandbox() {
    let world = World::new();
    world.look("true");
    assert_eq!(children().len(), 1);
    drop(world);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !children().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", children());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_command_that_is_too_long_for_a_waiting_copy_runs_in_a_new_one() {
    let world = World::new();
    let _context = RUNTIME.enter();
    world.look("true");
    let mut launch = world.launch(&format!("true {}", "x".repeat(100_000)), &Access::new(AccessLevel::Look));
    let ready = launch.ready.take().unwrap();
    let output = fs::File::open("/dev/null").unwrap();
    let start =
        ReadyStart { directory: world.root(), environment: &[], output: output.as_fd(), terminal: false };
    assert!(ready.run(&launch, start).is_err());
}

#[test]
fn the_terminal_is_that_of_the_command() {
    let world = World::new();
    let _context = RUNTIME.enter();
    world.look("true");
    let pty = rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&pty).unwrap();
    rustix::pty::unlockpt(&pty).unwrap();
    let name = rustix::pty::ptsname(&pty, Vec::new()).unwrap();
    let terminal = fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut launch =
        world.launch("test -t 1 && echo one; echo two > /dev/tty", &Access::new(AccessLevel::Look));
    let ready = launch.ready.take().unwrap();
    let start = ReadyStart {
        directory: world.root(),
        environment: &world.workspace.environment,
        output: terminal.as_fd(),
        terminal: true,
    };
    let mut child = ready.run(&launch, start).unwrap();
    let status = RUNTIME.block_on(child.wait()).unwrap();
    let mut text = vec![0; 64];
    let length = fs::File::from(pty).read(&mut text).unwrap();
    assert_eq!(
        (status.code(), String::from_utf8_lossy(&text[..length]).as_ref()),
        (Some(0), "one\r\ntwo\r\n")
    );
}
