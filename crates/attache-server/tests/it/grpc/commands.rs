//! Commands over gRPC, given by the client that tonic makes of the extension's definition.

use std::time::Duration;

use attache_proto::development_tool::development_tool_service_client::DevelopmentToolServiceClient;
use attache_proto::development_tool::{
    CommandExecutionStatus, ExecuteSlashCommandRequest, GetAllSlashCommandsRequest,
};
use tonic::{Code, Request};

use super::world::{Grpc, Speaks};
use crate::world::launch;

fn request(path: &[&str], args: &str) -> ExecuteSlashCommandRequest {
    let command_path = path.iter().map(|word| (*word).to_owned()).collect();
    ExecuteSlashCommandRequest { command_path, args: args.to_owned(), ..Default::default() }
}

#[tokio::test]
async fn commands_are_listed_with_their_sub_commands() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let mut client = DevelopmentToolServiceClient::new(grpc.channel.clone());
    let listed = client.get_all_slash_commands(GetAllSlashCommandsRequest::default()).await.expect("a list");
    let commands = listed.into_inner().commands;
    let memory = commands.iter().find(|command| command.name == "memory").expect("/memory");
    let add = memory.sub_commands.iter().find(|command| command.name == "add").expect("/memory add");
    assert!(add.arguments.iter().any(|argument| argument.is_required), "{add:?}");
}

#[tokio::test]
async fn a_command_runs_in_a_task_that_both_versions_see() {
    let server = launch().start().await;
    for (speaks, version) in Speaks::BOTH.into_iter().zip(["0.3", "1.0"]) {
        let grpc = Grpc::to(server.url(), speaks).await;
        let mut client = DevelopmentToolServiceClient::new(grpc.channel.clone());
        let mut asked = Request::new(request(&["memory", "list"], ""));
        asked.metadata_mut().insert("a2a-version", version.parse().expect("a version"));
        let begun = client.execute_slash_command(asked).await.expect("an answer").into_inner();
        assert_eq!(begun.status(), CommandExecutionStatus::Started, "{begun:?}");
        let done = async {
            while grpc.state_of(&begun.execution_id).await != "TASK_STATE_COMPLETED" {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), done).await.expect("the command ends");
    }
}

#[tokio::test]
async fn what_cannot_start_says_why_and_what_is_no_request_is_refused() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let mut client = DevelopmentToolServiceClient::new(grpc.channel.clone());
    let unknown = client.execute_slash_command(request(&["nothing-like-it"], "")).await.expect("an answer");
    let unknown = unknown.into_inner();
    assert_eq!(unknown.status(), CommandExecutionStatus::FailedToStart);
    assert!(unknown.message.contains("nothing-like-it"), "{unknown:?}");
    let empty = client.execute_slash_command(request(&[], "")).await.expect_err("a refusal");
    assert_eq!(empty.code(), Code::InvalidArgument);
    let elsewhere = ExecuteSlashCommandRequest { task_id: "no-such-task".into(), ..request(&["help"], "") };
    let elsewhere = client.execute_slash_command(elsewhere).await.expect_err("a refusal");
    assert_eq!(elsewhere.code(), Code::NotFound, "{elsewhere:?}");
}
