//! What members a card has: one table for each version, read by whoever normalises, checks or explains.

pub(crate) mod v0_3;
pub(crate) mod v1_0;

/// An object whose members are known.
#[derive(Debug)]
pub(crate) struct Shape {
    /// As the protocol calls it.
    pub(crate) name: &'static str,
    pub(crate) members: &'static [Member],
    pub(crate) choice: Choice,
}

/// How many of the members may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Any,
    /// A protobuf `oneof`.
    ExactlyOne,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) presence: Presence,
}

/// When a member is part of the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Always, even when it is empty.
    Required,
    /// When it was said, even if what was said is `false` or empty.
    Optional,
    /// When it is not what it would be anyway: not empty, not false.
    Implicit,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    Flag,
    /// An object with any members.
    Free,
    Object(&'static Shape),
    /// An object whose member `type` says which shape it has.
    Tagged(&'static [(&'static str, &'static Shape)]),
    List(&'static Kind),
    Map(&'static Kind),
}

impl Shape {
    pub(crate) fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

const fn shape(name: &'static str, members: &'static [Member]) -> Shape {
    Shape { name, members, choice: Choice::Any }
}

const fn choice(name: &'static str, members: &'static [Member]) -> Shape {
    Shape { name, members, choice: Choice::ExactlyOne }
}

const fn required(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, presence: Presence::Required }
}

const fn optional(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, presence: Presence::Optional }
}

const fn implicit(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, presence: Presence::Implicit }
}

const TEXTS: Kind = Kind::List(&Kind::Text);
const TEXT_MAP: Kind = Kind::Map(&Kind::Text);
