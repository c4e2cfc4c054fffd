"""check_level: what each level refuses, and that it lists every offender."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser

from albumen.dialects.errors import ContractError
from albumen.lowering.levels import LEVELS, Level, check_dominance, check_level, matches


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Arith, Builtin, Func, Scf):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


SCALAR = """
func.func @f(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32 loc("model.py":12:1)
  %1 = arith.mulf %0, %a : f32
  func.return %1 : f32
}
"""


def test_patterns() -> None:
    assert matches("hlir.add", ("func.func", "hlir.*"))
    assert matches("kernel.call_matmul", ("kernel.call_*",))
    assert not matches("hlirx.add", ("hlir.*",))
    assert not matches("hlir.add", ("hlir.ad",))


def test_every_illegal_op_is_listed_with_its_place() -> None:
    with pytest.raises(ContractError) as caught:
        check_level(parse(SCALAR), "graph", stage="import")
    assert caught.value.stage == "import"
    assert caught.value.where == "model.py:12"
    lines = caught.value.message.splitlines()
    assert lines[0] == "the module is not at level graph, which does not allow:"
    assert [line.strip() for line in lines[1:]] == ["arith.addf model.py:12", "arith.mulf"]


def test_long_lists_are_cut() -> None:
    body = "\n".join(f"%{i} = arith.addf %a, %a : f32" for i in range(50))
    with pytest.raises(ContractError, match=r"and 30 more$"):
        check_level(parse(f"func.func @f(%a: f32) {{\n{body}\nfunc.return\n}}"), "graph")


def test_what_holds_inside_an_op() -> None:
    text = """
    func.func @f(%n: index) {
      %c = arith.constant 0 : index
      scf.for %i = %c to %n step %n { %x = arith.addi %i, %i : index }
      func.return
    }
    """
    base = ("builtin.module", "func.*", "scf.for")
    check_level(parse(text), Level("test", (*base, "arith.constant"), {"scf.for": ("arith.addi", "scf.yield")}))
    with pytest.raises(ContractError, match=r"arith\.addi"):
        check_level(parse(text), Level("test", (*base, "arith.*"), {"scf.for": ("scf.yield",)}))


def test_dominance() -> None:
    check_dominance(parse(SCALAR))
    nested = """
    func.func @f(%n: index) {
      %c = arith.constant 0 : index
      scf.for %i = %c to %n step %n { %x = arith.addi %i, %late : index }
      %late = arith.constant 1 : index
      func.return
    }
    """
    with pytest.raises(ContractError, match="used before they are defined"):
        check_dominance(parse(nested))


def test_a_value_of_a_region_ends_with_it() -> None:
    text = """
    func.func @f(%n: index) {
      %c = arith.constant 0 : index
      scf.for %i = %c to %n step %n { %x = arith.addi %i, %i : index }
      func.return
    }
    """
    module = parse(text)
    inner = next(op for op in module.walk() if op.name == "arith.addi")
    block = next(op for op in module.walk() if op.name == "scf.for").parent_block()
    assert block is not None and block.last_op is not None
    use = inner.clone()
    use.operands[0] = inner.results[0]
    block.insert_op_before(use, block.last_op)
    with pytest.raises(ContractError, match="used before they are defined"):
        check_dominance(module)


def test_only_the_e_graph_is_exempt_from_dominance() -> None:
    assert [level.name for level in LEVELS.values() if not level.dominance] == ["e-graph"]
