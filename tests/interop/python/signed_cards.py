"""Signed cards between attache and the Python SDK 1.3.0: `signed_cards.py ATTACHE`.

Needs `a2a-sdk[signing]==1.3.0`. `ATTACHE` is the program itself: it signs and serves what the SDK verifies, and
verifies what the SDK signs. Files are made in a temporary folder, and one server listens on loopback.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard, a2a_pb2_grpc
from a2a.types.a2a_pb2 import GetExtendedAgentCardRequest
from a2a.utils.signing import InvalidSignaturesError, create_agent_card_signer, create_signature_verifier
from google.protobuf.json_format import MessageToDict
from jwt.api_jwk import PyJWK

import channel
from harness import Checks, equal, true
from signing_world import ALGORITHMS, Json, World


TOKEN = "a-token-of-enough-length"

SETTINGS = """
[card]
name = "Prüf-Agent"
signing_keys = ["es256.jwk", "eddsa.jwk"]

[[card.extended.skills]]
id = "inside"
name = "Inside"
description = "Only the extended card tells of it: äöü"
tags = ["interop"]
"""


def card(**members: Any) -> Json:
    """A card with everything that has been trouble: text that is not ASCII, numbers, values that are empty."""
    return {
        "name": "Prüf-Agent 😀",
        "description": "signs",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extensions": [
                {"uri": "https://a.example/e", "required": False, "params": {"level": 3, "half": 0.5, "z": "", "ä": []}}
            ],
        },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "code", "name": "Code", "description": "Edits code", "tags": ["code"], "examples": []}],
        "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
        "securityRequirements": [{"schemes": {"b": {}}}],
        **members,
    }


def verifier(keys: Json) -> Callable[[AgentCard], None]:
    known = {key["kid"]: PyJWK(key) for key in keys["keys"]}

    def find(kid: str, _jku: str | None) -> PyJWK:
        # The SDK goes on to the next signature when a key is none that fits.
        return known.get(kid) or next(iter(known.values()))

    return create_signature_verifier(find, list(ALGORITHMS.values()))


def verify(document: Json, keys: Json) -> AgentCard:
    """What the SDK makes of a document, once it has verified it."""
    parsed = parse_agent_card(json.loads(json.dumps(document)))
    verifier(keys)(parsed)
    return parsed


def refused(document: Json, keys: Json) -> None:
    try:
        verify(document, keys)
    except InvalidSignaturesError:
        return
    raise AssertionError("a changed card was taken for the one that was signed")


def add(checks: Checks, world: World, url: str) -> None:
    def check(name: str) -> Callable[[Callable[[], Awaitable[None]]], None]:
        return lambda run: checks.add(name, run)

    for algorithm in ALGORITHMS:

        @check(f"the SDK verifies what attache signed with {ALGORITHMS[algorithm]}")
        async def ours(algorithm: str = algorithm) -> None:
            name = world.write(f"ours-{algorithm}.json", card())
            signed = json.loads(world.run("card", "sign", name, "--key", f"{algorithm}.jwk"))
            parsed = verify(signed, world.keys())
            equal(parsed.name, card()["name"], "the name")
            refused({**signed, "version": "6.6.6"}, world.keys())

        @check(f"attache verifies what the SDK signed with {ALGORITHMS[algorithm]}")
        async def theirs(algorithm: str = algorithm) -> None:
            key = json.loads((world.folder / f"{algorithm}.jwk").read_text())
            header = {"alg": ALGORITHMS[algorithm], "kid": key["kid"], "typ": "JOSE", "jku": None}
            sign = create_agent_card_signer(world.private(algorithm), header)
            signed = MessageToDict(sign(parse_agent_card(card())))
            keys = world.write(f"keys-{algorithm}.json", world.keys())
            name = world.write(f"theirs-{algorithm}.json", signed)
            told = world.run("card", "verify", name, "--keys", keys)
            true(told.endswith("verified\n"), told)
            signed["version"] = "6.6.6"
            world.run("card", "verify", world.write(f"bad-{algorithm}.json", signed), "--keys", keys, code=1)

    for version in ["", "0.3", "1.0"]:

        @check(f"the SDK verifies the card that attache serves to {version or 'clients that name no version'}")
        async def served(version: str = version) -> None:
            async with httpx.AsyncClient(headers={"A2A-Version": version} if version else {}) as client:
                document = (await client.get(f"{url}/.well-known/agent-card.json")).json()
                keys = (await client.get(f"{url}/.well-known/jwks.json")).json()
            verify(document, keys)
            refused({**document, "name": "another"}, keys)

    @check("a client that knows the old key or the new one only takes the card, and one that knows neither does not")
    async def rotated() -> None:
        async with httpx.AsyncClient(headers={"A2A-Version": "1.0"}) as client:
            document = (await client.get(f"{url}/.well-known/agent-card.json")).json()
            keys = (await client.get(f"{url}/.well-known/jwks.json")).json()
        equal(len(keys["keys"]), 2, "the keys of the server")
        for key in keys["keys"]:
            verify(document, {"keys": [key]})
        strangers = World(world.program, world.folder / "strangers").keys()
        refused(document, strangers)

    for path in ["/extendedAgentCard", "/v1/card"]:

        @check(f"the SDK verifies the extended card at {path}")
        async def extended(path: str = path) -> None:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with httpx.AsyncClient(headers=headers) as client:
                document = (await client.get(url + path)).json()
                keys = (await client.get(f"{url}/.well-known/jwks.json")).json()
            equal([skill["id"] for skill in document["skills"]][-1], "inside", "the skill of the extended card")
            verify(document, keys)
            refused({**document, "description": "another"}, keys)

    @check("the SDK verifies the extended card that it gets over gRPC")
    async def over_grpc() -> None:
        async with httpx.AsyncClient() as client:
            keys = (await client.get(f"{url}/.well-known/jwks.json")).json()
        async with channel.opened(url, TOKEN) as calls:
            parsed = await a2a_pb2_grpc.A2AServiceStub(calls).GetExtendedAgentCard(GetExtendedAgentCardRequest())
        equal(parsed.skills[-1].id, "inside", "the skill of the extended card")
        verifier(keys)(parsed)
        parsed.description = "another"
        try:
            verifier(keys)(parsed)
        except InvalidSignaturesError:
            return
        raise AssertionError("a changed card was taken for the one that was signed")


async def main(program: str) -> int:
    checks = Checks("py-1.0")
    with tempfile.TemporaryDirectory() as folder:
        world = World(program, Path(folder))
        (world.folder / "attache.toml").write_text(SETTINGS)
        # With a token the card has a requirement without scopes.
        server = subprocess.Popen(
            [world.program, "serve", "--port", "0", "--store", "memory:", "--config", "attache.toml"],
            cwd=folder,
            env={"HOME": folder, "ATTACHE_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout
            url = server.stdout.readline().rsplit(" ", 1)[-1].strip()
            add(checks, world, url)
            return await checks.run()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ATTACHE")
    sys.exit(asyncio.run(main(sys.argv[1])))
