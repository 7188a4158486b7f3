use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn key(agent: &str) -> TokenKey {
    TokenKey {
        agent: agent.into(),
        token_url: Some("https://auth.example/token".into()),
        client_id: "client".into(),
        agent_origin: Some("https://agent.example".into()),
        takes_unnamed: false,
    }
}

fn user_key(agent: &str) -> TokenKey {
    TokenKey { takes_unnamed: true, ..key(agent) }
}

fn tokens(access: &str) -> TokenSet {
    let lifetime = Some(Duration::from_millis(1_800_000_000_123));
    let expires = lifetime.map(|lifetime| UNIX_EPOCH + lifetime);
    TokenSet {
        access: Secret::new(access),
        refresh: Some(Secret::new("r")),
        expires,
        lifetime,
        scope: Some("a b".into()),
    }
}

#[tokio::test]
async fn tokens_come_back_as_they_were_and_only_the_user_can_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("new/tokens.json"));
    assert_eq!(file.read(&key("helper")).unwrap(), None);
    file.lock().await.unwrap().write(&key("helper"), &tokens("one"), UNIX_EPOCH).unwrap();
    file.lock().await.unwrap().write(&key("other"), &tokens("two"), UNIX_EPOCH).unwrap();
    let found = file.read(&key("helper")).unwrap().unwrap();
    assert_eq!((found.tokens, found.token_url.as_str()), (tokens("one"), "https://auth.example/token"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.path()), mode(file.path().parent().unwrap())), (0o600, 0o700));
    let remove = |origin| file.remove("helper", Some(origin), true);
    assert!(!remove("https://elsewhere.example").await.unwrap());
    assert!(remove("https://agent.example").await.unwrap());
    assert!(!remove("https://agent.example").await.unwrap());
    assert_eq!(file.read(&key("helper")).unwrap(), None);
    assert!(file.read(&key("other")).unwrap().is_some());
}

#[tokio::test]
async fn a_file_of_gemini_cli_is_read_and_what_is_not_known_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    let theirs = r#"[
        {"serverName": "helper", "token": {"accessToken": "a", "tokenType": "Bearer", "refreshToken": "r",
         "expiresAt": 1800000000123, "scope": "a b"}, "clientId": "client", "tokenUrl": "https://auth.example/token",
         "updatedAt": 1, "mcpServerUrl": "x"},
        {"serverName": "other", "token": {"accessToken": "b"}, "more": [1]}
    ]"#;
    fs::write(&path, theirs).unwrap();
    let file = TokenFile::new(&path);
    assert_eq!(file.read(&key("helper")).unwrap(), None, "it may be for another agent of that name");
    let found = file.read(&user_key("helper")).unwrap().unwrap();
    let lifetime = Some(Duration::from_millis(1_800_000_000_122));
    assert_eq!((found.tokens, found.is_unnamed), (TokenSet { lifetime, ..tokens("a") }, true));
    file.lock().await.unwrap().write(&user_key("helper"), &tokens("new"), UNIX_EPOCH).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0], json!({"serverName": "other", "token": {"accessToken": "b"}, "more": [1]}));
    assert_eq!(
        (&entries[1]["mcpServerUrl"], &entries[1]["token"]["accessToken"]),
        (&json!("x"), &json!("new"))
    );
}

#[test]
fn a_file_that_others_may_read_becomes_the_users_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    fs::write(&path, "[]").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(TokenFile::new(&path).read(&key("helper")).unwrap(), None);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_token_counts_for_one_server_one_client_and_one_agent() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("tokens.json"));
    file.lock().await.unwrap().write(&key("helper"), &tokens("a"), UNIX_EPOCH).unwrap();
    for other in [
        TokenKey { token_url: Some("https://evil.example/token".into()), ..key("helper") },
        TokenKey { client_id: "another".into(), ..key("helper") },
        TokenKey { agent_origin: Some("https://evil.example".into()), ..key("helper") },
        TokenKey { agent_origin: None, ..key("helper") },
        key("other"),
    ] {
        assert_eq!(file.read(&other).unwrap(), None, "{other:?}");
    }
    assert!(file.read(&TokenKey { token_url: None, ..key("helper") }).unwrap().is_some());
}

#[tokio::test]
async fn what_is_no_list_of_tokens_is_told_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    fs::write(&path, "s3cret").unwrap();
    let file = TokenFile::new(&path);
    let error = file.read(&key("helper")).unwrap_err().to_string();
    assert!(error.contains("is not a list of tokens") && !error.contains("s3cret"), "{error}");
    let lock = file.lock().await.unwrap();
    assert!(lock.write(&key("helper"), &tokens("a"), UNIX_EPOCH).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "s3cret");
}

#[tokio::test(start_paused = true)]
async fn writers_take_turns_and_do_not_wait_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("tokens.json"));
    let held = file.lock().await.unwrap();
    let error = file.lock().await.unwrap_err().to_string();
    assert!(error.contains("in use by another process"), "{error}");
    drop(held);
    file.lock().await.unwrap();
}
