//! Plays a scenario against a server and tells what was heard.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::gemini_extension::check_gemini_event;
use serde_json::{Value, json};

use super::client::Client;
use super::model::Model;
use super::normal::Normal;
use super::scenario::Scenario;

/// How long to listen to a stream of which it is known that it hangs.
const SILENCE_TIMEOUT: Duration = Duration::from_millis(1500);

/// A server to play against.
pub(super) struct Stage<'a> {
    pub(super) address: String,
    pub(super) model: &'a Model,
    /// Below it each scenario has a workspace of its own.
    pub(super) folder: PathBuf,
    pub(super) whose: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Peers,
    Ours,
}

impl Stage<'_> {
    /// The normalised events of each step, and the outcome.
    pub(super) async fn play(&self, scenario: &Scenario) -> Value {
        let workspace = self.folder.join("work").join(scenario.name);
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join("hello.txt"), "Hello, world.\nSecond line.\n").unwrap();
        self.model.plan(&scenario.model);
        let before = self.model.asked();
        let mut client = Client::new(scenario.name, &workspace, &self.address).await;
        let mut steps = Vec::new();
        for (number, step) in scenario.steps.iter().enumerate() {
            let hangs = scenario.hangs && number + 1 == scenario.steps.len();
            client.patience = if hangs { SILENCE_TIMEOUT } else { WAIT_TIMEOUT };
            if let Some((asks, heard)) = client.run(step).await {
                if self.whose == Whose::Ours && !asks.starts_with("POST") {
                    check(&heard);
                }
                steps.push(json!({"asks": asks, "heard": heard}));
            }
        }
        let mut heard = json!({"modelCalls": self.model.asked() - before, "steps": steps});
        if let Some(text) = scenario.tells {
            heard["modelIsTold"] = json!(self.model.was_told(before, text));
        }
        if let Some(file) = scenario.makes {
            heard["file"] = json!(fs::read_to_string(workspace.join(file)).unwrap_or_default());
        }
        self.normalise(&workspace, &mut heard);
        heard
    }

    fn normalise(&self, workspace: &Path, heard: &mut Value) {
        let (_, port) = self.address.split_once(':').unwrap();
        let places = [
            (workspace.display().to_string(), "$WORKSPACE"),
            (self.folder.display().to_string(), "$HOME"),
            (format!("localhost:{port}"), "$ADDRESS"),
            (self.address.clone(), "$ADDRESS"),
        ];
        Normal { places: &places }.of(heard);
    }
}

/// Every event of ours is what docs/extension/gemini.schema.json says.
#[track_caller]
fn check(heard: &Value) {
    for event in heard["events"].as_array().into_iter().flatten().filter(|event| event["event"].is_null()) {
        check_gemini_event(event).unwrap_or_else(|error| panic!("{error}"));
    }
}
