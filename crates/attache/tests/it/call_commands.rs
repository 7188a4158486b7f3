//! Commands and confirmations of our own server: `attache call` by the real binary. Those of scripted agents are tested in
//! `attache-cli`.

use crate::call_command::call;
use crate::support::launch;

#[tokio::test]
async fn a_tool_call_of_a_command_is_answered() {
    let launch = launch().in_memory();
    for (answer, written) in [("no", false), ("yes", true)] {
        let server = launch.start().await;
        let ended =
            call(&[server.url(), "--command", "memory add", "we test first", "--answer", answer]).await;
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains("[input-required]"), "{answer}: {said}");
        assert_eq!(ended.out.lines().any(|line| line == "Remembered: we test first"), written, "{said}");
        let remembered = std::fs::read_to_string(launch.folder().join("GEMINI.md")).unwrap_or_default();
        assert_eq!(remembered.contains("we test first"), written, "{answer}: {said}");
    }
}
