"""Strict reading of ProtoJSON: by the protobuf parser, and then by the rules it is lenient about.

The parser refuses unknown members and values of a wrong type. Beyond that: member names in camelCase only,
enum values by name, members that are REQUIRED present, and members at their default left out.
"""

import json
import re
from typing import Any

from google.api import field_behavior_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from harness import true

# UTC, and milliseconds.
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_FREE_FORM = {"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"}
_NUMBERS = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32}


def parse(spelled: Any, into: Message) -> Message:
    """Reads `spelled` or says what is wrong with it."""
    text = json.dumps(spelled)
    try:
        json_format.Parse(text, into, ignore_unknown_fields=False)
    except json_format.ParseError as error:
        raise AssertionError(f"{into.DESCRIPTOR.full_name} does not parse: {error}; text: {text}") from error
    _object(into.DESCRIPTOR, spelled, into.DESCRIPTOR.name)
    return into


def _object(descriptor: Descriptor, spelled: Any, path: str) -> None:
    if descriptor.full_name in _FREE_FORM:
        return
    if descriptor.full_name == "google.protobuf.Timestamp":
        true(_TIMESTAMP.fullmatch(spelled), f"{path} is not a UTC time with milliseconds: {spelled!r}")
        return
    fields = {field.json_name: field for field in descriptor.fields}
    for name, value in spelled.items():
        true(name in fields, f"{path}.{name} is not a member name")
        _member(fields[name], value, f"{path}.{name}")
    for name, field in fields.items():
        true(name in spelled or not _is_required(field), f"{path}.{name} is required and missing")


def _member(field: FieldDescriptor, value: Any, path: str) -> None:
    if field.message_type and field.message_type.GetOptions().map_entry:
        for key, one in value.items():
            _single(field.message_type.fields_by_name["value"], one, f"{path}[{key}]")
    elif field.is_repeated:
        for index, one in enumerate(value):
            _single(field, one, f"{path}[{index}]")
    else:
        _single(field, value, path)
        at_default = not field.has_presence and value in ("", False, 0)
        true(not at_default or _is_required(field), f"{path} is at its default and should be left out")


def _single(field: FieldDescriptor, value: Any, path: str) -> None:
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        _object(field.message_type, value, path)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        true(value in field.enum_type.values_by_name, f"{path} is not an enum name: {value!r}")
        true(field.enum_type.values_by_name[value].number != 0, f"{path} is unspecified")
    elif field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        true(isinstance(value, bool), f"{path} is not a boolean: {value!r}")
    elif field.cpp_type in _NUMBERS:
        true(isinstance(value, int) and not isinstance(value, bool), f"{path} is not a number: {value!r}")
    elif field.type == FieldDescriptor.TYPE_BYTES:
        true(_BASE64.fullmatch(value), f"{path} is not padded standard base64: {value!r}")


def _is_required(field: FieldDescriptor) -> bool:
    behaviour = field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
    return field_behavior_pb2.FieldBehavior.REQUIRED in behaviour
