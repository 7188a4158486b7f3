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
from a2a.types import AgentCard
from a2a.utils.signing import InvalidSignaturesError, create_agent_card_signer, create_signature_verifier
from google.protobuf.json_format import MessageToDict
from jwt.api_jwk import PyJWK

from harness import Checks, equal, true
from signing_world import ALGORITHMS, Json, World


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


def verify(document: Json, keys: Json) -> AgentCard:
    """What the SDK makes of a document, once it has verified it."""
    known = {key["kid"]: PyJWK(key) for key in keys["keys"]}
    verifier = create_signature_verifier(lambda kid, _jku: known[kid], list(ALGORITHMS.values()))
    parsed = parse_agent_card(json.loads(json.dumps(document)))
    verifier(parsed)
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

        @check(f"{algorithm}: the SDK verifies what attache signed")
        async def ours(algorithm: str = algorithm) -> None:
            name = world.write(f"ours-{algorithm}.json", card())
            signed = json.loads(world.run("card", "sign", name, "--key", f"{algorithm}.jwk"))
            parsed = verify(signed, world.keys())
            equal(parsed.name, card()["name"], "the name")
            refused({**signed, "version": "6.6.6"}, world.keys())

        @check(f"{algorithm}: attache verifies what the SDK signed")
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

        @check(f"the SDK verifies what attache serves to version {version or 'nobody named'}")
        async def served(version: str = version) -> None:
            async with httpx.AsyncClient(headers={"A2A-Version": version} if version else {}) as client:
                document = (await client.get(f"{url}/.well-known/agent-card.json")).json()
                keys = (await client.get(f"{url}/.well-known/jwks.json")).json()
            verify(document, keys)
            refused({**document, "name": "another"}, keys)


async def main(program: str) -> int:
    checks = Checks("signed-cards")
    with tempfile.TemporaryDirectory() as folder:
        world = World(program, Path(folder))
        settings = '[card]\nname = "Prüf-Agent"\nsigning_keys = ["es256.jwk", "eddsa.jwk"]\n'
        (world.folder / "attache.toml").write_text(settings)
        # With a token the card has a requirement without scopes.
        server = subprocess.Popen(
            [world.program, "serve", "--port", "0", "--store", "memory:", "--config", "attache.toml"],
            cwd=folder,
            env={"HOME": folder, "ATTACHE_TOKEN": "a-token-of-enough-length"},
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
