"""`attache call` against an agent on PyPI a2a-sdk 1.3.0: `called_1_0.py ATTACHE`."""

import sys
from pathlib import Path

from called import Agent, main

AGENT = Path(__file__).parents[3] / "crates/attache-conformance/subjects/python/agent.py"

if __name__ == "__main__":
    # In the protobuf of 0.3 and its JSON the SDK takes base64 text for the bytes themselves.
    bytes_as_text = {"bytes": "it sends them as text", "file": "it reads them as text, and nothing is left of them"}
    deleting = {"pushes": "the SDK's layer for 0.3 has no route that deletes push configurations"}
    lacks = {"0.3 HTTP+JSON": bytes_as_text | deleting, "0.3 gRPC": bytes_as_text}
    main("py-1.0-server", Agent(sys.executable, str(AGENT)), ["1.0", "0.3"], lacks)
