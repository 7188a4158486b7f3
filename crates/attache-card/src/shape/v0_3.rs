//! The members of a 0.3 card in JSON. 0.3 defines no canonical form, so members are either required or optional.

use super::MemberKind::{Flag, Free, List, Map, Object, Tagged, Text};
use super::{MemberKind, MemberSpec, Shape, TEXT_MAP, TEXTS, optional, required, shape, v1_0};

/// Alternatives, each a map from a scheme's name to its scopes.
const REQUIREMENTS: MemberKind = List(&Map(&TEXTS));

pub(crate) static CARD: Shape = shape(
    "AgentCard",
    &card(List(&Object(&INTERFACE)), Map(&Tagged(SCHEMES)), REQUIREMENTS, List(&Object(&SKILL))),
);

/// The same card as its protobuf definition writes it in JSON.
pub(crate) static PROTOBUF_CARD: Shape = shape(
    "AgentCard",
    &card(
        List(&Object(&PROTOBUF_INTERFACE)),
        Map(&Object(&v1_0::SCHEME)),
        PROTOBUF_REQUIREMENTS,
        List(&Object(&PROTOBUF_SKILL)),
    ),
);

const SIGNATURES: MemberKind = List(&Object(&SIGNATURE));
const PROTOBUF_REQUIREMENTS: MemberKind = List(&Object(&v1_0::REQUIREMENT));

const fn card(
    interfaces: MemberKind,
    schemes: MemberKind,
    security: MemberKind,
    skills: MemberKind,
) -> [MemberSpec; 18] {
    [
        required("protocolVersion", Text),
        required("name", Text),
        required("description", Text),
        required("url", Text),
        optional("preferredTransport", Text),
        optional("additionalInterfaces", interfaces),
        optional("provider", Object(&PROVIDER)),
        required("version", Text),
        optional("documentationUrl", Text),
        optional("iconUrl", Text),
        required("capabilities", Object(&CAPABILITIES)),
        optional("securitySchemes", schemes),
        optional("security", security),
        required("defaultInputModes", TEXTS),
        required("defaultOutputModes", TEXTS),
        required("skills", skills),
        optional("supportsAuthenticatedExtendedCard", Flag),
        optional("signatures", SIGNATURES),
    ]
}

static PROTOBUF_INTERFACE: Shape =
    shape("AgentInterface", &[required("url", Text), required("transport", Text), optional("tenant", Text)]);

static INTERFACE: Shape = shape("AgentInterface", &[required("url", Text), required("transport", Text)]);

static PROVIDER: Shape = shape("AgentProvider", &[required("url", Text), required("organization", Text)]);

static CAPABILITIES: Shape = shape(
    "AgentCapabilities",
    &[
        optional("streaming", Flag),
        optional("pushNotifications", Flag),
        optional("stateTransitionHistory", Flag),
        optional("extensions", List(&Object(&EXTENSION))),
    ],
);

static EXTENSION: Shape = shape(
    "AgentExtension",
    &[
        required("uri", Text),
        optional("description", Text),
        optional("required", Flag),
        optional("params", Free),
    ],
);

static SKILL: Shape = shape("AgentSkill", &skill(REQUIREMENTS));

static PROTOBUF_SKILL: Shape = shape("AgentSkill", &skill(PROTOBUF_REQUIREMENTS));

const fn skill(security: MemberKind) -> [MemberSpec; 8] {
    [
        required("id", Text),
        required("name", Text),
        required("description", Text),
        required("tags", TEXTS),
        optional("examples", TEXTS),
        optional("inputModes", TEXTS),
        optional("outputModes", TEXTS),
        optional("security", security),
    ]
}

static SIGNATURE: Shape = shape(
    "AgentCardSignature",
    &[required("protected", Text), required("signature", Text), optional("header", Free)],
);

const SCHEMES: &[(&str, &Shape)] = &[
    ("apiKey", &API_KEY),
    ("http", &HTTP_AUTH),
    ("oauth2", &OAUTH2),
    ("openIdConnect", &OPEN_ID_CONNECT),
    ("mutualTLS", &MUTUAL_TLS),
];

static API_KEY: Shape = shape(
    "APIKeySecurityScheme",
    &[required("type", Text), optional("description", Text), required("in", Text), required("name", Text)],
);

static HTTP_AUTH: Shape = shape(
    "HTTPAuthSecurityScheme",
    &[
        required("type", Text),
        optional("description", Text),
        required("scheme", Text),
        optional("bearerFormat", Text),
    ],
);

static OAUTH2: Shape = shape(
    "OAuth2SecurityScheme",
    &[
        required("type", Text),
        optional("description", Text),
        required("flows", Object(&FLOWS)),
        optional("oauth2MetadataUrl", Text),
    ],
);

static OPEN_ID_CONNECT: Shape = shape(
    "OpenIdConnectSecurityScheme",
    &[required("type", Text), optional("description", Text), required("openIdConnectUrl", Text)],
);

static MUTUAL_TLS: Shape =
    shape("MutualTLSSecurityScheme", &[required("type", Text), optional("description", Text)]);

static FLOWS: Shape = shape(
    "OAuthFlows",
    &[
        optional("authorizationCode", Object(&AUTHORIZATION_CODE)),
        optional("clientCredentials", Object(&CLIENT_CREDENTIALS)),
        optional("implicit", Object(&IMPLICIT)),
        optional("password", Object(&PASSWORD)),
    ],
);

static AUTHORIZATION_CODE: Shape = shape(
    "AuthorizationCodeOAuthFlow",
    &[
        required("authorizationUrl", Text),
        required("tokenUrl", Text),
        optional("refreshUrl", Text),
        required("scopes", TEXT_MAP),
    ],
);

static CLIENT_CREDENTIALS: Shape = shape(
    "ClientCredentialsOAuthFlow",
    &[required("tokenUrl", Text), optional("refreshUrl", Text), required("scopes", TEXT_MAP)],
);

static IMPLICIT: Shape = shape(
    "ImplicitOAuthFlow",
    &[required("authorizationUrl", Text), optional("refreshUrl", Text), required("scopes", TEXT_MAP)],
);

static PASSWORD: Shape = shape(
    "PasswordOAuthFlow",
    &[required("tokenUrl", Text), optional("refreshUrl", Text), required("scopes", TEXT_MAP)],
);
