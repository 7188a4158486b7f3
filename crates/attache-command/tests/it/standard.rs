//! What the built-in commands answer.

use attache_command::{CommandError, CommandStep};
use serde_json::{Value, json};

use crate::fake_context::FakeContext;

#[track_caller]
pub(crate) fn done(next: Result<CommandStep, CommandError>) -> (String, Value) {
    match next {
        Ok(CommandStep::Done { text, data: Some(data) }) => (text, data),
        other => panic!("not done: {other:?}"),
    }
}

async fn check(context: &FakeContext, lines: &[&str], text: &str, data: Value) {
    for line in lines {
        assert_eq!(done(context.give(line).await), (text.to_owned(), data.clone()), "{line}");
    }
}

async fn refuses(line: &str, expected: &str) {
    let error = FakeContext::full().give(line).await.unwrap_err();
    assert_eq!(error, CommandError::BadArguments { what: expected.into() }, "{line}");
}

#[tokio::test]
async fn extensions_are_listed() {
    let lines = ["/extensions", "/extensions list", "/list-extensions"];
    let data = json!({"extensions": [
        {"name": "lint", "version": "1.2.0", "enabled": true},
        {"name": "old", "version": "0.1.0", "enabled": false},
    ]});
    check(&FakeContext::full(), &lines, "Extensions:\n\n- lint 1.2.0\n- old 0.1.0 (disabled)", data).await;
    check(&FakeContext::default(), &lines, "There are no extensions.", json!({"extensions": []})).await;
}

#[tokio::test]
async fn tools_are_listed() {
    let data = json!({"tools": [
        {"name": "read_file", "description": "Reads\n a file.", "server": null},
        {"name": "mcp_db_query", "description": "Asks the database.", "server": "db"},
    ]});
    let text = "Tools:\n\n- read_file\n- mcp_db_query (of the MCP server db)";
    check(&FakeContext::full(), &["/tools", "/tools list", "/tools nodesc"], text, data.clone()).await;
    let text =
        "Tools:\n\n- read_file: Reads a file.\n- mcp_db_query (of the MCP server db): Asks the database.";
    check(&FakeContext::full(), &["/tools desc", "/tools descriptions"], text, data).await;
    check(&FakeContext::default(), &["/tools"], "There are no tools.", json!({"tools": []})).await;
}

#[tokio::test]
async fn servers_are_listed() {
    let data = json!({"servers": [
        {"name": "db", "status": "connected", "tools": [
            {"name": "mcp_db_query", "description": "Asks the database."},
            {"name": "mcp_db_hidden", "description": ""},
        ]},
        {"name": "web", "status": "refused", "tools": []},
    ]});
    let text = "MCP servers:\n\n- db: connected, 2 tools\n  - mcp_db_query\n  - mcp_db_hidden\n- web: refused, 0 tools";
    check(&FakeContext::full(), &["/mcp", "/mcp list", "/mcp ls"], text, data.clone()).await;
    let text = text.replace("query\n", "query: Asks the database.\n");
    check(&FakeContext::full(), &["/mcp desc"], &text, data).await;
    check(&FakeContext::default(), &["/mcp"], "There are no MCP servers.", json!({"servers": []})).await;
}

#[tokio::test]
async fn stats_are_told() {
    let text = "Model: fast\nTasks: 2\nAnswers: 3\nTool calls: 4\n\
                Tokens: 120 (100 in, 40 of them cached; 20 out, 5 of them thoughts)";
    let data = json!({
        "model": "fast", "tasks": 2, "answers": 3, "calls": 4,
        "usage": {
            "inputTokens": 100, "cachedTokens": 40, "outputTokens": 20, "thoughtTokens": 5, "totalTokens": 120,
        },
    });
    check(&FakeContext::full(), &["/stats", "/usage"], text, data).await;
}

#[tokio::test]
async fn about_is_told_in_its_order() {
    let data = json!({"about": [
        {"name": "Version", "value": "1.0"}, {"name": "model", "value": "fast"}, {"name": "Workspace", "value": "w"},
    ]});
    check(&FakeContext::full(), &["/about"], "Version: 1.0\nmodel: fast\nWorkspace: w", data).await;
    refuses("/about you", "it takes no arguments; usage: /about").await;
}

#[tokio::test]
async fn the_conversation_is_compressed() {
    for line in ["/compress", "/summarize", "/compact"] {
        assert_eq!(FakeContext::default().give(line).await, Ok(CommandStep::Compress), "{line}");
    }
}

#[tokio::test]
async fn the_model_is_shown() {
    let text = "Model: fast\n\nTo choose from, with /model set <name>:\n\n- fast\n- deep";
    let data = json!({"model": "fast", "models": ["fast", "deep"]});
    check(&FakeContext::full(), &["/model", "/model list", "/model show"], text, data.clone()).await;
    let text = "The model is fast already.";
    check(&FakeContext::full(), &["/model fast", "/model set fast"], text, data).await;
    let text = "Model: fast\n\nChoose another with /model set <name>.";
    check(&FakeContext::default(), &["/model"], text, json!({"model": "fast", "models": []})).await;
}

#[tokio::test]
async fn a_model_is_chosen() {
    for line in ["/model deep", "/model set deep", "/model set deep \n"] {
        assert_eq!(
            FakeContext::full().give(line).await,
            Ok(CommandStep::ChooseModel("deep".into())),
            "{line}"
        );
    }
    refuses("/model set", "`name` is missing (the model's name); usage: /model set <name>").await;
    let usage = "usage: /model set <name>";
    refuses("/model two words", &format!("a model's name is one word; {usage}")).await;
    refuses("/model a\u{7}", &format!("a model's name is one word; {usage}")).await;
    let options = "options are not known here, the choice is for this conversation";
    refuses("/model set --persist deep", &format!("{options}; {usage}")).await;
    refuses(&format!("/model {}", "x".repeat(201)), &format!("a model's name is shorter; {usage}")).await;
}

#[tokio::test]
async fn help_lists_every_command() {
    let (text, data) = done(FakeContext::default().give("/help").await);
    assert!(text.contains("- `/about`: Shows the version, the model and the workspace.\n"), "{text}");
    assert!(text.contains("- `/help [command]`: "), "{text}");
    let commands = data["commands"].as_array().unwrap();
    assert_eq!(commands.len(), 13);
    let memory = commands.iter().find(|command| command["name"] == "memory").unwrap();
    let add = &memory["subCommands"][1];
    let expected = json!({
        "name": "add",
        "usage": "/memory add <text>",
        "description": "Remembers a fact for this and later conversations.",
        "arguments": [{"name": "text", "description": "the fact to remember", "required": true}],
        "subCommands": [],
    });
    assert_eq!(*add, expected);
}

#[tokio::test]
async fn help_shows_one_command() {
    let (text, data) = done(FakeContext::default().give("/help model").await);
    let expected = "`/model [name]`\n\n\
        Shows the model that answers and those to choose from; with a name, chooses that one.\n\n\
        - name: the model that is to answer from now on; may be left out\n\n\
        - `/model list`: Shows the model that answers and those to choose from.\n\
        - `/model set <name>`: Chooses the model that answers in this conversation from now on.";
    assert_eq!(text, expected);
    assert_eq!(data["commands"][0]["subCommands"][1]["usage"], "/model set <name>");
    let (text, data) = done(FakeContext::default().give("/help /memory add").await);
    assert!(text.starts_with("`/memory add <text>`\n\nRemembers"), "{text}");
    assert_eq!(data["commands"][0]["name"], "add");
}

#[tokio::test]
async fn help_for_what_is_not_there_says_what_is() {
    let context = FakeContext::default();
    let error = context.give("/help memroy").await.unwrap_err().to_string();
    assert!(error.contains("did you mean `/memory`?"), "{error}");
    let error = context.give("/help memory ad").await.unwrap_err().to_string();
    assert!(error.contains("did you mean `/memory add`?"), "{error}");
}
