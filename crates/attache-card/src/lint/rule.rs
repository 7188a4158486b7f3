//! The rules that a card can break.

/// One rule: its name and its text.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: &'static str,
    pub says: &'static str,
}

macro_rules! rules {
    ($($constant:ident, $name:literal, $says:literal;)*) => {
        $(pub(super) static $constant: Rule = Rule { name: $name, says: $says };)*
        /// All rules, in the order of the documentation.
        pub static RULES: &[&Rule] = &[$(&$constant),*];
    };
}

rules! {
    ONE_OBJECT, "one-object", "A card is one JSON object of moderate size in which no member is there twice.";
    REQUIRED, "required-member", "Members that the protocol marks as required must be there.";
    TYPE, "member-type", "Every member has the type that the protocol gives it.";
    ONE_OF, "one-of", "In 1.0 a security scheme holds exactly one kind, and its flows exactly one flow.";
    UNKNOWN, "unknown-member", "Clients ignore members that the protocol does not define.";
    FORM, "card-form", "A 0.3 card is written as the JSON schema of 0.3 says; clients that know only that do not find the security in protobuf's form.";
    EMPTY, "empty-value", "Required texts and lists say something; SDKs drop empty ones, also from what was signed.";
    INTERFACES, "interface-list", "A 1.0 card lists at least one interface, the preferred one first, none twice.";
    INTERFACE_URL, "interface-url", "An interface has an absolute URL, https in production; for gRPC host:port will do.";
    BINDING, "binding-name", "A binding is JSONRPC, GRPC or HTTP+JSON, or the URI of another one.";
    PROTOCOL_VERSION, "protocol-version", "A protocol version is written Major.Minor in 1.0; the version of a 0.3 card begins with 0.3.";
    TENANT, "tenant", "A tenant is a name that fits into one segment of a path and is none of the paths of HTTP+JSON; 0.3 knows no tenants.";
    TRANSPORTS, "main-transport", "In 0.3 the transport at url is preferredTransport, additionalInterfaces repeats that pair, and no URL has two transports.";
    URL, "url", "Links are absolute http or https URLs without credentials in them.";
    OAUTH_TLS, "oauth-tls", "The URLs of OAuth 2 and OpenID Connect use https.";
    MEDIA_TYPE, "media-type", "Input and output modes are media types such as text/plain or image/*.";
    SKILLS, "skills", "A card tells of at least one skill, each with an id of its own and tags to find it by.";
    EXTENSION, "extension", "An extension has an absolute URI and is listed once.";
    SCHEME, "security-scheme", "A scheme says all that its kind needs; an API key is in the header, the query or a cookie.";
    DEPRECATED_FLOW, "deprecated-flow", "1.0 advises against the implicit and the password flow.";
    REQUIREMENT, "security-requirement", "A requirement names schemes that are declared, with scopes that they have.";
    UNUSED_SCHEME, "unused-scheme", "A scheme that nothing requires protects nothing.";
    EXTENDED_CARD, "extended-card", "An extended card is for authenticated callers only.";
    HALVES, "halves-agree", "What a card says to 0.3 clients is what it says to 1.0 clients.";
    SIGNATURE, "signature", "A signature is a JWS with alg and kid in its protected header, typ JOSE, and an algorithm that proves something to anybody.";
    SIGNED_EMPTY, "signed-empty-values", "A signed card with empty values needs a signature for readers that keep them and one for those that drop them.";
}
