"""Cards signed by the Python SDK 0.3.26, verified by attache: `signed_cards_0_3.py ATTACHE`.

Needs `a2a-sdk[signing]==0.3.26`. One way only: the SDK signs a form of its own, in which attache checks signatures and
makes none.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from a2a.types import AgentCard
from a2a.utils.signing import create_agent_card_signer

from harness import Checks, true
from signing_world import ALGORITHMS, World


def add(checks: Checks, world: World) -> None:
    for algorithm, name in ALGORITHMS.items():

        async def theirs(algorithm: str = algorithm, name: str = name) -> None:
            key = json.loads((world.folder / f"{algorithm}.jwk").read_text())
            card = {**json.loads(world.run("card", "show", "--json")), "name": "Prüf-Agent 😀"}
            header = {"alg": name, "kid": key["kid"], "typ": "JOSE", "jku": None}
            sign = create_agent_card_signer(world.private(algorithm), header)
            signed = sign(AgentCard.model_validate(card)).model_dump(mode="json", by_alias=True, exclude_none=True)
            keys = world.write(f"keys-{algorithm}.json", world.keys())
            told = world.run("card", "verify", world.write(f"theirs-{algorithm}.json", signed), "--keys", keys)
            true(told.endswith("verified\n"), told)
            signed["version"] = "6.6.6"
            world.run("card", "verify", world.write(f"bad-{algorithm}.json", signed), "--keys", keys, code=1)

        checks.add(f"attache verifies what the SDK signed with {name}", theirs)


async def main(program: str) -> int:
    checks = Checks("py-0.3")
    with tempfile.TemporaryDirectory() as folder:
        add(checks, World(program, Path(folder)))
        return await checks.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ATTACHE")
    sys.exit(asyncio.run(main(sys.argv[1])))
