//! `about`: which program this is, and how it is set up here.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{Command, CommandError, Next, Request};

pub(crate) struct About;

#[async_trait]
impl Command for About {
    fn name(&self) -> &str {
        "about"
    }

    fn description(&self) -> &str {
        "Shows the version, the model and the workspace."
    }

    async fn run(&self, request: Request<'_>) -> Result<Next, CommandError> {
        let about = request.desk.about();
        let lines: Vec<String> = about.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let data: Vec<Value> =
            about.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        Ok(Next::done(lines.join("\n"), json!({ "about": data })))
    }
}
