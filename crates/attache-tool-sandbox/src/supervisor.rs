//! Starts unconfined commands with limits, so that they end with the server.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use attache_tool::{ConfinedProgram, Confinement, Confiner, Launch, ProgramInput};

use crate::confinement_plan::ChildRequest;
use crate::enter::NO_ARENA;
use crate::{CommandLimits, ENTER};

/// Runs commands unconfined, and says why.
#[derive(Debug)]
pub struct Supervisor {
    program: PathBuf,
    limits: CommandLimits,
    confinement: Confinement,
}

impl Supervisor {
    /// `program` calls [`enter`](crate::enter) when its first argument is [`ENTER`]; `why` says why commands are not
    /// confined. Fails if a test command cannot be supervised.
    pub fn probe(program: PathBuf, limits: CommandLimits, why: String) -> io::Result<Self> {
        let order = order(ProgramInput::Empty, limits)?;
        let mut command = Command::new(&program);
        command.args([ENTER, &order, "true"]).stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{} {}", output.status, text.trim())));
        }
        let confinement = Confinement { gaps: vec![why], ..Confinement::default() };
        Ok(Self { program, limits, confinement })
    }
}

impl Confiner for Supervisor {
    fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        self.supervise(program)
    }

    fn supervise(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        supervised(&self.program, self.limits, program)
    }
}

/// Starts a copy of `own` that watches the program.
pub(crate) fn supervised(
    own: &Path,
    limits: CommandLimits,
    program: ConfinedProgram<'_>,
) -> io::Result<Launch> {
    let order = order(program.input, limits)?;
    let arguments = [OsString::from(ENTER), order.into(), program.name.into()];
    let (name, value) = NO_ARENA;
    Ok(Launch {
        program: own.to_owned(),
        arguments: arguments.into_iter().chain(program.arguments.into_iter().map(OsString::from)).collect(),
        environment: vec![(name.to_owned(), value.to_owned())],
        input: None,
        guard: None,
        supervised: true,
        ready: None,
    })
}

fn order(input: ProgramInput, limits: CommandLimits) -> io::Result<String> {
    let server = i32::try_from(std::process::id()).map_err(io::Error::other)?;
    Ok(serde_json::to_string(&ChildRequest::Supervise {
        server,
        limits,
        input: input == ProgramInput::Inherited,
    })?)
}
