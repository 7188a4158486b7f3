//! A workspace, a home with secrets, and commands that run in a sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use attache_tool::{
    Access, AccessLevel, ConfinedProgram, Confiner, IgnoreSources, Launch, ProgramInput, Workspace,
};
use attache_tool_sandbox::{CommandLimits, EgressOptions, Sandbox, SandboxOptions};

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

    pub(crate) fn run(&self, script: &str, access: &Access) -> Ran {
        let (mut command, launch) = self.command(script, access);
        let output = command.output().unwrap();
        ran(output, &launch)
    }

    /// The command to be started, and what has to be kept meanwhile.
    pub(crate) fn command(&self, script: &str, access: &Access) -> (Command, Launch) {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let program = ConfinedProgram {
            name: "bash",
            arguments,
            workspace: &self.workspace,
            access,
            input: ProgramInput::Empty,
        };
        let mut launch = self.sandbox.confine(program).unwrap();
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .current_dir(self.root())
            .env_clear()
            .envs(self.workspace.environment.iter().cloned())
            .envs(launch.environment.iter().cloned())
            .stdin(launch.input.take().map_or_else(Stdio::null, Stdio::from));
        (command, launch)
    }
}

pub(crate) fn ran(output: std::process::Output, launch: &Launch) -> Ran {
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
