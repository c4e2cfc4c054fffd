"""The shape of the repository: links, packaging, lazy imports, layers, and who reads the environment."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from albumen.lowering.passes import PASSES

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("dialects", "lowering", "runtime", "tools", "transforms")
HEAVY = ("torch", "xdsl", "egglog", "numpy")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def listed_files(*patterns: str) -> list[str]:
    """Files of the working tree that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


def room_files(suffix: str = "") -> list[str]:
    """What the package consists of: every file of the rooms but the scripts in tools/dev."""
    files = listed_files(*(f"{room}/" for room in ROOMS))
    return [name for name in files if name.endswith(suffix) and not name.startswith("tools/dev/")]


def run_python(code: str) -> Any:
    """What a fresh interpreter prints as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=ROOT / "docs")
    return json.loads(result.stdout)


def test_every_room_is_linked() -> None:
    links = sorted(path.name for path in (ROOT / "src/albumen").iterdir() if path.is_symlink())
    assert links == sorted(ROOMS)
    for room in ROOMS:
        link = ROOT / "src/albumen" / room
        assert os.readlink(link) == f"../../{room}"
        assert link.resolve() == ROOT / room


def test_version_is_stated_once_for_both() -> None:
    import albumen

    assert albumen.__version__ == project()["project"]["version"]


def test_importing_the_facade_is_cheap() -> None:
    code = (
        "import json, sys, time; start = time.perf_counter(); import albumen; "
        f"print(json.dumps([time.perf_counter() - start, sorted(set(sys.modules) & set({HEAVY!r}))]))"
    )
    runs = [run_python(code) for _ in range(3)]
    assert runs[0][1] == []
    assert min(seconds for seconds, _ in runs) <= 0.050


def test_the_runtime_loads_no_compiler() -> None:
    code = "import json, sys, albumen.runtime.program; print(json.dumps(sorted(sys.modules)))"
    assert not {"xdsl", "egglog", "torch"} & set(run_python(code))


def test_type_checker_covers_every_file() -> None:
    include = project()["tool"]["pyright"]["include"]
    covered = [name for name in listed_files("*.py") if any(name == i or name.startswith(f"{i}/") for i in include)]
    assert covered == listed_files("*.py")


def test_only_suites_that_are_programs_are_packages() -> None:
    """pytest imports each other file by its path; a package needs a `__main__` or is imported as one."""
    suites = ["architectures", "cases", "opinfo", "properties"]
    assert listed_files("test/__init__.py", "test/**/__init__.py") == [f"test/{name}/__init__.py" for name in suites]


def test_names_say_what_a_file_is_about() -> None:
    vague = {"utils", "util", "common", "misc", "helpers", "helper"}
    assert [name for name in listed_files("*.py") if Path(name).stem in vague] == []


@pytest.mark.parametrize(("name", "where"), sorted(PASSES.items()))
def test_a_pass_its_file_its_class_and_its_lit_test_have_one_name(name: str, where: tuple[str, str]) -> None:
    """fuse-x is FuseXPass in fuse_x.py, tested by fuse-x.mlir or fuse-x-PART.mlir of its room."""
    module, cls = where
    assert module.rsplit(".", 1)[-1] == name.replace("-", "_")
    assert cls == "".join(word.capitalize() for word in name.split("-")) + "Pass"
    assert listed_files(f"test/filecheck/{module.split('.')[0]}/{name}*.mlir")


@pytest.mark.slow
def test_wheel_holds_every_file(tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    for name in [*room_files(), "pyproject.toml", "README.md", "LICENSE", *listed_files("src/")]:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    for room in ROOMS:
        (copy / "src/albumen" / room).symlink_to(f"../../{room}")
    wheel = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(copy)]
    subprocess.run([sys.executable, "-m", "pip", *wheel], check=True, capture_output=True, text=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == {f"albumen/{name}" for name in room_files()} | {"albumen/__init__.py", "albumen/py.typed"}


def test_layers() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def reads_environment(tree: ast.AST) -> bool:
    names = {"environ", "environb", "getenv", "putenv"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == "os":
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "os" and names & {alias.name for alias in node.names}:
            return True
    return False


def test_only_the_runtime_configuration_reads_the_environment() -> None:
    readers = [name for name in room_files(".py") if reads_environment(ast.parse((ROOT / name).read_text()))]
    assert [name for name in readers if name != "runtime/config.py"] == []


def test_egglog_is_named_only_where_it_is_used() -> None:
    """import-linter does not see a module that is loaded through its file, as the bindings of egglog are."""
    users: list[str] = []
    for name in room_files(".py"):
        tree = ast.parse((ROOT / name).read_text())
        constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        if {"egglog", "egglog.bindings"} & constants:
            users.append(name)
    assert [name for name in users if not name.startswith("transforms/eqsat/")] == []
