"""The list of everything in `hlir`."""

from xdsl.ir import Dialect

from ..op import TensorOp
from .activation import GeluOp, ReluOp, SigmoidOp, SiluOp
from .argmax import ArgmaxOp
from .arithmetic import AbsOp, CeilOp, CosOp, ErfOp, ExpOp, LogOp, NegOp, RsqrtOp, SubOp, TanhOp, TruncDivOp
from .arranging import ConcatOp, PadOp
from .attention import SdpaOp
from .bitwise import BitAndOp, BitOrOp, BitXorOp, ShiftLeftOp, ShiftRightOp
from .comparison import BitNotOp, IsNanOp, LessEqualOp, MinimumOp, NotEqualOp, RemainderOp
from .contraction import ContractOp
from .conversion import BitcastOp, CastOp, SelectOp
from .convolution import ConvOp, MaxPoolOp
from .creation import ConstantOp, IotaOp, LiteralOp, RandomBitsOp
from .elementwise import (
    AddOp,
    DivOp,
    EqualOp,
    Exp2Op,
    FloorDivOp,
    FloorOp,
    FmaOp,
    GcdOp,
    LessThanOp,
    Log2Op,
    MaximumOp,
    ModOp,
    MulOp,
    RecipOp,
    RoundEvenOp,
    SinOp,
    SqrtOp,
    TruncOp,
)
from .indexing import CheckIndexOp, GatherOp, ScatterOp
from .linear import LinearOp
from .loop import LoopOp, YieldOp
from .merging import MergeRunsOp
from .normalization import BatchNormOp, LayerNormOp, RmsNormOp
from .ordering import ScanOp, SortOp
from .polynomials import HermiteEOp, HermiteOp, LaguerreOp, LegendreOp
from .reduction import MaxOp, MinOp, ProdOp, SumOp
from .softmax import LogSoftmaxOp, SoftmaxOp
from .transcendental import Atan2Op, ErfcOp, LgammaOp, PowOp
from .types import MapAttr, ScalarAttr, ShapeAttr, TensorType
from .view import ViewOp

PRIMITIVES: tuple[type[TensorOp], ...] = (
    *(Log2Op, Exp2Op, SinOp, SqrtOp, RecipOp, FloorOp, RoundEvenOp, TruncOp),
    *(AddOp, MulOp, DivOp, ModOp, FloorDivOp, MaximumOp, LessThanOp, EqualOp, FmaOp, SelectOp, CastOp, BitcastOp),
    CheckIndexOp,
    *(BitAndOp, BitOrOp, BitXorOp, ShiftLeftOp, ShiftRightOp, GcdOp),
    *(PowOp, Atan2Op, ErfcOp, LgammaOp, HermiteOp, HermiteEOp, LaguerreOp, LegendreOp),
    *(SumOp, ProdOp, MaxOp, MinOp, ViewOp, ContractOp),
    *(ConstantOp, LiteralOp, IotaOp, RandomBitsOp, GatherOp, ScatterOp, PadOp, ConcatOp, ScanOp, SortOp, MergeRunsOp),
)
COMPOSITES: tuple[type[TensorOp], ...] = (
    *(
        NegOp,
        SubOp,
        AbsOp,
        ExpOp,
        LogOp,
        CosOp,
        TanhOp,
        ErfOp,
        SigmoidOp,
        SiluOp,
        ReluOp,
        RsqrtOp,
        CeilOp,
        TruncDivOp,
        GeluOp,
    ),
    *(BitNotOp, NotEqualOp, LessEqualOp, IsNanOp, MinimumOp, RemainderOp),
    *(SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, BatchNormOp, LinearOp, SdpaOp, ConvOp, MaxPoolOp, ArgmaxOp),
)

HLIR = Dialect("hlir", [*PRIMITIVES, *COMPOSITES, LoopOp, YieldOp], [TensorType, ShapeAttr, MapAttr, ScalarAttr])
