"""What the frozen program is made of: a list of components (SBOM, CycloneDX 1.6) and all their licence texts.

`python packaging/bundle/notices.py BUNDLE MODULES LICENCES.txt SBOM.json`, run by the Python that built the bundle.
MODULES is a file that names the Python modules in the bundle, one a line.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

import headstart  # noqa: F401 - makes `app` importable

from app.licences import together


def bundled(modules: Iterable[str], bundle: Path) -> list[Distribution]:
    """The distributions of which the bundle holds something, by name. One whose modules are all left out is none."""
    present = {name.partition(".")[0] for name in modules} | {path.name for path in (bundle / "_internal").iterdir()}
    found = {}
    for each in distributions():
        tops = {Path(str(file)).parts[0] for file in each.files or ()}
        tops = {top.partition(".")[0] for top in tops if not top.endswith((".dist-info", ".libs", "..", ".pth"))}
        if tops - {"__pycache__", "bin", ""} & present:
            found[each.metadata["Name"].lower()] = each
    return [found[name] for name in sorted(found)]


def system_texts() -> list[tuple[str, str]]:
    """Python's own licence, where this system keeps it."""
    for folder in (Path(sys.base_prefix), Path(sys.base_prefix, "lib", f"python3.{sys.version_info.minor}")):
        path = folder / "LICENSE.txt"
        if path.exists():
            return [(f"Python {sys.version.split()[0]}: PSF-2.0", path.read_text(encoding="utf-8"))]
    return []


def system_libraries(bundle: Path) -> dict[str, str]:
    """The Debian packages, with versions, of system libraries in the bundle; {} where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return {}
    found = {}
    for path in sorted((bundle / "_internal").glob("lib*.so*")):
        said = subprocess.run(["dpkg-query", "--search", f"*/{path.name}"], capture_output=True, text=True).stdout
        package = said.partition(":")[0].strip()
        if package:
            shown = ["dpkg-query", "--show", "--showformat", "${Version}\n", package]
            found[package] = subprocess.run(shown, capture_output=True, text=True).stdout.splitlines()[0]
    return found


def bill(parts: Iterable[Distribution], libraries: dict[str, str]) -> dict:
    """The list of components, reproducible: what cyclonedx-py says of this environment, less what is not bundled."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--spec-version", "1.6"]
    made = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    names = {each.metadata["Name"].lower().replace("_", "-") for each in parts}
    kept = [each for each in made["components"] if each["name"].lower().replace("_", "-") in names]
    python = sys.version.split()[0]
    others = [("python", python, f"pkg:generic/python@{python}")]
    others += [(name, version, f"pkg:deb/debian/{name}@{version}") for name, version in sorted(libraries.items())]
    kept += [
        {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        for name, version, purl in others
    ]
    refs = {each["bom-ref"] for each in kept}
    graph = [
        {**each, "dependsOn": [ref for ref in each.get("dependsOn", ()) if ref in refs]}
        for each in made["dependencies"]
    ]
    return {**made, "components": kept, "dependencies": [each for each in graph if each["ref"] in refs]}


def main(bundle: Path, modules: Path, licences: Path, sbom: Path) -> None:
    """Write both files."""
    parts = bundled(modules.read_text(encoding="utf-8").split(), bundle)
    licences.write_text(together(parts, system_texts()), encoding="utf-8")
    made = bill(parts, system_libraries(bundle))
    sbom.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(made['components'])} components, {licences.stat().st_size:,} bytes of licences")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
