"""`attache call` against an agent on PyPI a2a-sdk 1.3.0: `called_1_0.py ATTACHE`."""

import sys
from pathlib import Path

from called import Agent, main

AGENT = Path(__file__).parents[3] / "crates/attache-conformance/subjects/python/agent.py"

if __name__ == "__main__":
    deleting = "the SDK's layer for 0.3 has no route that deletes push configurations"
    main("py-1.0-server", Agent(sys.executable, str(AGENT)), ["1.0", "0.3"], {"0.3 HTTP+JSON": deleting})
