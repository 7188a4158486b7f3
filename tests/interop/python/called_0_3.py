"""`attache call` against an agent on PyPI a2a-sdk 0.3.26: `called_0_3.py ATTACHE`."""

import sys
from pathlib import Path

from called import Agent, main

if __name__ == "__main__":
    main("py-0.3-server", Agent(sys.executable, str(Path(__file__).with_name("agent_0_3.py"))), ["0.3"])
