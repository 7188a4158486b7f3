//! A workspace, a home with secrets, and commands that run in a sandbox.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use attache_tool::{
    Access, AccessLevel, ConfinedProgram, Confiner, IgnoreSources, Launch, ProgramInput, ReadyProcess,
    ReadyStart, Workspace,
};
use attache_tool_sandbox::{CommandLimits, EgressOptions, Sandbox, SandboxOptions};
use tokio::runtime::Runtime;

/// Waits for copies of the program that are started ahead. It has a thread of its own, for tests block theirs.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
});

/// What a command wrote and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
    pub(crate) blocked: Vec<String>,
}

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) sandbox: Sandbox,
    pub(crate) workspace: Workspace,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(CommandLimits::default(), EgressOptions::default())
    }

    pub(crate) fn with(limits: CommandLimits, egress: EgressOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["workspace", "scratch/conversation", "home/.ssh"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("home/.ssh/id_rsa"), "the private key").unwrap();
        fs::write(root.join("outside.txt"), "outside").unwrap();
        fs::write(root.join("workspace/notes.txt"), "inside").unwrap();
        let environment = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), root.join("home").display().to_string()),
        ];
        let sandbox = probed(&root, &environment, limits, egress);
        let workspace = Workspace {
            roots: vec![root.join("workspace")],
            scratch: root.join("scratch/conversation"),
            environment,
            ignore: IgnoreSources::default(),
        };
        Self { folder, sandbox, workspace }
    }

    /// A sandbox that has looked again at what there is in the home.
    pub(crate) fn rebuilt(&self) -> Sandbox {
        probed(
            &self.beside(""),
            &self.workspace.environment,
            CommandLimits::default(),
            EgressOptions::default(),
        )
    }

    pub(crate) fn root(&self) -> &Path {
        &self.workspace.roots[0]
    }

    /// A path beside the workspace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn look(&self, script: &str) -> Ran {
        self.run(script, &Access::new(AccessLevel::Look))
    }

    pub(crate) fn work(&self, script: &str) -> Ran {
        self.run(script, &Access::new(AccessLevel::Work))
    }

    /// The first command of a sandbox starts a copy of the program; the others run in the copy that waits for them.
    pub(crate) fn run(&self, script: &str, access: &Access) -> Ran {
        let _context = RUNTIME.enter();
        let mut launch = self.launch(script, access);
        match launch.ready.take() {
            Some(ready) => self.run_ready(ready, &launch),
            None => ran(self.command_of(&mut launch).output().unwrap(), &launch),
        }
    }

    pub(crate) fn run_ready(&self, ready: Box<dyn ReadyProcess>, launch: &Launch) -> Ran {
        let (mut reader, writer) = io::pipe().unwrap();
        let environment = &self.workspace.environment;
        let output = writer.as_fd();
        let start = ReadyStart { directory: self.root(), environment, output, terminal: false };
        let mut child = ready.run(launch, start).unwrap();
        drop(writer);
        let mut stdout = Vec::new();
        reader.read_to_end(&mut stdout).unwrap();
        let status = RUNTIME.block_on(child.wait()).unwrap();
        ran(Output { status, stdout, stderr: Vec::new() }, launch)
    }

    /// The command as a new process, and what has to be kept meanwhile.
    pub(crate) fn command(&self, script: &str, access: &Access) -> (Command, Launch) {
        let mut launch = self.launch(script, access);
        (self.command_of(&mut launch), launch)
    }

    pub(crate) fn launch(&self, script: &str, access: &Access) -> Launch {
        let program = ConfinedProgram {
            name: "bash",
            arguments: vec!["-c".to_owned(), script.to_owned()],
            workspace: &self.workspace,
            access,
            input: ProgramInput::Empty,
        };
        self.sandbox.confine(program).unwrap()
    }

    fn command_of(&self, launch: &mut Launch) -> Command {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .current_dir(self.root())
            .env_clear()
            .envs(self.workspace.environment.iter().cloned())
            .envs(launch.environment.iter().cloned())
            .stdin(launch.input.take().map_or_else(Stdio::null, Stdio::from));
        command
    }
}

pub(crate) fn ran(output: Output, launch: &Launch) -> Ran {
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let blocked = launch.guard.as_ref().map(|guard| guard.blocked()).unwrap_or_default();
    Ran { code: output.status.code(), text, blocked }
}

fn probed(
    root: &Path,
    environment: &[(String, String)],
    limits: CommandLimits,
    egress: EgressOptions,
) -> Sandbox {
    let options = SandboxOptions {
        program: env!("CARGO_BIN_EXE_confined").into(),
        environment: environment.to_vec(),
        home: Some(root.join("home")),
        reads: vec![],
        hidden: vec![],
        limits,
        egress,
    };
    let sandbox = Sandbox::probe(options, &root.join("scratch")).expect("this kernel confines");
    let gaps = &sandbox.confinement().gaps;
    assert_eq!(*gaps, Vec::<String>::new(), "user namespaces are needed for these tests");
    sandbox
}
