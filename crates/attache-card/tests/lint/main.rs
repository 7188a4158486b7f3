//! Findings about cards, rule by rule.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cards;

use std::collections::BTreeSet;

use attache_card::lint::{RULES, Severity, lint, lint_document};
use attache_card::{Algorithm, ExistingSignatures, KeyLifetime, SigningKey, sign};
use cards::{changed, check, older, protobuf, pure, superset, told};
use serde_json::{Value, json};

#[test]
fn good_cards_have_no_fault() {
    check(pure, &[], &[]);
    check(older, &[], &[]);
    check(superset, &[], &[]);
}

#[test]
fn tenants_are_names_that_clients_can_say() {
    let tenant = |name: &str| [("/supportedInterfaces/0/tenant", json!(name))];
    check(pure, &tenant("acme"), &[]);
    check(pure, &tenant("ü 50%"), &[]);
    check(pure, &tenant(""), &["warning tenant supportedInterfaces[0].tenant: is empty"]);
    for taken in ["v1", "tasks", "message:send", "extendedAgentCard", ".well-known", ".."] {
        check(pure, &tenant(taken), &["warning tenant supportedInterfaces[0].tenant"]);
    }
    check(pure, &tenant("a/b"), &["warning tenant supportedInterfaces[0].tenant: \"a/b\" does not fit"]);
    check(
        superset,
        &[(
            "/supportedInterfaces/-",
            json!({"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3", "tenant": "acme"}),
        )],
        &["warning tenant supportedInterfaces[2].tenant: \"acme\" cannot be named by clients of 0.3"],
    );
}

#[test]
fn what_is_no_card_is_told() {
    for (text, expected) in [
        ("", "error one-object : the card is not JSON"),
        ("[]", "error one-object : a card is one JSON object, and this is a list"),
        (
            r#"{"name":"a","name":"b"}"#,
            "error one-object : the card is not JSON: the member \"name\" is there twice",
        ),
    ] {
        let found = lint(text.as_bytes());
        assert_eq!(found.len(), 1);
        assert!(told(&found[0]).starts_with(expected), "{}", told(&found[0]));
    }
    let missing = lint(b"{}");
    assert_eq!(missing.len(), 8, "every required member of 1.0: {missing:?}");
}

#[test]
fn members_are_there_and_of_their_type() {
    check(
        pure,
        &[("/name", json!(null))],
        &["error required-member name: AgentCard has no \"name\", which has to be a text (1.0)"],
    );
    check(older, &[("/url", json!(null))], &["error required-member url: AgentCard has no \"url\""]);
    check(
        superset,
        &[("/skills/0/tags", json!(null))],
        &["error required-member skills[0].tags: AgentSkill has no \"tags\", which has to be a list"],
    );
    check(superset, &[("/name", json!(7))], &["error member-type name: has to be a text, and is a number"]);
    check(
        pure,
        &[("/capabilities/streaming", json!("yes"))],
        &["error member-type capabilities.streaming: has to be true or false, and is a text (1.0)"],
    );
    check(pure, &[("/description", json!(" "))], &["warning empty-value description"]);
    check(pure, &[("/defaultInputModes", json!([]))], &["warning empty-value defaultInputModes"]);
}

#[test]
fn unknown_members_are_reported_with_their_path_and_likely_name() {
    check(
        pure,
        &[("/colour", json!(1))],
        &["warning unknown-member colour: 1.0 does not know \"colour\", so clients"],
    );
    check(superset, &[("/colour", json!(1))], &["warning unknown-member colour: 1.0 and 0.3 does not know"]);
    check(
        pure,
        &[("/security", json!([]))],
        &[
            "warning unknown-member security: 1.0 does not know \"security\": 1.0 calls it securityRequirements",
        ],
    );
    check(
        pure,
        &[("/documentation_url", json!("https://a.example"))],
        &[
            "warning unknown-member documentation_url: 1.0 does not know \"documentation_url\"; names are written like \"documentationUrl\"",
        ],
    );
    check(
        pure,
        &[("/capabilities/stateTransitionHistory", json!(true))],
        &["warning unknown-member capabilities.stateTransitionHistory"],
    );
    check(older, &[("/capabilities/stateTransitionHistory", json!(true))], &[]);
    check(
        older,
        &[(
            "/additionalInterfaces",
            json!([{"url": "https://a.example/", "transport": "JSONRPC", "tenant": "t"}]),
        )],
        &["warning unknown-member additionalInterfaces[0].tenant"],
    );
}

#[test]
fn interfaces_can_be_called() {
    let at = "/supportedInterfaces/0";
    let url = format!("{at}/url");
    check(
        pure,
        &[("/supportedInterfaces", json!([]))],
        &["error interface-list supportedInterfaces: no interface"],
    );
    check(
        pure,
        &[(&url, json!("/rpc"))],
        &["error interface-url supportedInterfaces[0].url: \"/rpc\" is no absolute URL"],
    );
    check(
        pure,
        &[(&url, json!("http://a.example/"))],
        &["warning interface-url supportedInterfaces[0].url: begins with http:"],
    );
    check(pure, &[(&url, json!("http://127.0.0.1:41242/"))], &[]);
    check(
        pure,
        &[(&url, json!("https://u:p@a.example/"))],
        &["error interface-url supportedInterfaces[0].url: has credentials"],
    );
    let grpc = json!({"url": "a.example:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"});
    check(pure, &[(at, grpc)], &[]);
    let binding = format!("{at}/protocolBinding");
    check(
        pure,
        &[(&binding, json!("jsonrpc"))],
        &[
            "warning binding-name supportedInterfaces[0].protocolBinding: \"jsonrpc\" is usually written JSONRPC",
        ],
    );
    check(pure, &[(&binding, json!("SOAP"))], &["warning binding-name"]);
    check(pure, &[(&binding, json!("https://a.example/binding"))], &[]);
    let version = format!("{at}/protocolVersion");
    check(
        pure,
        &[(&version, json!("1.0.0"))],
        &["warning protocol-version supportedInterfaces[0].protocolVersion"],
    );
    let first = pure()["supportedInterfaces"][0].clone();
    check(
        pure,
        &[("/supportedInterfaces/-", first.clone())],
        &["warning interface-list supportedInterfaces[1]: is the same"],
    );
    let third = changed(first, &[("/url", json!("https://b.example/"))]);
    check(
        superset,
        &[("/supportedInterfaces/-", third)],
        &["warning interface-list supportedInterfaces[2]: comes after"],
    );
}

#[test]
fn cards_of_0_3_have_rules_of_their_own() {
    check(
        older,
        &[("/preferredTransport", json!(null))],
        &["warning main-transport preferredTransport: is not said"],
    );
    // In protobuf's form an empty text stands for JSONRPC.
    let repeated = json!([{"url": "https://a.example/", "transport": "JSONRPC"}]);
    check(
        older,
        &[("/preferredTransport", json!("")), ("/additionalInterfaces", repeated)],
        &["warning main-transport preferredTransport: is not said"],
    );
    check(
        older,
        &[("/protocolVersion", json!("1.0"))],
        &["warning protocol-version protocolVersion: \"1.0\" is not a version of 0.3"],
    );
    let same_place = json!([{"url": "https://a.example/", "transport": "HTTP+JSON"}]);
    check(
        older,
        &[("/additionalInterfaces", same_place)],
        &[
            "error main-transport additionalInterfaces[0]: https://a.example/ is said to speak HTTP+JSON here and JSONRPC",
            "warning main-transport additionalInterfaces: does not repeat",
        ],
    );
    let repeated = json!([{"url": "https://a.example/", "transport": "jsonrpc"}]);
    check(
        older,
        &[("/additionalInterfaces", repeated)],
        &["warning binding-name additionalInterfaces[0].transport"],
    );
}

#[test]
fn a_card_in_the_form_of_protobuf_is_checked_as_such() {
    let form = "warning card-form securitySchemes: is written in the form of protobuf";
    let signed = "warning signature signatures: 0.3 does not say what is signed";
    check(protobuf, &[], &[form, signed]);
    // Protobuf writes an empty text for what is not set.
    check(
        protobuf,
        &[
            ("/securitySchemes/oauth/oauth2SecurityScheme/flows/clientCredentials/refreshUrl", json!("")),
            ("/securitySchemes/oauth/oauth2SecurityScheme/oauth2MetadataUrl", json!("")),
            ("/documentationUrl", json!("")),
        ],
        &[form, signed],
    );
    check(
        protobuf,
        &[("/security/-", json!({"schemes": {"unlisted": {}}}))],
        &[form, signed, "error security-requirement security[4].schemes.unlisted"],
    );
    check(
        protobuf,
        &[(
            "/securitySchemes/two",
            json!({"mtlsSecurityScheme": {}, "httpAuthSecurityScheme": {"scheme": "x"}}),
        )],
        &[form, signed, "error one-of securitySchemes.two", "warning unused-scheme securitySchemes.two"],
    );
    check(
        protobuf,
        &[("/additionalInterfaces/1/tenant", json!(7)), ("/signatures/0/header", json!("k"))],
        &[
            form,
            signed,
            "error member-type additionalInterfaces[1].tenant",
            "error member-type signatures[0].header",
        ],
    );
}

#[test]
fn contents_mean_something() {
    check(pure, &[("/documentationUrl", json!("docs.html"))], &["error url documentationUrl"]);
    check(pure, &[("/iconUrl", json!("data:image/png;base64,AA"))], &[]);
    check(
        pure,
        &[("/provider", json!({"organization": "o", "url": "https://u:p@o.example"}))],
        &["error url provider.url: has credentials"],
    );
    check(
        pure,
        &[("/defaultInputModes/0", json!("text"))],
        &["warning media-type defaultInputModes[0]: \"text\" is no media type"],
    );
    check(
        pure,
        &[("/skills/0/outputModes", json!(["text/plain; charset=utf-8", "x"]))],
        &["warning media-type skills[0].outputModes[1]"],
    );
    check(pure, &[("/skills", json!([]))], &["warning skills skills: tells of nothing"]);
    check(pure, &[("/skills/0/tags", json!([]))], &["warning skills skills[0].tags"]);
    let twin = pure()["skills"][0].clone();
    check(pure, &[("/skills/-", twin)], &["error skills skills[1].id: \"s\" is already the id of skills[0]"]);
    let extension = |uri: Value| json!([{"uri": uri}]);
    check(
        pure,
        &[("/capabilities/extensions", extension(json!("ext")))],
        &["warning extension capabilities.extensions[0].uri"],
    );
    check(
        pure,
        &[("/capabilities/extensions", json!([{}]))],
        &["error extension capabilities.extensions[0]: an extension without"],
    );
    let twice = json!([{"uri": "https://a.example/e"}, {"uri": "https://a.example/e"}]);
    check(
        pure,
        &[("/capabilities/extensions", twice)],
        &["warning extension capabilities.extensions[1]: https://a.example/e is listed twice"],
    );
}

#[test]
fn security_is_declared_and_required() {
    let schemes = |scheme: Value| ("/securitySchemes", json!({"a": scheme}));
    let required = ("/securityRequirements", json!([{"schemes": {"a": {}}}]));
    let http = json!({"httpAuthSecurityScheme": {"scheme": "bearer"}});
    check(pure, &[schemes(http.clone()), required.clone()], &[]);
    check(pure, &[schemes(http.clone())], &["warning unused-scheme securitySchemes.a"]);
    check(
        pure,
        std::slice::from_ref(&required),
        &["error security-requirement securityRequirements[0].schemes.a: no scheme \"a\" is declared"],
    );
    check(
        pure,
        &[("/securityRequirements", json!([{}]))],
        &["warning security-requirement securityRequirements[0].schemes: requires nothing"],
    );
    check(
        pure,
        &[schemes(json!({})), required.clone()],
        &["error one-of securitySchemes.a: SecurityScheme holds exactly one of"],
    );
    let two = json!({"httpAuthSecurityScheme": {"scheme": "bearer"}, "mtlsSecurityScheme": {}});
    check(
        pure,
        &[schemes(two), required.clone()],
        &["error one-of securitySchemes.a: SecurityScheme holds exactly one of apiKeySecurityScheme"],
    );
    let key = json!({"apiKeySecurityScheme": {"location": "body", "name": "k"}});
    check(
        pure,
        &[schemes(key), required.clone()],
        &["error security-scheme securitySchemes.a.apiKeySecurityScheme.location: \"body\""],
    );
    let flow = |name: &str, token: &str| json!({"oauth2SecurityScheme": {"flows": {name: {"tokenUrl": token, "scopes": {"read": ""}}}}});
    let scoped = ("/securityRequirements", json!([{"schemes": {"a": {"list": ["read", "write"]}}}]));
    check(
        pure,
        &[schemes(flow("clientCredentials", "https://id.example/t")), scoped],
        &[
            "warning security-requirement securityRequirements[0].schemes.a: the flow of \"a\" has no scope \"write\"",
        ],
    );
    check(
        pure,
        &[schemes(flow("clientCredentials", "http://id.example/t")), required.clone()],
        &["error oauth-tls securitySchemes.a.oauth2SecurityScheme.flows.clientCredentials.tokenUrl"],
    );
    check(
        pure,
        &[schemes(flow("password", "https://id.example/t")), required.clone()],
        &["warning deprecated-flow securitySchemes.a.oauth2SecurityScheme.flows.password"],
    );
    check(
        pure,
        &[schemes(json!({"openIdConnectSecurityScheme": {"openIdConnectUrl": "x"}})), required],
        &["error url securitySchemes.a"],
    );
    check(pure, &[("/capabilities/extendedAgentCard", json!(true))], &["warning extended-card"]);
    let flat = json!({"a": {"type": "oauth2", "flows": {"password": {"tokenUrl": "https://id.example/t", "scopes": {}}}}});
    check(older, &[("/securitySchemes", flat), ("/security", json!([{"a": []}]))], &[]);
    check(
        older,
        &[("/securitySchemes", json!({"a": {"scheme": "bearer"}})), ("/security", json!([{"a": []}]))],
        &[
            "error security-scheme securitySchemes.a.type: a scheme of 0.3 says its \"type\"",
            "warning unknown-member securitySchemes.a.scheme",
        ],
    );
}

#[test]
fn a_flow_that_only_1_0_advises_against_is_told_once() {
    let flows = json!({"password": {"tokenUrl": "https://id.example/t", "scopes": {}}});
    let both = json!({"a": {"oauth2SecurityScheme": {"flows": flows}, "type": "oauth2", "flows": flows}});
    let required =
        [("/securityRequirements", json!([{"schemes": {"a": {}}}])), ("/security", json!([{"a": []}]))];
    let changes = [&[("/securitySchemes", both)][..], &required].concat();
    check(
        superset,
        &changes,
        &["warning deprecated-flow securitySchemes.a.oauth2SecurityScheme.flows.password"],
    );
}

#[test]
fn the_halves_of_a_card_agree() {
    check(
        superset,
        &[("/url", json!("https://b.example/"))],
        &[
            "warning halves-agree additionalInterfaces: 0.3 clients are not told of JSONRPC at https://a.example/ (0.3)",
            "warning halves-agree supportedInterfaces: has no 0.3 interface for JSONRPC at https://b.example/ (1.0)",
        ],
    );
    check(
        superset,
        &[("/supportsAuthenticatedExtendedCard", json!(true))],
        &["error halves-agree capabilities.extendedAgentCard", "warning extended-card"],
    );
    let schemes =
        json!({"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}, "type": "http", "scheme": "bearer"}});
    let both = [
        ("/securitySchemes", schemes),
        ("/securityRequirements", json!([{"schemes": {"b": {}}}])),
        ("/security", json!([{"b": []}])),
    ];
    check(superset, &both, &[]);
    check(superset, &both[..2], &["error halves-agree security: security and securityRequirements do not"]);
    let mut other = both.clone();
    other[0].1 = json!({"b": {"mtlsSecurityScheme": {}, "type": "http", "scheme": "bearer"}});
    check(
        superset,
        &other,
        &["error halves-agree securitySchemes.b: is http to 0.3 clients and mtlsSecurityScheme"],
    );
}

#[test]
fn signatures_prove_something() {
    let signature = |header: Value| {
        use base64::Engine as _;
        let protected = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(header.to_string());
        ("/signatures", json!([{"protected": protected, "signature": "AAAA"}]))
    };
    let header = |alg: &str| json!({"alg": alg, "kid": "k", "typ": "JOSE"});
    check(pure, &[signature(header("ES256"))], &[]);
    check(pure, &[signature(header("none"))], &["error signature signatures[0].protected: alg is none"]);
    check(
        pure,
        &[signature(header("HS256"))],
        &["error signature signatures[0].protected: alg is HS256: a client"],
    );
    check(pure, &[signature(header("ES512"))], &["warning signature signatures[0].protected"]);
    check(
        pure,
        &[signature(json!({"alg": "ES256", "typ": "JOSE"}))],
        &["error signature signatures[0]: its protected header has no \"kid\""],
    );
    check(
        pure,
        &[signature(json!({"alg": "ES256", "kid": "k"}))],
        &["warning signature signatures[0].protected: typ"],
    );
    let with_jku = |jku: &str| json!({"alg": "ES256", "kid": "k", "typ": "JOSE", "jku": jku});
    check(
        pure,
        &[signature(with_jku("http://a.example/keys"))],
        &["error signature signatures[0].protected: jku"],
    );
    check(pure, &[signature(with_jku("https://a.example/keys"))], &[]);
    check(
        pure,
        &[("/signatures", json!([{"protected": "?", "signature": "AAAA"}]))],
        &["error signature signatures[0]: \"protected\" is not base64url"],
    );
    check(
        older,
        &[signature(header("ES256"))],
        &["warning signature signatures: 0.3 does not say (0.3)"].map(|it| &it[..40]),
    );
    let empty = ("/capabilities/extensions", json!([{"uri": "https://a.example/e", "params": {}}]));
    check(pure, &[signature(header("ES256")), empty], &["warning signed-empty-values signatures"]);
}

#[test]
fn what_we_sign_has_no_fault() {
    let key = SigningKey::generate(Algorithm::Es256, KeyLifetime::default()).unwrap();
    for card in [
        pure(),
        superset(),
        changed(
            pure(),
            &[("/capabilities/extensions", json!([{"uri": "https://a.example/e", "params": {}}]))],
        ),
    ] {
        let signed =
            sign(card.as_object().unwrap(), std::slice::from_ref(&key), None, ExistingSignatures::Replace)
                .unwrap();
        assert_eq!(lint_document(&signed), []);
    }
}

#[test]
fn errors_come_first_and_every_rule_has_a_name_of_its_own() {
    let card = changed(pure(), &[("/colour", json!(1)), ("/name", json!(1)), ("/skills", json!([]))]);
    let severities: Vec<Severity> = lint(card.to_string().as_bytes()).iter().map(|it| it.severity).collect();
    assert_eq!(severities, [Severity::Error, Severity::Warning, Severity::Warning]);
    let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len());
}
