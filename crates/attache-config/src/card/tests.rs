use std::collections::BTreeMap;

use super::grpc_address;
use crate::{ConfigError, Flags, Settings, card_of, extended_card_of, load};

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
fn grpc_has_an_address_of_its_own_in_each_version() {
    for (base_url, for_1_0, for_0_3) in [
        ("http://127.0.0.1:41242", "127.0.0.1:41242", "http://127.0.0.1:41242"),
        ("https://agent.example", "agent.example:443", "https://agent.example:443"),
        ("http://[::1]", "[::1]:80", "http://[::1]:80"),
        ("http://[::1]:9000", "[::1]:9000", "http://[::1]:9000"),
    ] {
        assert_eq!(grpc_address(base_url, "1.0").as_deref(), Some(for_1_0));
        assert_eq!(grpc_address(base_url, "0.3").as_deref(), Some(for_0_3));
    }
}

#[test]
fn below_a_path_there_is_no_grpc() {
    assert_eq!(grpc_address("https://agent.example/base", "1.0"), None);
    assert_eq!(grpc_address("https://agent.example/base", "0.3"), None);
}
