//! The members of a card: one table per version, for normalization, verification and lint.

pub(crate) mod v0_3;
pub(crate) mod v1_0;

/// An object with known members.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The protocol's name.
    pub(crate) name: &'static str,
    pub(crate) members: &'static [MemberSpec],
    pub(crate) choice: MemberRule,
}

/// How many of the members may be present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberRule {
    Any,
    /// A protobuf `oneof`.
    ExactlyOne,
}

#[derive(Debug)]
pub(crate) struct MemberSpec {
    pub(crate) name: &'static str,
    pub(crate) kind: MemberKind,
    pub(crate) presence: Presence,
}

/// When a member is part of the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Always, even when it is empty.
    Required,
    /// When it was set, even to `false` or an empty value.
    Optional,
    /// When it differs from its default: not empty, not false.
    Implicit,
}

#[derive(Debug)]
pub(crate) enum MemberKind {
    Text,
    Flag,
    /// An object with any members.
    Free,
    Object(&'static Shape),
    /// An object whose member `type` selects its shape.
    Tagged(&'static [(&'static str, &'static Shape)]),
    List(&'static MemberKind),
    Map(&'static MemberKind),
}

impl Shape {
    pub(crate) fn member(&self, name: &str) -> Option<&'static MemberSpec> {
        self.members.iter().find(|member| member.name == name)
    }
}

const fn shape(name: &'static str, members: &'static [MemberSpec]) -> Shape {
    Shape { name, members, choice: MemberRule::Any }
}

const fn choice(name: &'static str, members: &'static [MemberSpec]) -> Shape {
    Shape { name, members, choice: MemberRule::ExactlyOne }
}

const fn required(name: &'static str, kind: MemberKind) -> MemberSpec {
    MemberSpec { name, kind, presence: Presence::Required }
}

const fn optional(name: &'static str, kind: MemberKind) -> MemberSpec {
    MemberSpec { name, kind, presence: Presence::Optional }
}

const fn implicit(name: &'static str, kind: MemberKind) -> MemberSpec {
    MemberSpec { name, kind, presence: Presence::Implicit }
}

const TEXTS: MemberKind = MemberKind::List(&MemberKind::Text);
const TEXT_MAP: MemberKind = MemberKind::Map(&MemberKind::Text);
