"""How C spells types, functions and casts: the tables of the C target."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

INTEGERS = ("i8", "i16", "i32", "i64")
NARROW = ("bf16", "f16", "f8E4M3FN", "f8E5M2")
"""Floats that only memory holds: C loads and converts them, arithmetic is in f32."""

TYPES: Mapping[str, str] = MappingProxyType(
    {
        "f32": "float",
        "f64": "double",
        "i1": "bool",
        "index": "int64_t",
        **{name: f"alb_{name}" for name in NARROW},
        **{name: f"int{name[1:]}_t" for name in INTEGERS},
        **{f"u{name}": f"uint{name[1:]}_t" for name in INTEGERS},
    }
)

PRELUDE = "exp exp2 log log2 log10 log1p expm1 erf tanh sin cos tan sinh cosh".split()  # noqa: SIM905
"""Functions of f32 that c_math.h has; f64 takes libm's."""
LIBM = "acos acosh asin asinh atan atanh cbrt ceil floor sqrt trunc round".split()  # noqa: SIM905


POLYNOMIALS = ("hermite", "hermite_e", "laguerre", "legendre")


def _float_functions() -> dict[str, str]:
    table: dict[str, str] = {}
    for name in PRELUDE:
        table[f"{name}.f32"], table[f"{name}.f64"] = f"alb_{name}_f32({{0}})", f"{name}({{0}})"
    for name in LIBM:
        table[f"{name}.f32"], table[f"{name}.f64"] = f"{name}f({{0}})", f"{name}({{0}})"
    pairs = {
        "roundeven": ("rintf({0})", "rint({0})"),
        "rsqrt": ("(1.0f / sqrtf({0}))", "(1.0 / sqrt({0}))"),
        "absf": ("fabsf({0})", "fabs({0})"),
        "pow": ("alb_pow_f32({0}, {1})", "pow({0}, {1})"),
        "erfc": ("erfcf({0})", "erfc({0})"),
        "lgamma": ("alb_lgamma_f32({0})", "alb_lgamma_f64({0})"),
        **{n: (f"alb_{n}_f32({{0}}, {{1}})", f"alb_{n}_f64({{0}}, {{1}})") for n in POLYNOMIALS},
        "powf": ("alb_pow_f32({0}, {1})", "pow({0}, {1})"),
        "atan2": ("atan2f({0}, {1})", "atan2({0}, {1})"),
        "copysign": ("copysignf({0}, {1})", "copysign({0}, {1})"),
        "fma": ("fmaf({0}, {1}, {2})", "fma({0}, {1}, {2})"),
        "mod": ("fmodf({0}, {1})", "fmod({0}, {1})"),
        "maxnum": ("fmaxf({0}, {1})", "fmax({0}, {1})"),
        "minnum": ("fminf({0}, {1})", "fmin({0}, {1})"),
        "maximum": ("alb_maximum_f32({0}, {1})", "alb_maximum_f64({0}, {1})"),
        "minimum": ("alb_minimum_f32({0}, {1})", "alb_minimum_f64({0}, {1})"),
    }
    for name, (single, double) in pairs.items():
        table[f"{name}.f32"], table[f"{name}.f64"] = single, double
    return table


def _casts() -> dict[str, str]:
    """Conversions that involve a narrow float; all others are C casts."""
    table: dict[str, str] = {}
    for name in NARROW:
        table[f"cast.{name}.f32"] = f"alb_{name}_to_f32({{0}})"
        table[f"cast.f32.{name}"] = f"alb_{name}_from_f32({{0}})"
        for wide in ("f64", *INTEGERS):
            table[f"cast.{name}.{wide}"] = f"({TYPES[wide]})alb_{name}_to_f32({{0}})"
            table[f"cast.{wide}.{name}"] = f"alb_{name}_from_f32((float){{0}})"
        for other in NARROW:
            if other != name:
                table[f"cast.{name}.{other}"] = f"alb_{other}_from_f32(alb_{name}_to_f32({{0}}))"
    return table


def _bitcasts() -> dict[str, str]:
    table = {
        "bits.f32.i32": "alb_bits_f32({0})",
        "bits.i32.f32": "alb_float_i32({0})",
        "bits.f64.i64": "alb_bits_f64({0})",
        "bits.i64.f64": "alb_float_i64({0})",
    }
    for width, names in (("16", ("bf16", "f16")), ("8", ("f8E4M3FN", "f8E5M2"))):
        for name in names:
            table[f"bits.{name}.i{width}"] = f"(int{width}_t){{0}}"
            table[f"bits.i{width}.{name}"] = f"(alb_{name}){{0}}"
            table |= {f"bits.{name}.{other}": "{0}" for other in names if other != name}
    return table


FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **_float_functions(),
        **_casts(),
        **_bitcasts(),
        "gcd.i64": "alb_gcd({0}, {1})",
        "pow.i64": "alb_pow_i64({0}, {1})",
        "floordiv": "alb_floordiv({0}, {1})",
        "ceildiv": "alb_ceildiv({0}, {1})",
        **{f"minui.{t}": f"((u{TYPES[t]}){{0}} < (u{TYPES[t]}){{1}} ? {{0}} : {{1}})" for t in INTEGERS},
        **{f"maxui.{t}": f"((u{TYPES[t]}){{0}} > (u{TYPES[t]}){{1}} ? {{0}} : {{1}})" for t in INTEGERS},
        **{f"div.{t}": f"({TYPES[t]})alb_div_i64({{0}}, {{1}})" for t in INTEGERS},
        **{f"rem.{t}": f"({TYPES[t]})alb_rem_i64({{0}}, {{1}})" for t in INTEGERS},
        **{f"divui.{t}": f"({TYPES[t]})alb_div_u64((u{TYPES[t]}){{0}}, (u{TYPES[t]}){{1}})" for t in INTEGERS},
        **{f"remui.{t}": f"({TYPES[t]})alb_rem_u64((u{TYPES[t]}){{0}}, (u{TYPES[t]}){{1}})" for t in INTEGERS},
        "absi": "({0} < 0 ? -{0} : {0})",
    }
)

LITERALS: Mapping[str, str] = MappingProxyType({"nan.f64": "(double)NAN", "inf.f64": "(double)INFINITY"})
