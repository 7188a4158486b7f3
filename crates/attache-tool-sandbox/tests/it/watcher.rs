//! A command that nothing confines, and the processes that watch it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use attache_tool::{Access, ConfinedProgram, Confiner, IgnoreSources, ProgramInput, Workspace};
use attache_tool_sandbox::{CommandLimits, Supervisor};

fn start(script: &str) -> Child {
    let supervisor =
        Supervisor::probe(env!("CARGO_BIN_EXE_confined").into(), CommandLimits::default(), "a test".into())
            .expect("it can be watched");
    let workspace = Workspace {
        roots: vec!["/".into()],
        scratch: "/".into(),
        environment: Vec::new(),
        ignore: IgnoreSources::default(),
    };
    let access = Access::open();
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    let program = ConfinedProgram {
        name: "bash",
        arguments,
        workspace: &workspace,
        access: &access,
        input: ProgramInput::Inherited,
    };
    let launch = supervisor.confine(program).unwrap();
    assert!(launch.supervised);
    let mut command = Command::new(launch.program);
    command.args(launch.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn it_ends_as_the_command_does() {
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 7", Some(7), None),
        ("kill -TERM $$", None, Some(15)),
        ("kill -SEGV $$", None, Some(11)),
    ] {
        let status = start(script).wait().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
    }
}

#[test]
fn it_reads_and_writes_as_the_command_does() {
    let mut child = start("cat; echo done");
    drop(child.stdin.take());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), child.wait().unwrap().code()), ("done\n", Some(0)));
}

#[test]
fn what_reads_its_output_sees_it_closed_by_the_command() {
    let mut child = start("echo last; exec >&-; read -r line; exit 3");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "last\n", "the command still runs");
    assert_eq!(child.try_wait().unwrap(), None);
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn an_order_to_end_reaches_the_command() {
    let mut child = start("trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    // Not from this process, which is taken for the server.
    signal(&child, "-TERM");
    assert_eq!(lines.next().unwrap().unwrap(), "asked");
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn when_the_process_outside_is_killed_everything_is_also_what_hides() {
    let hidden = "setsid env -i bash -c 'ulimit -Sx unlimited; echo hidden; sleep 300' &";
    let mut child = start(&format!("({hidden}); sleep 300"));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "hidden\n");
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // All of them hold it open: it ends when the last of them does.
    assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn what_the_command_leaves_running_goes_on() {
    let mut child = start("(sleep 0.1; echo later) & exit 4");
    let mut text = String::new();
    let mut output = child.stdout.take().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    output.read_to_string(&mut text).unwrap();
    assert_eq!(text, "later\n");
}
