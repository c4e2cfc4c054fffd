"""Primitive bitwise ops on integers and booleans."""

from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition

from ..dtype import F32, INTEGERS
from ..op import Array
from .pointwise import BITS, Binary, samples


@irdl_op_definition
class BitAndOp(Binary):
    """a & b; logical and on i1."""

    name = "hlir.bit_and"
    SPELLING: ClassVar = "bit_and"
    DOMAIN: ClassVar = BITS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(BITS, 2, F32)

    def function(self, *args: Array) -> Array:
        return np.bitwise_and(args[0], args[1])


@irdl_op_definition
class BitOrOp(Binary):
    """a | b; logical or on i1."""

    name = "hlir.bit_or"
    SPELLING: ClassVar = "bit_or"
    DOMAIN: ClassVar = BITS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(BITS, 2, F32)

    def function(self, *args: Array) -> Array:
        return np.bitwise_or(args[0], args[1])


@irdl_op_definition
class BitXorOp(Binary):
    """a ^ b; logical exclusive or on i1."""

    name = "hlir.bit_xor"
    SPELLING: ClassVar = "bit_xor"
    DOMAIN: ClassVar = BITS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(BITS, 2, F32)

    def function(self, *args: Array) -> Array:
        return np.bitwise_xor(args[0], args[1])


@irdl_op_definition
class ShiftLeftOp(Binary):
    """a << b. A count outside [0, width) has no defined result."""

    name = "hlir.shift_left"
    SPELLING: ClassVar = "shift_left"
    DOMAIN: ClassVar = INTEGERS
    SAMPLES: ClassVar = samples(INTEGERS, 2, F32, 0.0, 7.0)

    def function(self, *args: Array) -> Array:
        return np.left_shift(args[0], args[1])


@irdl_op_definition
class ShiftRightOp(Binary):
    """a >> b: arithmetic on signed, logical on unsigned integers. A count outside [0, width) has no defined result."""

    name = "hlir.shift_right"
    SPELLING: ClassVar = "shift_right"
    DOMAIN: ClassVar = INTEGERS
    SAMPLES: ClassVar = samples(INTEGERS, 2, F32, 0.0, 7.0)

    def function(self, *args: Array) -> Array:
        return np.right_shift(args[0], args[1])
