"""`attache call` against an agent of PyPI fasta2a: `called_fasta2a.py ATTACHE`."""

from called import main_echo

if __name__ == "__main__":
    main_echo("py-fasta2a-server", "agent_fasta2a.py", "1.0 JSON-RPC")
