//! Where the kernel makes no namespaces, and where nothing is confined: what still holds.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::ModelServer;
use serde_json::json;

use super::{in_mode, question, runs};
use crate::agent_world::{calls, last_output, launch_of, launch_with, reply, says, send, state, work, write};

const SECRET: &str = "attache-secret-0815";

#[tokio::test]
async fn landlock_alone_keeps_commands_from_files_and_services() {
    let services = TcpListener::bind("127.0.0.1:0").unwrap();
    services.set_nonblocking(true).unwrap();
    let port = services.local_addr().unwrap().port();
    let attack = format!(
        "cat link ../secret.txt; echo x > ../made; echo x > link; exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED; \
         echo inside > inside.txt; cat inside.txt; exit 1"
    );
    let model = ModelServer::with_responses([runs("cat hello.txt"), runs("sh attack.sh"), says("Done.")]);
    let wrapper = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" \"$@\"' {} \"$@\"\n",
        env!("CARGO_BIN_EXE_attache")
    );
    let program = wrapper.path().join("attache");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let launch = launch_of(ServerLaunch::of(program), &model);
    write(&launch, "secret.txt", SECRET);
    write(&launch, "work/attack.sh", &format!("exec bash -c '{attack}'"));
    std::os::unix::fs::symlink(launch.folder().join("secret.txt"), work(&launch).join("link")).unwrap();
    let server = launch.start().await;
    // What only looks runs unasked; what may write a protected file is asked about, with what is missing.
    let task = send(&server.client(), "m1", "Look!").await;
    assert!(last_output(&model).contains("Hello, world."), "{}", last_output(&model));
    assert!(question(&task).contains("Not enforced here: protected files inside the workspace"), "{task:#}");
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let output = last_output(&model);
    assert!(output.contains("inside") && output.contains("Permission denied"), "{output}");
    assert!(!output.contains(SECRET) && !output.contains("REACHED"), "{output}");
    assert!(services.accept().is_err(), "a connection came through");
    assert!(!launch.folder().join("made").exists());
    assert_eq!(fs::read_to_string(launch.folder().join("secret.txt")).unwrap(), SECRET);
}

const SMALL: &str =
    "processes = 64\nmemory_megabytes = 256\ncpu_seconds = 77\nopen_files = 650\nfile_megabytes = 1\n";
const BOMB: &str = "ulimit -n; ulimit -t; ulimit -f; bomb() { bomb | bomb & bomb; }; bomb; sleep 600";

#[tokio::test]
async fn limits_hold_in_yolo_and_where_confinement_is_switched_off() {
    for enabled in [true, false] {
        let model = ModelServer::with_responses([
            calls("run_shell_command", json!({"command": BOMB, "unconfined": true})),
            says("Done."),
        ]);
        let settings = format!("[confinement]\nenabled = {enabled}\n{SMALL}");
        let server = in_mode("yolo", &model).settings(&settings).start().await;
        let task = send(&server.client(), "m1", "Go!").await;
        assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
        let output = last_output(&model);
        assert!(output.contains("650") && output.contains("77") && output.contains("1024"), "{output}");
        assert!(
            output.contains("more than 64 processes") || output.contains("Resource temporarily unavailable"),
            "{output}"
        );
    }
}

/// An MCP server with one tool, which tells its own limits.
const SERVER: &str = r#"while read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<< "$line")
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"limits","inputSchema":{"type":"object"}}]}}';;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"files '$(ulimit -n)' seconds '$(ulimit -t)'"}]}}';;
  esac
done
"#;

#[tokio::test]
async fn mcp_servers_that_are_not_confined_have_limits_too() {
    let model = ModelServer::with_responses([calls("mcp_own_limits", json!({})), says("Done.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let launch = launch.settings(&format!("[confinement]\n{SMALL}"));
    let script = launch.write("server.sh", SERVER);
    let settings = json!({"mcpServers": {"own": {"command": "bash", "args": [script]}}});
    write(&launch, ".gemini/settings.json", &settings.to_string());
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Go!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(last_output(&model).contains("files 650 seconds 77"), "{}", last_output(&model));
}
