"""`attache call` against an agent of PyPI google-adk, which it serves itself: `called_google_adk.py ATTACHE`."""

from called import main_echo

if __name__ == "__main__":
    main_echo("py-google-adk-2", "agent_google_adk.py", "1.0 JSON-RPC")
