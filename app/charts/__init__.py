"""The live charts. This package is the only door to pyqtgraph, which is told here to use the Qt the window uses."""

import os

os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"
