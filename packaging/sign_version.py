"""Writes dist/newest, the signed file that tells an installed Headstart which version is the newest.

`python packaging/sign_version.py PAGE` with HEADSTART_VERSION_KEY_FILE naming a file with the 32 bytes of the secret
key (Ed25519) in base64. `python packaging/sign_version.py --new-key FILE` makes such a file once, and prints the public
key for packaging/app.toml. What is at `updates.url` there has to be this file.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tomllib
from pathlib import Path

from nacl.signing import SigningKey

ROOT = Path(__file__).parent.parent


def signed(version: str, page: str, key: SigningKey) -> bytes:
    """The whole file: the signature in base64, and below it what is signed."""
    said = json.dumps({"program": "headstart", "version": version, "page": page}).encode() + b"\n"
    return base64.b64encode(key.sign(said).signature) + b"\n" + said


def new_key(path: Path) -> str:
    """Write a new secret key that only its owner may read, never over a file; gives the public one in base64."""
    key = SigningKey.generate()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(base64.b64encode(bytes(key)))
    return base64.b64encode(bytes(key.verify_key)).decode()


def main(arguments: list[str]) -> None:
    """Do what the arguments ask for."""
    if arguments[:1] == ["--new-key"]:
        print(new_key(Path(arguments[1])))
        return
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    key = SigningKey(base64.b64decode(Path(os.environ["HEADSTART_VERSION_KEY_FILE"]).read_text().strip()))
    (ROOT / "dist").mkdir(exist_ok=True)
    (ROOT / "dist" / "newest").write_bytes(signed(version, arguments[0], key))


if __name__ == "__main__":
    main(sys.argv[1:])
