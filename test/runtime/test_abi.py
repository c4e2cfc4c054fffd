"""The C header and the ctypes structure agree, byte for byte."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from albumen.runtime import abi


@pytest.mark.parametrize(("compiler", "suffix"), [("cc", "c"), ("c++", "cpp")])
def test_layout_and_codes(tmp_path: Path, compiler: str, suffix: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    lines = [f'printf("%zu\\n", offsetof(albumen_host, {field.name}));' for field in abi.FIELDS]
    lines += [f'printf("%d\\n", ALBUMEN_{name});' for name, _ in abi.STATUS.values()]
    body = "\n".join(['printf("%zu\\n", sizeof(albumen_host));', *lines])
    text = f"{abi.header()}#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0; }}\n"
    source, program = tmp_path / f"a.{suffix}", tmp_path / "a"
    source.write_text(text)
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True, timeout=60)
    printed = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout.split()
    offsets = [getattr(abi.Host, field.name).offset for field in abi.FIELDS]
    assert list(map(int, printed)) == [ctypes.sizeof(abi.Host), *offsets, *abi.STATUS]
