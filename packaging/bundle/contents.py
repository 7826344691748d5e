"""What goes into the frozen program, what stays out, and what it takes from the system. Lists only: the spec builds by
them, the check of the packages and the tests hold them to what was built.
"""

from __future__ import annotations

import re

EXCLUDED_MODULES = (
    # None of these is imported while Headstart runs: the frozen program's own smoke test would miss it.
    "tkinter",
    "IPython",
    "matplotlib",
    "scipy",
    "pandas",
    "PIL",
    "networkx",
    "tensorboard",
    "torch.utils.tensorboard",
    "typer",
    "rich",
    "shellingham",
    "mcp.cli",
    "hf_xet",
    "setuptools",
    "pip",
    "pytest",
    "hypothesis",
    "chardet",
    "curses",
    "readline",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtDesigner",
    "PySide6.QtHelp",
    "PySide6.QtSql",
    "PySide6.QtTest",
    "PySide6.QtOpenGL",  # entry.py has an empty one instead
    "pyqtgraph.examples",
    "pyqtgraph.opengl",
    "pyqtgraph.jupyter",
)

DROPPED = (
    r"^torch/test/",
    r"^torch/bin/(?!torch_shm_manager)",
    r"^torch/(include|share)/",
    r"^torch/fx/passes/tests/",
    r"^functorch/.*\.(cpp|h)$",
    r"^torch/testing/_internal/(opinfo/|generated/|jit_|hypothesis_|common_(?!dtype))",  # the rest is imported by torch
    r"^torch/lib/lib(torchbind_test|jitbackend_test|backend_with_compiler|aoti_custom_ops)",
    r"\.(a|lib|pdb)$",
    r"\.dist-info/(direct_url\.json|REQUESTED|INSTALLER)$",
    r"^torch-[^/]*\.dist-info/RECORD$",  # a megabyte and a half; top_level.txt says what the package is called
    r"^pyqtgraph/icons/peegee/",  # the icon of pyqtgraph's own windows
    r"^libcudart\.so",
    r"^PySide6/Qt/plugins/(egldeviceintegrations|generic|networkinformation|tls|qmltooling|platformthemes/libqgtk3)",
    r"^PySide6/Qt/plugins/platforms/lib(qeglfs|qlinuxfb|qminimalegl|qvkkhrdisplay|qvnc)",
    r"^PySide6/Qt/plugins/imageformats/lib(qtga|qtiff|qwbmp|qicns|qwebp|qpdf)",
    r"^(PySide6/Qt/lib/)?libQt6(EglF[sS]|Pdf|Qml|Quick|VirtualKeyboard)",
    r"^PySide6/Qt/translations/(?!qtbase_de)",
    r"^(PySide6/Qt/lib/)?libQt6Test|^PySide6/Qt(Test|OpenGL)\.",
    r"^PySide6/Qt/qml/",
)
"""Files that PyInstaller collects and nothing needs, by their path inside the bundle."""

SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/")

KEPT_FROM_SYSTEM = (
    r"^libxcb-(cursor|glx|icccm|image|keysyms|randr|render|render-util|shape|shm|sync|util|xfixes|xinerama|xkb)\.so",
    r"^libxkbcommon(-x11)?\.so",
    r"^lib(ssl|crypto|ffi|sqlite3|bz2|lzma|z|expat|uuid|python3\.\d+)\.so",
)
"""Libraries of the build machine that go along: those of Qt's X11 part that many systems lack, and what Python's own
modules were built with. All others (C++, glib, Mesa, X11, fonts) have to be the system's own: older ones in the bundle
would be loaded in the place of newer ones that the system's drivers need."""

ON_THE_BUILD_MACHINE = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What has to be there to be bundled, and the Debian packages that have it: PyInstaller only warns where one lacks."""

SYSTEM_LIBRARIES: dict[str, tuple[str, str]] = {
    "libc.so.6": ("libc6", "glibc"),
    "libstdc++.so.6": ("libstdc++6", "libstdc++"),
    "libgcc_s.so.1": ("libgcc-s1", "libgcc"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libgssapi_krb5.so.2": ("libgssapi-krb5-2", "krb5-libs"),
    "libbrotlidec.so.1": ("libbrotli1", "libbrotli"),
    "libbrotlicommon.so.1": ("libbrotli1", "libbrotli"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl"),
}
"""What the bundle needs and does not hold: the library, and the packages of Debian and of Fedora that have it. The
packages depend on exactly these."""

PARTS_OF_C = (
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libutil.so.1",
    "ld-linux-x86-64.so.2",
)
"""Come with libc.so.6."""

FORBIDDEN = (
    r"(^|/)libcud(a|art|nn)",
    r"(^|/)nvidia(/|_)",
    r"(^|/)triton/",
    r"(^|/)torch/(test|include)/",
    r"(^|/)(pip|setuptools|pytest|hypothesis|mypy)/",
    r"(^|/)tests?/.*test_.*\.py$",
    r"\.(a|lib|pdb)$",
    r"(^|/)__pycache__/",
    r"(^|/)libstdc\+\+\.so",
)
"""What no package may hold, whatever a hook or a new version brings."""

MOST_GLIBC = (2, 36)
"""The newest version of glibc that may be needed: that of Debian 12. Built on Ubuntu 22.04 it is 2.35."""

MOST_MB = {"on disk": 720, "deb": 240, "model": 100}
"""Sizes that a package may have, in millions of bytes: the program unpacked, its .deb, the .deb with the model."""


def stays(name: str, source: str) -> bool:
    """Whether a file with this path in the bundle goes along; `source` is where it lies on the build machine."""
    name = name.replace("\\", "/")
    if any(re.search(pattern, name) for pattern in DROPPED):
        return False
    is_system = source.startswith(SYSTEM_FOLDERS) and ".so" in name
    return not is_system or any(re.search(pattern, name.rpartition("/")[2]) for pattern in KEPT_FROM_SYSTEM)


def forbidden(names: list[str]) -> list[str]:
    """Those of the paths in a bundle that may not be in it."""
    return [name for name in names if any(re.search(pattern, name) for pattern in FORBIDDEN)]


def packages(family: str) -> list[str]:
    """The packages that the program depends on, for "deb" or "rpm"."""
    return sorted({names[family == "rpm"] for names in SYSTEM_LIBRARIES.values()})
