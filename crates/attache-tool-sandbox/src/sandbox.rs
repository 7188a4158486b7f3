//! Turns a command and its access into a plan, and into the start of a copy of this program that carries out the plan.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_tool::{AccessLevel, ConfinedProgram, Confinement, Confiner, Launch, ProgramInput, ReadyProcess};

use crate::confinement_plan::{ChildRequest, ConfinementPlan, Isolation, NetworkAccess, PROXY_PORT};
use crate::egress::{Egress, EgressOptions};
use crate::enter::NO_ARENA;
use crate::guard::CommandGuard;
use crate::protected::{Protection, protection};
use crate::readable_paths::{ReadablePaths, readable_paths};
use crate::ready::ReadyCopies;
use crate::supervisor::supervised;
use crate::workspace_scan::WorkspaceScans;
use crate::{CommandLimits, ENTER, probe};

/// Settings of a [`Sandbox`].
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// The program that calls [`enter`](crate::enter) when its first argument is [`ENTER`].
    pub program: PathBuf,
    /// The environment of commands. It names the toolchains they may read.
    pub environment: Vec<(String, String)>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// More readable files and folders.
    pub reads: Vec<PathBuf>,
    /// Files and folders that no command sees.
    pub hidden: Vec<PathBuf>,
    pub limits: CommandLimits,
    pub egress: EgressOptions,
}

/// Starts commands confined by the kernel.
#[derive(Debug)]
pub struct Sandbox {
    options: SandboxOptions,
    confinement: Confinement,
    isolation: Isolation,
    readable_paths: ReadablePaths,
    home: Option<PathBuf>,
    scans: WorkspaceScans,
    ready: Arc<ReadyCopies>,
}

impl Sandbox {
    /// Tries what the kernel offers, in the folder `scratch`. The error gives the reasons why nothing can be confined.
    pub fn probe(options: SandboxOptions, scratch: &Path) -> Result<Self, Vec<String>> {
        let home = options.home.as_deref().and_then(|home| home.canonicalize().ok());
        let readable_paths = readable_paths(&options.environment, home.as_deref(), &options.reads);
        let ready = ReadyCopies::new(options.program.clone(), readable_paths.shared(home.as_deref()));
        let mut sandbox = Self {
            options,
            confinement: Confinement::full(),
            isolation: Isolation::Namespaces,
            readable_paths,
            home,
            scans: WorkspaceScans::default(),
            ready: Arc::new(ready),
        };
        let Err(missing) = probe::try_confinement(&sandbox, scratch) else { return Ok(sandbox) };
        sandbox.isolation = Isolation::Landlock;
        if let Err(too) = probe::try_confinement(&sandbox, scratch) {
            return Err(vec![missing, too]);
        }
        let gaps = vec![
            format!("protected files inside the workspace can be written ({missing})"),
            "an open network is open to every host".to_owned(),
        ];
        sandbox.confinement = Confinement { files: true, protected_paths: false, network: true, gaps };
        Ok(sandbox)
    }

    fn plan(
        &self,
        program: &ConfinedProgram<'_>,
        folder: &Path,
        protection: &Protection,
    ) -> io::Result<ConfinementPlan> {
        let ConfinedProgram { workspace, access, .. } = program;
        let (temporary, home) = (folder.join("tmp"), folder.join("home"));
        for folder in [&temporary, &home] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let roots = &workspace.roots;
        let in_roots = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let writes =
            roots.iter().chain(protection.writes.iter().filter(|_| access.level >= AccessLevel::Work));
        let hidden = self.options.hidden.iter().filter_map(|path| path.canonicalize().ok());
        let secrets = self.home.iter().filter(|home| in_roots(home)).flat_map(|home| home_secrets(home));
        let network = match (access.network.is_empty(), self.isolation) {
            (true, _) => NetworkAccess::None,
            (false, Isolation::Namespaces) => NetworkAccess::Proxy,
            (false, Isolation::Landlock | Isolation::None) => NetworkAccess::All,
        };
        let own = self.home.clone().filter(|home| !in_roots(home));
        Ok(ConfinementPlan {
            server: i32::try_from(std::process::id()).map_err(io::Error::other)?,
            isolation: if access.level == AccessLevel::Open { Isolation::None } else { self.isolation },
            level: access.level,
            reads: self.readable_paths.reads.iter().chain([&workspace.scratch]).cloned().collect(),
            writes: writes.cloned().collect(),
            protected: protection.read_only.clone(),
            links: self.links(),
            temporary,
            home: own.map(|place| (home, place)),
            hidden: hidden.filter(|path| in_roots(path) && !roots.contains(path)).chain(secrets).collect(),
            limits: if access.level == AccessLevel::Look {
                self.options.limits.for_look()
            } else {
                self.options.limits
            },
            network,
            input: program.input == ProgramInput::Inherited,
            probe: None,
        })
    }

    /// The links to readable paths, and the home if it is one.
    fn links(&self) -> Vec<(PathBuf, PathBuf)> {
        let home = self.options.home.clone().zip(self.home.clone()).filter(|(given, real)| given != real);
        self.readable_paths.links.iter().cloned().chain(home).collect()
    }
}

impl Confiner for Sandbox {
    fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        self.launch(program, None)
    }

    fn supervise(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        supervised(&self.options.program, self.options.limits, program)
    }
}

impl Sandbox {
    /// With `probe` the copy does not run the program: see [`ConfinementPlan::probe`].
    pub(crate) fn launch(&self, program: ConfinedProgram<'_>, probe: Option<PathBuf>) -> io::Result<Launch> {
        let protection = match program.access.level {
            AccessLevel::Look | AccessLevel::Open => Protection::default(),
            AccessLevel::Work => protection(&program.workspace.roots, &program.access.writes, &self.scans),
        };
        let scratch = &program.workspace.scratch;
        let plan = ConfinementPlan { probe, ..self.plan(&program, scratch, &protection)? };
        if plan.input && plan.network == NetworkAccess::Proxy {
            // The proxy's socket arrives on the standard input.
            return Err(io::Error::other("a program that reads its input cannot have single hosts"));
        }
        let (egress, input) = match plan.network {
            NetworkAccess::Proxy => {
                let (egress, input) = Egress::start(&program.access.network, &self.options.egress)?;
                (Some(egress), Some(input))
            }
            NetworkAccess::None | NetworkAccess::All => (None, None),
        };
        let can_wait = plan.isolation == Isolation::Namespaces && !plan.input && plan.probe.is_none();
        let copies = can_wait.then(|| self.ready.clone());
        let ready = copies.as_ref().and_then(|copies| copies.take());
        let guard = CommandGuard::new(protection.watched, egress, copies);
        let temporary = match plan.isolation {
            Isolation::Namespaces => Some("/tmp".to_owned()),
            Isolation::Landlock => Some(plan.temporary.display().to_string()),
            Isolation::None => None,
        };
        let network = plan.network;
        let order = serde_json::to_string(&ChildRequest::Confine(Box::new(plan)))?;
        let arguments = [OsString::from(ENTER), order.into(), program.name.into()];
        Ok(Launch {
            program: self.options.program.clone(),
            arguments: arguments
                .into_iter()
                .chain(program.arguments.into_iter().map(OsString::from))
                .collect(),
            environment: environment_variables(temporary, network),
            input,
            guard: Some(Arc::new(guard)),
            supervised: true,
            ready: ready.map(|copy| Box::new(copy) as Box<dyn ReadyProcess>),
        })
    }
}

fn environment_variables(temporary: Option<String>, network: NetworkAccess) -> Vec<(String, String)> {
    let (name, value) = NO_ARENA;
    let mut variables = vec![(name.to_owned(), value.to_owned())];
    variables.extend(temporary.map(|folder| ("TMPDIR".to_owned(), folder)));
    if network == NetworkAccess::Proxy {
        let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            variables.push((name.to_owned(), proxy.clone()));
        }
        for name in ["NO_PROXY", "no_proxy"] {
            variables.push((name.to_owned(), "localhost,127.0.0.1,::1".to_owned()));
        }
    }
    variables
}

/// Secrets of a home that lies in the workspace.
fn home_secrets(home: &Path) -> Vec<PathBuf> {
    const NAMES: &[&str] = &[
        ".aws",
        ".azure",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".config/gcloud",
        ".config/gh",
        ".config/hub",
        ".docker",
        ".git-credentials",
        ".gnupg",
        ".kube",
        ".local/share/keyrings",
        ".mozilla",
        ".netrc",
        ".npmrc",
        ".password-store",
        ".pgpass",
        ".pypirc",
        ".ssh",
        ".vault-token",
    ];
    NAMES.iter().map(|name| home.join(name)).filter(|path| path.exists()).collect()
}
