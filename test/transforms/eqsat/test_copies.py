"""Copies of modules with e-graphs stand alone: nothing in them is a user of a value of the original."""

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.equivalence import Equivalence
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.sym.dialect import SYM
from albumen.transforms.eqsat.check import check_members, plain_module
from albumen.transforms.eqsat.egraph_ops import copy_of

# The class %a is used by %y before it is defined.
TEXT = """
func.func @main(%x: !hlir.tensor<[3], f32>) -> !hlir.tensor<[3], f32> {
  %r = equivalence.graph -> !hlir.tensor<[3], f32> {
    %y = hlir.neg %a : !hlir.tensor<[3], f32>
    %a = equivalence.class %p, %q : !hlir.tensor<[3], f32>
    %p = hlir.add %x, %x : !hlir.tensor<[3], f32>
    %q = hlir.mul %x, %two : !hlir.tensor<[3], f32>
    %two = hlir.constant 2.0 : !hlir.tensor<[3], f32>
    equivalence.yield %y : !hlir.tensor<[3], f32>
  }
  func.return %r : !hlir.tensor<[3], f32>
}
"""


def parse() -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, Equivalence, HLIR, SYM):
        ctx.load_dialect(dialect)
    return Parser(ctx, TEXT).parse_module()


def assert_stands_alone(module: ModuleOp) -> None:
    inside = set(module.walk())
    for op in inside:
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
            assert all(use.operation in inside for use in value.uses), f"{value} is used outside its module"


def test_a_copy_uses_its_own_values() -> None:
    module = parse()
    copy = copy_of(module)
    assert_stands_alone(module)
    assert_stands_alone(copy)
    assert str(copy) == str(module)


def test_checking_leaves_no_users_behind() -> None:
    module = parse()
    plain = plain_module(module)
    checked, mismatches = check_members(module, "main", [np.array([1.0, -2.0, 0.5], np.float32)])
    assert checked == 1 and not mismatches
    assert_stands_alone(module)
    assert_stands_alone(plain)
