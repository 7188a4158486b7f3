//! The frameworks of JavaScript.

use super::python::NO_IDS;
use super::steps::{DEFAULT, FrameworkStep, fails, lacks};
use super::{Framework, Language};
use crate::interop::peers::{Client, JAVASCRIPT_0_3, JAVASCRIPT_1_0};

const MASTRA: &[(&str, &str)] = &[("@mastra/core", "1.71.0")];

const MASTRA_NOTE: &str =
    "a suspended run is resumed; another message carries the conversation so far in its text, and no context";

/// Over its Agent Client Protocol, a tool is run without a callback for its output.
const GEMINI_SOURCE: &str = "@google/gemini-cli/bundle/gemini-3HFX2LNT.js:15687";

const fn javascript(
    name: &'static str,
    folder: &'static str,
    packages: &'static [(&'static str, &'static str)],
    script: &'static str,
) -> Framework {
    Framework::new(Client { name, language: Language::JavaScript, folder, packages, script })
}

pub(super) const FRAMEWORKS: &[Framework] = &[
    javascript("npm @a2a-js/sdk 1.3.0", "js-1.0", JAVASCRIPT_1_0, "frameworks/js/a2a-js-1.mjs"),
    javascript("npm @a2a-js/sdk 0.3.14", "js-0.3", JAVASCRIPT_0_3, "frameworks/js/a2a-js-0.mjs"),
    javascript(
        "npm @google/adk 2.0.0",
        "js-google-adk",
        &[("@google/adk", "2.0.0")],
        "frameworks/js/google-adk.mjs",
    ),
    javascript(
        "npm @google/gemini-cli 0.61.0",
        "js-gemini-cli",
        &[("@google/gemini-cli", "0.61.0")],
        "frameworks/js/gemini-cli.mjs",
    )
    .note(
        "a remote agent of the CLI; its model passes on what the agent says, without the label that the CLI puts before \
         an artifact",
    )
    .known(&[lacks(&[FrameworkStep::Stream], "it shows the pieces on a terminal only", GEMINI_SOURCE)]),
    javascript("npm @mastra/core 1.71.0, A2A 0.3", "js-mastra", MASTRA, "frameworks/js/mastra.mjs").note(MASTRA_NOTE),
    javascript("npm @mastra/core 1.71.0, A2A 1.0", "js-mastra", MASTRA, "frameworks/js/mastra-1.mjs").note(MASTRA_NOTE),
    javascript(
        "npm a2a-ai-provider 0.5.0-alpha.1 (AI SDK)",
        "js-ai-sdk",
        &[("a2a-ai-provider", "0.5.0-alpha.1"), ("ai", "6.0.326")],
        "frameworks/js/ai-sdk.mjs",
    ),
    javascript(
        "npm @ag-ui/a2a 0.0.6",
        "js-ag-ui",
        &[("@ag-ui/a2a", "0.0.6"), ("@ag-ui/client", "1.0.0"), ("@ag-ui/core", "1.0.0")],
        "frameworks/js/ag-ui.mjs",
    )
    .known(&[fails(
        DEFAULT,
        &[FrameworkStep::ExactText, FrameworkStep::Stream, FrameworkStep::TextAfterApproval, FrameworkStep::SecondMessage],
        "it shows the messages of statuses, and no artifacts",
        "@ag-ui/a2a/dist/index.mjs, the branches for `status-update` and `task`",
    )]),
    javascript(
        "npm @strands-agents/sdk 1.19.0",
        "js-strands",
        &[("@strands-agents/sdk", "1.19.0"), ("@a2a-js/sdk", "0.3.14"), ("express", "5.2.1")],
        "frameworks/js/strands.mjs",
    )
    .note("a question is in no result, only in the events of its stream")
    .known(&[lacks(&[FrameworkStep::TextAfterApproval], NO_IDS, "@strands-agents/sdk/dist/src/a2a/a2a-agent.js:100")]),
];
