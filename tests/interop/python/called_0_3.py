"""`attache call` against an agent on PyPI a2a-sdk 0.3.26: `called_0_3.py ATTACHE`."""

import sys
from pathlib import Path

from called import Agent, main

if __name__ == "__main__":
    agent = Agent(sys.executable, str(Path(__file__).with_name("agent_0_3.py")))
    lacks = {
        "pushes": "the SDK's server cannot list push configurations here",
        "bytes": "in protobuf and its JSON the SDK takes base64 text for the bytes themselves",
    }
    grpc = lacks | {"extended": "the SDK's server gives out the public card here"}
    main("py-0.3-server", agent, ["0.3"], {"0.3 HTTP+JSON": lacks, "0.3 gRPC": grpc})
