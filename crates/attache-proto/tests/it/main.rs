//! The definitions are those of the protocol: every name, number, type and label is in a table beside this file.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

use attache_proto::DESCRIPTORS;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

#[track_caller]
fn check(package: &str, table: &str) {
    let mut expected: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap();
    let file = set.file.iter().find(|file| file.package() == package).unwrap();
    let mut defined = lines_of(file);
    expected.sort_unstable();
    defined.sort_unstable();
    let missing: Vec<_> = expected.iter().filter(|line| !defined.iter().any(|it| it == *line)).collect();
    let invented: Vec<_> = defined.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:#?}\ninvented: {invented:#?}");
}

/// The file in the form of the tables.
fn lines_of(file: &FileDescriptorProto) -> Vec<String> {
    let own = format!(".{}.", file.package());
    let short = |name: &str| name.strip_prefix(&own).unwrap_or(name).trim_start_matches('.').to_owned();
    let mut lines = Vec::new();
    for message in &file.message_type {
        for field in &message.field {
            lines.push(line_of(message, field, &short));
        }
    }
    for kind in &file.enum_type {
        lines.extend(
            kind.value.iter().map(|value| format!("{} {} {}", kind.name(), value.name(), value.number())),
        );
    }
    for service in &file.service {
        for method in &service.method {
            let streams = if method.server_streaming() { "server" } else { "none" };
            assert!(!method.client_streaming(), "{}", method.name());
            lines.push(format!(
                "{}/{} {} {} {streams}",
                service.name(),
                method.name(),
                short(method.input_type()),
                short(method.output_type()),
            ));
        }
    }
    lines
}

fn line_of(
    message: &DescriptorProto,
    field: &FieldDescriptorProto,
    short: &impl Fn(&str) -> String,
) -> String {
    let entry =
        message.nested_type.iter().find(|nested| field.type_name().ends_with(&format!(".{}", nested.name())));
    let (kind, label) = match entry {
        Some(entry) => {
            (format!("map<{},{}>", kind_of(&entry.field[0], short), kind_of(&entry.field[1], short)), "map")
        }
        None if field.label() == Label::Repeated => (kind_of(field, short), "repeated"),
        None if field.proto3_optional() => (kind_of(field, short), "optional"),
        None => (kind_of(field, short), "singular"),
    };
    let choice = field.oneof_index.filter(|_| !field.proto3_optional());
    let choice = choice.map_or("-", |index| message.oneof_decl[index as usize].name());
    let (message, name, number, json) = (message.name(), field.name(), field.number(), field.json_name());
    format!("{message}.{name} {number} {kind} {label} {choice} {json}")
}

fn kind_of(field: &FieldDescriptorProto, short: &impl Fn(&str) -> String) -> String {
    match field.r#type() {
        Type::String => "string".into(),
        Type::Bytes => "bytes".into(),
        Type::Bool => "bool".into(),
        Type::Int32 => "int32".into(),
        Type::Message | Type::Enum => short(field.type_name()),
        other => panic!("no definition of ours has a field of type {other:?}"),
    }
}

#[test]
fn the_definitions_of_0_3_are_those_of_the_protocol() {
    check("a2a.v1", include_str!("../tables/v0_3.txt"));
}

#[test]
fn the_definitions_of_1_0_are_those_of_the_protocol() {
    check("lf.a2a.v1", include_str!("../tables/v1_0.txt"));
}

#[test]
fn every_import_is_among_the_descriptors() {
    let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap();
    for file in &set.file {
        for import in &file.dependency {
            assert!(set.file.iter().any(|other| other.name() == import), "{} imports {import}", file.name());
        }
    }
}
