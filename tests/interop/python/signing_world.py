"""What the programs about signed cards share: the program under test, and a folder with keys."""

import json
import subprocess
from pathlib import Path
from typing import Any

from jwt.api_jwk import PyJWK

from harness import equal

Json = dict[str, Any]
ALGORITHMS = {"es256": "ES256", "eddsa": "EdDSA"}


class World:
    """A folder with keys in it, and the program."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = str(Path(program).resolve()), folder
        folder.mkdir(exist_ok=True)
        for algorithm in ALGORITHMS:
            self.run("keys", "new", "--out", f"{algorithm}.jwk", "--algorithm", algorithm)

    def run(self, *arguments: str, code: int = 0) -> str:
        ran = subprocess.run(
            [self.program, *arguments], cwd=self.folder, env={"HOME": str(self.folder)}, capture_output=True, text=True
        )
        equal(ran.returncode, code, f"the exit code of {' '.join(arguments)} ({ran.stdout}{ran.stderr})")
        return ran.stdout

    def private(self, algorithm: str) -> PyJWK:
        return PyJWK(json.loads((self.folder / f"{algorithm}.jwk").read_text()))

    def keys(self) -> Json:
        return json.loads(self.run("keys", "public", *(f"{one}.jwk" for one in ALGORITHMS)))

    def write(self, name: str, document: Json) -> str:
        (self.folder / name).write_text(json.dumps(document))
        return name
