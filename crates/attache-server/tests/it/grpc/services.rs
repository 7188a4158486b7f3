//! The services beside A2A, asked by the clients that tonic makes of their definitions.

use attache_proto::health::HealthCheckRequest;
use attache_proto::health::health_check_response::ServingStatus;
use attache_proto::health::health_client::HealthClient;
use attache_proto::reflection::alpha::server_reflection_client::ServerReflectionClient as AlphaClient;
use attache_proto::reflection::server_reflection_client::ServerReflectionClient;
use attache_proto::reflection::server_reflection_request::MessageRequest;
use attache_proto::reflection::server_reflection_response::MessageResponse;
use attache_proto::reflection::{ServerReflectionRequest, ServerReflectionResponse, alpha};
use attache_proto::v1_0::GetTaskRequest;
use attache_proto::v1_0::a2a_service_client::A2aServiceClient;
use prost::Message;
use prost_reflect::DescriptorPool;
use tonic::Code;

use super::world::{Grpc, Speaks};
use crate::world::launch;

fn about(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[tokio::test]
async fn the_server_and_its_services_are_healthy() {
    let server = launch().start().await;
    let mut health = HealthClient::new(Grpc::to(server.url(), Speaks::V10).await.channel);
    let services = [
        "",
        "a2a.v1.A2AService",
        "lf.a2a.v1.A2AService",
        "grpc.health.v1.Health",
        "development_tool.v0.DevelopmentToolService",
    ];
    for service in services {
        let found = health.check(about(service)).await.unwrap().into_inner();
        assert_eq!(found.status(), ServingStatus::Serving, "{service}");
    }
    let status = health.check(about("nope")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn a_health_watcher_learns_that_the_server_stops() {
    let server = launch().start().await;
    let mut health = HealthClient::new(Grpc::to(server.url(), Speaks::V10).await.channel);
    let mut unknown = health.watch(about("nope")).await.unwrap().into_inner();
    assert_eq!(unknown.message().await.unwrap().unwrap().status(), ServingStatus::ServiceUnknown);
    let mut watched = health.watch(about("")).await.unwrap().into_inner();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    server.stop();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
}

fn ask(question: MessageRequest) -> ServerReflectionRequest {
    ServerReflectionRequest { host: String::new(), message_request: Some(question) }
}

/// Answers in order to `questions`, asked on one stream.
async fn answers(grpc: &Grpc, questions: Vec<ServerReflectionRequest>) -> Vec<ServerReflectionResponse> {
    let mut reflection = ServerReflectionClient::new(grpc.channel.clone());
    let asked = tokio_stream::iter(questions);
    let mut stream = reflection.server_reflection_info(asked).await.unwrap().into_inner();
    let mut found = Vec::new();
    while let Some(answer) = stream.message().await.unwrap() {
        found.push(answer);
    }
    found
}

#[tokio::test]
async fn the_definitions_can_be_asked_for_until_nothing_is_missing() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let listed = answers(&grpc, vec![ask(MessageRequest::ListServices("*".into()))]).await;
    let Some(MessageResponse::ListServicesResponse(services)) = &listed[0].message_response else {
        panic!("{listed:?}");
    };
    let names: Vec<_> = services.service.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"a2a.v1.A2AService") && names.contains(&"lf.a2a.v1.A2AService"), "{names:?}");

    let mut wanted: Vec<_> =
        names.iter().map(|name| MessageRequest::FileContainingSymbol((*name).to_owned())).collect();
    let mut files: Vec<prost_types::FileDescriptorProto> = Vec::new();
    while let Some(question) = wanted.pop() {
        let answer = answers(&grpc, vec![ask(question)]).await.remove(0);
        let Some(MessageResponse::FileDescriptorResponse(found)) = answer.message_response else {
            panic!("{answer:?}");
        };
        for file in found.file_descriptor_proto {
            let file = prost_types::FileDescriptorProto::decode(file).unwrap();
            if !files.iter().any(|known| known.name() == file.name()) {
                wanted.extend(file.dependency.iter().cloned().map(MessageRequest::FileByFilename));
                files.push(file);
            }
        }
    }
    let pool =
        DescriptorPool::from_file_descriptor_set(prost_types::FileDescriptorSet { file: files }).unwrap();
    assert!(pool.get_message_by_name("lf.a2a.v1.StreamResponse").is_some());
    assert!(pool.get_message_by_name("a2a.v1.StreamResponse").is_some());
    assert!(pool.get_service_by_name("development_tool.v0.DevelopmentToolService").is_some());
}

#[tokio::test]
async fn questions_without_an_answer_are_told_apart() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let questions = vec![
        ask(MessageRequest::FileContainingSymbol("lf.a2a.v1.A2AService.GetTask".into())),
        ask(MessageRequest::FileContainingSymbol("nope.Nope".into())),
        ask(MessageRequest::FileByFilename("nope.proto".into())),
        ask(MessageRequest::AllExtensionNumbersOfType("lf.a2a.v1.Task".into())),
        ask(MessageRequest::AllExtensionNumbersOfType("nope.Nope".into())),
    ];
    let found = answers(&grpc, questions).await;
    let is_error = |answer: &ServerReflectionResponse| matches!(&answer.message_response, Some(MessageResponse::ErrorResponse(error)) if error.error_code == 5);
    let errors: Vec<bool> = found.iter().map(is_error).collect();
    assert_eq!(errors, [false, true, true, false, true], "{found:#?}");
}

#[tokio::test]
async fn the_older_name_of_reflection_is_known_too() {
    let server = launch().start().await;
    let mut reflection = AlphaClient::new(Grpc::to(server.url(), Speaks::V10).await.channel);
    let question = alpha::server_reflection_request::MessageRequest::ListServices(String::new());
    let request = alpha::ServerReflectionRequest { host: String::new(), message_request: Some(question) };
    let asked = tokio_stream::iter(vec![request]);
    let mut stream = reflection.server_reflection_info(asked).await.unwrap().into_inner();
    let answer = stream.message().await.unwrap().unwrap();
    assert!(matches!(
        answer.message_response,
        Some(alpha::server_reflection_response::MessageResponse::ListServicesResponse(list)) if list.service.len() > 3
    ));
}

#[tokio::test]
async fn the_clients_that_are_made_of_the_definitions_work() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let task = grpc.task_of(Speaks::V10.text("m1", "echo x")).await;
    let mut client = A2aServiceClient::new(grpc.channel.clone());
    let read = client.get_task(GetTaskRequest { id: task.clone(), ..Default::default() }).await.unwrap();
    assert_eq!(read.into_inner().id, task);
}
