//! The members of a 1.0 card. A message has presence, so objects are optional, never implicit.

use super::MemberKind::{Flag, Free, List, Map, Object, Text};
use super::{Shape, TEXT_MAP, TEXTS, choice, implicit, optional, required, shape};

pub(crate) static CARD: Shape = shape(
    "AgentCard",
    &[
        required("name", Text),
        required("description", Text),
        required("supportedInterfaces", List(&Object(&INTERFACE))),
        optional("provider", Object(&PROVIDER)),
        required("version", Text),
        optional("documentationUrl", Text),
        required("capabilities", Object(&CAPABILITIES)),
        implicit("securitySchemes", Map(&Object(&SCHEME))),
        implicit("securityRequirements", List(&Object(&REQUIREMENT))),
        required("defaultInputModes", TEXTS),
        required("defaultOutputModes", TEXTS),
        required("skills", List(&Object(&SKILL))),
        implicit("signatures", List(&Object(&SIGNATURE))),
        optional("iconUrl", Text),
    ],
);

static INTERFACE: Shape = shape(
    "AgentInterface",
    &[
        required("url", Text),
        required("protocolBinding", Text),
        implicit("tenant", Text),
        required("protocolVersion", Text),
    ],
);

static PROVIDER: Shape = shape("AgentProvider", &[required("url", Text), required("organization", Text)]);

static CAPABILITIES: Shape = shape(
    "AgentCapabilities",
    &[
        optional("streaming", Flag),
        optional("pushNotifications", Flag),
        implicit("extensions", List(&Object(&EXTENSION))),
        optional("extendedAgentCard", Flag),
    ],
);

static EXTENSION: Shape = shape(
    "AgentExtension",
    &[
        implicit("uri", Text),
        implicit("description", Text),
        implicit("required", Flag),
        optional("params", Free),
    ],
);

static SKILL: Shape = shape(
    "AgentSkill",
    &[
        required("id", Text),
        required("name", Text),
        required("description", Text),
        required("tags", TEXTS),
        implicit("examples", TEXTS),
        implicit("inputModes", TEXTS),
        implicit("outputModes", TEXTS),
        implicit("securityRequirements", List(&Object(&REQUIREMENT))),
    ],
);

static SIGNATURE: Shape = shape(
    "AgentCardSignature",
    &[required("protected", Text), required("signature", Text), optional("header", Free)],
);

pub(crate) static REQUIREMENT: Shape =
    shape("SecurityRequirement", &[implicit("schemes", Map(&Object(&STRING_LIST)))]);

static STRING_LIST: Shape = shape("StringList", &[implicit("list", TEXTS)]);

pub(crate) static SCHEME: Shape = choice(
    "SecurityScheme",
    &[
        optional("apiKeySecurityScheme", Object(&API_KEY)),
        optional("httpAuthSecurityScheme", Object(&HTTP_AUTH)),
        optional("oauth2SecurityScheme", Object(&OAUTH2)),
        optional("openIdConnectSecurityScheme", Object(&OPEN_ID_CONNECT)),
        optional("mtlsSecurityScheme", Object(&MUTUAL_TLS)),
    ],
);

static API_KEY: Shape = shape(
    "APIKeySecurityScheme",
    &[implicit("description", Text), required("location", Text), required("name", Text)],
);

static HTTP_AUTH: Shape = shape(
    "HTTPAuthSecurityScheme",
    &[implicit("description", Text), required("scheme", Text), implicit("bearerFormat", Text)],
);

static OAUTH2: Shape = shape(
    "OAuth2SecurityScheme",
    &[implicit("description", Text), required("flows", Object(&FLOWS)), implicit("oauth2MetadataUrl", Text)],
);

static OPEN_ID_CONNECT: Shape = shape(
    "OpenIdConnectSecurityScheme",
    &[implicit("description", Text), required("openIdConnectUrl", Text)],
);

static MUTUAL_TLS: Shape = shape("MutualTlsSecurityScheme", &[implicit("description", Text)]);

static FLOWS: Shape = choice(
    "OAuthFlows",
    &[
        optional("authorizationCode", Object(&AUTHORIZATION_CODE)),
        optional("clientCredentials", Object(&CLIENT_CREDENTIALS)),
        optional("implicit", Object(&IMPLICIT)),
        optional("password", Object(&PASSWORD)),
        optional("deviceCode", Object(&DEVICE_CODE)),
    ],
);

static AUTHORIZATION_CODE: Shape = shape(
    "AuthorizationCodeOAuthFlow",
    &[
        required("authorizationUrl", Text),
        required("tokenUrl", Text),
        implicit("refreshUrl", Text),
        required("scopes", TEXT_MAP),
        implicit("pkceRequired", Flag),
    ],
);

static CLIENT_CREDENTIALS: Shape = shape(
    "ClientCredentialsOAuthFlow",
    &[required("tokenUrl", Text), implicit("refreshUrl", Text), required("scopes", TEXT_MAP)],
);

static IMPLICIT: Shape = shape(
    "ImplicitOAuthFlow",
    &[implicit("authorizationUrl", Text), implicit("refreshUrl", Text), implicit("scopes", TEXT_MAP)],
);

static PASSWORD: Shape = shape(
    "PasswordOAuthFlow",
    &[implicit("tokenUrl", Text), implicit("refreshUrl", Text), implicit("scopes", TEXT_MAP)],
);

static DEVICE_CODE: Shape = shape(
    "DeviceCodeOAuthFlow",
    &[
        required("deviceAuthorizationUrl", Text),
        required("tokenUrl", Text),
        implicit("refreshUrl", Text),
        required("scopes", TEXT_MAP),
    ],
);
