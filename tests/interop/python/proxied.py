"""`attache call` through the forward proxy of PyPI proxy.py, which needs a password: `proxied.py ATTACHE`.

The agent is attache itself. It is called `agent.test`, a name that only the proxy knows (`local_names.py`), so whatever
reaches it went through the proxy. Over https a small server here takes the TLS connection and passes its bytes on.
"""

import asyncio
import os
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import Checks, equal, true

START_SECONDS = 30.0
USER = "me:p%40ss"


async def start_agent(marker: str, *command: str, **options) -> tuple[asyncio.subprocess.Process, str]:
    """The agent, and the line in which it says `marker`."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT, **options,
    )
    async with asyncio.timeout(START_SECONDS):
        while line := (await process.stdout.readline()).decode():
            if marker in line:
                return process, line
    raise RuntimeError(f"{command[0]} ended before it listened")


async def start_proxy(folder: Path) -> tuple[asyncio.subprocess.Process, str]:
    """The proxy, and where it listens."""
    scripts = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    port_file = folder / "port"
    options = ("--port", "0", "--port-file", str(port_file), "--num-workers", "1", "--num-acceptors", "1")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proxy", *options, "--basic-auth", "me:p@ss", "--plugins", "local_names.LocalNames",
        cwd=folder, env={**os.environ, "HOME": str(folder), "PYTHONPATH": scripts},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(START_SECONDS):
        while not (port_file.exists() and port_file.read_text().strip()):
            await asyncio.sleep(0.05)
    return process, f"127.0.0.1:{port_file.read_text().split()[0]}"


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def tls_front(folder: Path, port: int) -> asyncio.Server:
    """Takes TLS connections for agent.test and passes their bytes on."""
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=agent.test -addext subjectAltName=DNS:agent.test"
    # A certificate of an authority is not accepted as that of a server.
    command += " -addext basicConstraints=critical,CA:FALSE"
    subprocess.run(
        ["openssl", *command.split(), "-keyout", "key.pem", "-out", "certificate.pem"],
        cwd=folder, check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    context.set_alpn_protocols(["h2", "http/1.1"])

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        backend_reader, backend_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, backend_writer), pass_on(backend_reader, writer))

    return await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)


def add(checks: Checks, program: str, folder: Path, proxy: str, ports: dict[str, int]) -> None:
    async def call(scheme: str, binding: str, code: int, **variables: str) -> tuple[str, str]:
        url = f"{scheme}://agent.test:{ports[scheme]}"
        process = await asyncio.create_subprocess_exec(
            program, "call", url, "help", "--same-host", "--binding", binding, "--ca", str(folder / "certificate.pem"),
            env={"HOME": str(folder), **variables}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )
        out, err = (text.decode() for text in await process.communicate())
        equal(process.returncode, code, f"the exit code over {scheme} ({out}{err})")
        return out, err

    for title, binding in {"JSON-RPC": "jsonrpc", "HTTP+JSON": "http", "gRPC": "grpc"}.items():
        for scheme in ports:

            async def answers(scheme: str = scheme, binding: str = binding) -> None:
                place = f"http://{USER}@{proxy}"
                out, _ = await call(scheme, binding, 0, **{f"{scheme}_proxy": place})
                true(out.strip() != "", "an answer")
                _, err = await call(scheme, binding, 1, **{f"{scheme}_proxy": f"http://{proxy}"})
                true("wants a user name and a password" in err and "p@ss" not in err, err)

            checks.add(f"{title} over {scheme} goes through the proxy", answers)

    async def exceptions() -> None:
        _, err = await call("http", "jsonrpc", 1, http_proxy=f"http://{USER}@{proxy}", NO_PROXY=".test")
        true("no connection" in err and "through the proxy" not in err, err)

    checks.add("hosts of NO_PROXY are not asked for", exceptions)


async def main(program: str) -> int:
    program = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "attache.toml").write_text('allowed_hosts = ["agent.test"]\n[card]\ngrpc = "authority"\n')
        serve = ("serve", "--port", "0", "--store", "memory:", "--config", "attache.toml", "--model", "offline")
        agent, line = await start_agent("http://127.0.0.1:", program, *serve, cwd=folder, env={"HOME": name})
        agent_port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0])
        front = await tls_front(folder, agent_port)
        proxy, address = await start_proxy(folder)
        try:
            ports = {"http": agent_port, "https": front.sockets[0].getsockname()[1]}
            checks = Checks("py-proxy")
            add(checks, program, folder, address, ports)
            return await checks.run()
        finally:
            for process in (agent, proxy):
                process.terminate()
                await process.wait()
            front.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ATTACHE")
    sys.exit(asyncio.run(main(sys.argv[1])))
