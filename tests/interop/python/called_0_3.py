"""`attache call` against an agent on PyPI a2a-sdk 0.3.26: `called_0_3.py ATTACHE`."""

import sys
from pathlib import Path

from called import Agent, main

if __name__ == "__main__":
    agent = Agent(sys.executable, str(Path(__file__).with_name("agent_0_3.py")))
    listing = "the SDK's server cannot list push configurations here"
    main("py-0.3-server", agent, ["0.3"], {"0.3 HTTP+JSON": listing, "0.3 gRPC": listing})
