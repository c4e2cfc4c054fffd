"""Programs with very many inputs, parts or outputs: code nests by their logarithm, and compilers stay quick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from albumen.dialects.dtype import F32, I8
from albumen.dialects.errors import LoweringError
from albumen.dialects.hlir.arranging import ConcatOp
from albumen.dialects.hlir.reduction import MaxOp
from albumen.dialects.hlir.types import axes_attr, tensor_type
from albumen.dialects.host import SourceOp
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.op import Sample, TensorOp
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.support import lower_without_search, program_of
from albumen.tools.text_launcher import TextLauncher

PARTS = 130


def concat_then_max() -> tuple[ModuleOp, list[np.ndarray[Any, Any]]]:
    """The largest of each column of many parts, which are laid one after another."""
    rng = np.random.default_rng(0)
    sample = Sample(tuple(tensor_type([n % 3, 5], F32) for n in range(PARTS)), {"axis": IntAttr(0)})
    module = program_of([(ConcatOp, sample)])
    (concat,) = (op for op in module.walk() if isinstance(op, ConcatOp))
    block = concat.parent_block()
    assert block is not None and block.last_op is not None
    largest = MaxOp.make([concat.result], {"axes": axes_attr([0])})
    block.insert_op_after(largest, concat)
    block.last_op.operands = [largest.result]
    function = block.parent_op()
    assert function is not None
    _retype(function, largest)
    inputs = [rng.standard_normal((n % 3, 5)).astype(np.float32) for n in range(PARTS)]
    return module, inputs


def _retype(function: Operation, result: TensorOp) -> None:
    assert isinstance(function, FuncOp)
    function.update_function_type()
    assert list(function.function_type.outputs) == [result.result_type]


def deepest(text: str) -> int:
    """How many braces stand open at once."""
    depth = most = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        most = max(most, depth)
    return most


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_concatenation_of_many_parts(target: str) -> None:
    module, inputs = concat_then_max()
    lower_without_search(module, target)
    (text,) = (op.text.data for op in module.walk() if isinstance(op, SourceOp))
    assert deepest(text) < 24
    assert text.count("#pragma omp simd") == (2 if target == "c" else 0), "of the loops around the long one"
    (found,) = run_program(module, "main", inputs, None, TextLauncher(module, MemoryCache()))
    np.testing.assert_array_equal(found, np.concatenate(inputs).max(0))


def test_metal_has_few_buffers() -> None:
    module, _ = concat_then_max()
    with pytest.raises(LoweringError, match="87 buffers, Metal has 31"):
        lower_without_search(module, "metal")


def test_hundreds_of_operands() -> None:
    sample = Sample(tuple(tensor_type([3], I8) for _ in range(400)), {"axis": IntAttr(0)})
    module = program_of([(ConcatOp, sample)])
    lower_without_search(module, "cuda")
    inputs = [np.full(3, n % 100, np.int8) for n in range(400)]
    (found,) = run_program(module, "main", inputs, None, TextLauncher(module, MemoryCache()))
    np.testing.assert_array_equal(found, np.concatenate(inputs))
