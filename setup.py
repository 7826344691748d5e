"""What pyproject.toml cannot say: installed, the repository's three packages lie under one name, `headstart`.

`pip install` puts `headstart/app`, `headstart/engine` and `headstart/resources` beside the files of
packaging/headstart, so that nothing called `app`, `engine` or `resources` lies at the top of site-packages.
"""

from setuptools import find_namespace_packages, setup

TOPS = ("app", "engine", "resources")

found = find_namespace_packages(
    include=[name for top in TOPS for name in (top, f"{top}.*")], exclude=["*.__pycache__", "*.__pycache__.*"]
)
setup(
    packages=["headstart", *(f"headstart.{name}" for name in found)],
    package_dir={"headstart": "packaging/headstart", **{f"headstart.{top}": top for top in TOPS}},
)
