"""simt.id: where a thread stands in its block and in the grid."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.str_enum import StrEnum


class Id(StrEnum):
    """Coordinates: `lane` and `warp` number the 32-thread groups of a block by the flattened thread index."""

    BlockX = "block.x"
    BlockY = "block.y"
    BlockZ = "block.z"
    ThreadX = "thread.x"
    ThreadY = "thread.y"
    ThreadZ = "thread.z"
    GridX = "grid.x"
    GridY = "grid.y"
    GridZ = "grid.z"
    Lane = "lane"
    Warp = "warp"


@irdl_attr_definition
class IdAttr(EnumAttribute[Id], SpacedOpaqueSyntaxAttribute):
    """`#simt<id block.x>`."""

    name = "simt.id_kind"


@irdl_op_definition
class IdOp(IRDLOperation):
    """`%i = simt.id block.x : i32`: block.* index of the block, thread.* index in the block, grid.* number of blocks.

    `lane` is the thread's place in its warp (0 to 31), `warp` the warp's number in the block; both use the flattened
    index thread.x + dim.x * (thread.y + dim.y * thread.z).
    """

    name = "simt.id"
    kind = prop_def(IdAttr)
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, kind: Id):
        super().__init__(properties={"kind": IdAttr(kind)}, result_types=[i32])

    @classmethod
    def parse(cls, parser: Parser) -> IdOp:
        kind = parser.parse_str_enum(Id)
        parser.parse_punctuation(":")
        parser.parse_keyword("i32")
        return cls(kind)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} : i32")
