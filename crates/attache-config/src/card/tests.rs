use std::collections::BTreeMap;

use attache_domain::{AgentCard, Binding};

use super::grpc_address;
use crate::file::GrpcListing;
use crate::{ConfigError, Flags, Settings, answers_card_of, card_of, extended_card_of, load};

const TOKEN: (&str, &str) = ("ATTACHE_TOKEN", "0123456789abcdef");

fn with(text: &str, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attache.toml");
    std::fs::write(&path, text).unwrap();
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let environment = |name: &str| variables.get(name).cloned();
    let flags = Flags { config: Some(path), ..Flags::default() };
    load(flags, &environment, folder.path())
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let error = with(text, &[TOKEN]).expect_err("it is refused");
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn the_extended_card_is_the_public_one_and_more() {
    let text = r#"
        [card]
        description = "for all"
        tenants = ["blue"]
        [card.extended]
        description = "for some"
        documentation_url = "https://inside.example/docs"
        tenants = ["green"]
        [[card.extended.skills]]
        id = "deploy"
        name = "Deploy"
        description = "Deploys"
        tags = ["ops"]
        [[card.extended.extensions]]
        uri = "https://example.org/inside"
        [[card.extended.interfaces]]
        url = "https://inside.example/a2a"
        binding = "JSONRPC"
        [[card.extended.interfaces]]
        url = "inside.example:443"
        binding = "GRPC"
        tenant = "red"
        [[card.extended.interfaces]]
        url = "https://inside.example/v0"
        binding = "HTTP+JSON"
        version = "0.3"
    "#;
    let settings = with(text, &[TOKEN]).unwrap();
    let public = card_of(&settings, "https://agent.example");
    let extended = extended_card_of(&settings, "https://agent.example").expect("an extended card");
    assert!(public.capabilities.extended_agent_card && extended.capabilities.extended_agent_card);
    assert_eq!((public.description.as_str(), extended.description.as_str()), ("for all", "for some"));
    assert_eq!(extended.documentation_url.as_deref(), Some("https://inside.example/docs"));
    assert_eq!(extended.skills.len(), public.skills.len() + 1);
    assert_eq!(extended.skills.last().unwrap().id, "deploy");
    assert_eq!(extended.capabilities.extensions.last().unwrap().uri, "https://example.org/inside");
    for interface in &public.interfaces {
        assert!(extended.interfaces.contains(interface), "{interface:?}");
    }
    let tenants = |card: &attache_domain::AgentCard| {
        let mut found: Vec<_> = card.interfaces.iter().filter_map(|it| it.tenant.clone()).collect();
        found.dedup();
        found
    };
    assert_eq!(tenants(&public), ["blue"]);
    assert_eq!(tenants(&extended), ["blue", "green", "red"]);
    assert_eq!(settings.card.tenants().collect::<Vec<_>>(), ["blue", "green"], "red is another server's");
    let versions: Vec<_> = extended.interfaces.iter().map(|it| it.protocol_version.as_str()).collect();
    assert!(versions.is_sorted_by(|one, next| one >= next), "1.0 first: {versions:?}");
    assert_eq!(extended.interfaces.last().unwrap().url, "https://inside.example/v0");
}

#[test]
fn without_words_for_them_known_callers_are_offered_nothing() {
    let settings = with("", &[TOKEN]).unwrap();
    assert_eq!(extended_card_of(&settings, "https://agent.example"), None);
    assert!(!card_of(&settings, "https://agent.example").capabilities.extended_agent_card);
}

#[test]
fn an_extended_card_needs_a_token() {
    let error = with("[card.extended]\ndescription = \"more\"\n", &[]).unwrap_err();
    assert!(matches!(error, ConfigError::ExtendedCardWithoutToken), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--token-file")));
}

#[test]
fn what_is_wrong_with_the_extended_card_is_named() {
    let skill = "[[card.extended.skills]]\nid = \"coding\"\nname = \"n\"\ndescription = \"d\"\n";
    check_refused(skill, "card.extended.skills.id");
    let interface = |rest: &str| format!("[[card.extended.interfaces]]\n{rest}");
    for url in ["inside.example", "ftp://inside.example", "https://", "/a2a", ""] {
        let text = interface(&format!("url = \"{url}\"\nbinding = \"JSONRPC\"\n"));
        check_refused(&text, "card.extended.interfaces.url");
    }
    check_refused(&interface("url = \"inside.example\"\nbinding = \"GRPC\"\n"), "host:port");
    let old = "url = \"https://a.example\"\nbinding = \"HTTP+JSON\"\nversion = \"0.3\"\ntenant = \"red\"\n";
    check_refused(&interface(old), "card.extended.interfaces.tenant");
    check_refused("[card]\ntenants = [\"a\"]\n[card.extended]\ntenants = [\"a\"]\n", "card.extended.tenants");
}

#[test]
fn tenants_have_names_that_fit_into_a_path() {
    for name in ["", " a", "a ", "a/b", "a\\\\b", "a\\nb"] {
        check_refused(&format!("[card]\ntenants = [\"{name}\"]\n"), "card.tenants");
    }
    check_refused("[card]\ntenants = [\"a\", \"a\"]\n", "card.tenants");
    assert!(with("[card]\ntenants = [\"a b\", \"ü\", \"A\", \"a%b\"]\n", &[]).is_ok());
}

#[test]
fn grpc_is_listed_as_the_settings_say() {
    for (base_url, authority, url) in [
        ("http://127.0.0.1:41242", "127.0.0.1:41242", "http://127.0.0.1:41242"),
        ("https://agent.example", "agent.example:443", "https://agent.example:443"),
        ("http://[::1]", "[::1]:80", "http://[::1]:80"),
        ("http://[::1]:9000", "[::1]:9000", "http://[::1]:9000"),
    ] {
        assert_eq!(grpc_address(base_url, GrpcListing::Off), None);
        assert_eq!(grpc_address(base_url, GrpcListing::Authority).as_deref(), Some(authority));
        assert_eq!(grpc_address(base_url, GrpcListing::Url).as_deref(), Some(url));
    }
}

#[test]
fn below_a_path_there_is_no_grpc() {
    assert_eq!(grpc_address("https://agent.example/base", GrpcListing::Authority), None);
    assert_eq!(grpc_address("https://agent.example/base", GrpcListing::Url), None);
}

#[track_caller]
fn check_grpc(setting: &str, expected: &[&str]) {
    let settings = with(&format!("[card]\n{setting}\n"), &[]).unwrap();
    let card = card_of(&settings, "http://127.0.0.1:41242");
    let grpc = card.interfaces.iter().filter(|interface| interface.binding == Binding::Grpc);
    assert_eq!(grpc.map(|interface| interface.url.as_str()).collect::<Vec<_>>(), expected, "{setting}");
}

#[test]
fn grpc_is_not_listed_unless_the_settings_say_so() {
    check_grpc("", &[]);
    check_grpc("grpc = \"off\"", &[]);
    check_grpc("grpc = \"authority\"", &["127.0.0.1:41242"; 2]);
    check_grpc("grpc = \"url\"", &["http://127.0.0.1:41242"; 2]);
    check_refused("[card]\ngrpc = \"port\"\n", "off");
}

#[test]
fn a_card_that_is_not_described_has_a_provider_and_modes_on_every_skill() {
    let settings = with("", &[]).unwrap();
    let card = card_of(&settings, "http://127.0.0.1:41242");
    let provider = card.provider.expect("a provider");
    assert_eq!(
        (provider.organization.as_str(), provider.url.as_str()),
        ("attache", "http://127.0.0.1:41242/")
    );
    assert_eq!(card.skills[0].input_modes, card.default_input_modes);
    assert_eq!(card.skills[0].output_modes, card.default_output_modes);
    let skill =
        "[[card.skills]]\nid = \"s\"\nname = \"n\"\ndescription = \"d\"\ninput_modes = [\"text/plain\"]\n";
    let card = card_of(&with(skill, &[]).unwrap(), "http://127.0.0.1:41242");
    assert_eq!(card.skills[0].input_modes, ["text/plain"]);
}

#[test]
fn the_interface_for_status_messages_is_listed_last_and_has_a_card_of_its_own() {
    let base_url = "http://127.0.0.1:41242";
    assert_eq!(answers_card_of(&with("", &[]).unwrap(), base_url), None);
    let settings = with("answers_interface = true\n", &[]).unwrap();
    let urls = |card: &AgentCard| card.interfaces.iter().map(|it| it.url.clone()).collect::<Vec<_>>();
    let all = urls(&card_of(&settings, base_url));
    let [answers, root] = ["http://127.0.0.1:41242/answers", "http://127.0.0.1:41242/"];
    assert_eq!((all[0].as_str(), all.last().unwrap().as_str()), (root, answers));
    let own = answers_card_of(&settings, base_url).expect("a card of its own");
    assert_eq!(urls(&own), [answers; 2]);
}
