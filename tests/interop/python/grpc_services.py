"""Checks of the services beside A2A on gRPC: health, and reflection that describes what is really there."""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2
from a2a.types import a2a_pb2
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from harness import Checks, equal, true

SERVICES = {"a2a.v1.A2AService": a2a_v0_3_pb2.DESCRIPTOR, "lf.a2a.v1.A2AService": a2a_pb2.DESCRIPTOR}


def add_to(checks: Checks, base: str) -> None:
    target = base.removeprefix("http://")
    for name, check in {
        "the health service says that the server and both services serve": healthy,
        "reflection lists all services": lists_services,
        "reflection describes both services as the SDK knows them": describes,
    }.items():
        checks.add(name, _in_a_thread(check, target), "gRPC")


def _in_a_thread(check: Callable[[grpc.Channel], None], target: str) -> Callable[[], Any]:
    """The libraries of these services know no asynchronous channels."""

    def run() -> None:
        with grpc.insecure_channel(target) as channel:
            check(channel)

    return lambda: asyncio.to_thread(run)


def healthy(channel: grpc.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ("", *SERVICES):
        answered = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=5)
        equal(answered.status, health_pb2.HealthCheckResponse.SERVING, f"the health of {service!r}")
    first = next(iter(stub.Watch(health_pb2.HealthCheckRequest(), timeout=5)))
    equal(first.status, health_pb2.HealthCheckResponse.SERVING, "what is watched")
    try:
        stub.Check(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=5)
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.NOT_FOUND, "the health of what is not there")
        return
    raise AssertionError("a service that is not there is healthy")


def lists_services(channel: grpc.Channel) -> None:
    listed = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    for service in (*SERVICES, "grpc.health.v1.Health"):
        true(service in listed, f"{service} is listed: {sorted(listed)}")


def describes(channel: grpc.Channel) -> None:
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    for name, known in SERVICES.items():
        described = pool.FindServiceByName(name)
        expected = known.services_by_name["A2AService"]
        methods = {one.name: (one.input_type.full_name, one.output_type.full_name) for one in described.methods}
        wanted = {one.name: (one.input_type.full_name, one.output_type.full_name) for one in expected.methods}
        equal(methods, wanted, f"the methods of {name}")
        _messages_agree(described.file, known)


def _messages_agree(described: FileDescriptor, known: FileDescriptor) -> None:
    """Whatever the SDK knows is described with the same numbers."""
    for name, message in known.message_types_by_name.items():
        true(name in described.message_types_by_name, f"{name} is described")
        equal(_fields(described.message_types_by_name[name]), _fields(message), f"the fields of {name}")


def _fields(message: Descriptor) -> dict[str, tuple[int, int]]:
    return {field.name: (field.number, field.type) for field in message.fields}
