"""How lit runs this folder: `%opt`, `%albumen` and `%filecheck` in process, everything else through lit's shell."""

# lit defines `config` for this file.
# pyright: basic, reportUndefinedVariable=false

import importlib.util
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "src")]

from inprocess import InProcessTest  # noqa: E402

config.name = "albumen"
config.test_format = InProcessTest()
config.suffixes = [".mlir"]
config.test_source_root = HERE
config.test_exec_root = os.path.join(ROOT, "build", "filecheck")
config.substitutions += [("%opt", "albumen-opt"), ("%albumen", "albumen"), ("%filecheck", "filecheck")]

# A line that goes to lit's shell finds the tools next to this interpreter.
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
config.environment["PYTHONPATH"] = os.path.join(ROOT, "src")
os.environ.setdefault("ALBUMEN_CACHE_DIR", tempfile.mkdtemp(prefix="albumen-cache-"))
config.environment["ALBUMEN_CACHE_DIR"] = os.environ["ALBUMEN_CACHE_DIR"]
config.available_features.update(name for name in ("torch", "transformers") if importlib.util.find_spec(name))
