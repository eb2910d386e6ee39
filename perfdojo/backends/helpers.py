"""C functions of single operations that C has no operator for; emitted only when called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perfdojo.compiler.dtypes import DTYPES, DType
from perfdojo.compiler.elementary.c_helpers import HELPERS
from perfdojo.compiler.emitted import C_TYPES

_OTHERS = {
    "pd_as_written": """\
/* keeps a loop as it is written: gcc 12 brings loads that depend on conditions into lanes wrongly */
static inline void pd_as_written(void) { __asm__ volatile(""); }""",
    "pd_odd_f64": """\
/* to f32; what lies between two goes to the odd one, so that rounding it again is like rounding once */
static inline float pd_odd_f64(double a) {
  const float near = (float)a;
  const int32_t bits = pd_f32_bits(near);
  if ((double)near == a || (bits & 1) != 0 || a != a) {
    return near;
  }
  return pd_bits_f32(fabs((double)near) > fabs(a) ? bits - 1 : bits + 1);
}""",
    "pd_odd_sum": """\
/* a + b in f64, to the odd neighbour when it is not exact (Boldo and Melquiond 2008) */
static inline double pd_odd_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  union { double f; int64_t i; } u = {sum};
  if (error != 0.0 && isfinite(sum) && (u.i & 1) == 0) {
    u.i += (error > 0.0) == (sum > 0.0) ? 1 : -1;
  }
  return u.f;
}""",
}


def helper_text(names: Iterable[str]) -> str:
    """Return the definitions of the helpers called `names` and of those that they call, callees first."""
    done: dict[str, str] = {}
    for name in sorted(names):
        _define(name, done)
    return "\n\n".join(done.values())


def _define(name: str, done: dict[str, str]) -> None:
    if name in done:
        return
    text = _text(name)
    for callee in sorted(set(re.findall(r"\bpd_\w+", text)) - {name}):
        _define(callee, done)
    done[name] = text


def _text(name: str) -> str:
    if name in _OTHERS:
        return _OTHERS[name]
    if name in HELPERS:
        return HELPERS[name]
    _, op, *types = name.split("_")
    dtypes = [DTYPES[t] for t in types]
    if op == "cast":
        return _cast(name, *dtypes)
    if op in ("load", "store", "round") and dtypes[0].bits == 16 and dtypes[0].is_float:
        return _SIXTEEN[op, types[0]]
    return _integer(name, op, dtypes[0]) if dtypes[0].is_integer else _float(name, op, dtypes[0])


def _function(name: str, type: str, parameters: str, *lines: str) -> str:
    listed = ", ".join(f"{type} {p}" for p in parameters.split())
    return "\n".join([f"static inline {type} {name}({listed}) {{", *(f"  {line}" for line in lines), "}"])


def _integer(name: str, op: str, dtype: DType) -> str:
    type = C_TYPES[dtype.name]
    wide = "uint64_t" if dtype.bits == 64 else "uint32_t"
    signs = {"add": "+", "sub": "-", "mul": "*"}
    if op in signs:
        return _function(name, type, "a b", f"return ({type})(({wide})a {signs[op]} ({wide})b);")
    if op == "neg":
        return _function(name, type, "a", f"return ({type})(0 - ({wide})a);")
    if op == "abs" and dtype.kind == "uint":
        return _function(name, type, "a", "return a;")
    if op == "abs":
        return _function(name, type, "a", f"return a < 0 ? ({type})(0 - ({wide})a) : a;")
    if op in ("min", "max"):
        return _function(name, type, "a b", f"return {'b < a' if op == 'min' else 'a < b'} ? b : a;")
    if op == "floordiv":
        return (
            _function(
                name,
                type,
                "a b",
                f"if (b == 0 || b == ({type})-1) {{",
                f"  return b == 0 ? 0 : ({type})(0 - ({wide})a);",
                "}",
                f"return ({type})(a / b - (a % b != 0 && (a < 0) != (b < 0)));",
            )
            if dtype.kind == "int"
            else _function(name, type, "a b", f"return b == 0 ? 0 : ({type})(a / b);")
        )
    assert op == "mod", name
    if dtype.kind == "uint":
        return _function(name, type, "a b", f"return b == 0 ? 0 : ({type})(a % b);")
    return _function(
        name,
        type,
        "a b",
        f"if (b == 0 || b == ({type})-1) {{",
        "  return 0;",
        "}",
        f"const {type} r = ({type})(a % b);",
        f"return r != 0 && (r < 0) != (b < 0) ? ({type})(r + b) : r;",
    )


_LIBRARY = {"abs": "fabs", "round": "rint"}


def _float(name: str, op: str, dtype: DType) -> str:
    type = C_TYPES[dtype.name]
    suffix = "f" if dtype.bits == 32 else ""
    one = "1.0f" if suffix else "1.0"
    if op in ("min", "max"):
        # two selects, for gcc turns one with || into a branch and then vectorises nothing around it
        chosen = f"const {type} r = {'b < a' if op == 'min' else 'a < b'} ? b : a;"
        return _function(name, type, "a b", chosen, "return b != b ? b : r;")
    if op in ("minnum", "maxnum"):
        zero = "signbit(b)" if op == "minnum" else "signbit(a)"
        later = f"a != a || {'b < a' if op == 'minnum' else 'a < b'} || (a == b && {zero})"
        return _function(name, type, "a b", f"return {later} ? b : a;")
    if op == "rsqrt":
        return _function(name, type, "a", f"return {one} / sqrt{suffix}(a);")
    if op == "sigmoid":
        return _function(
            name, type, "a", "const double z = exp(-fabs(a));", "return (a < 0.0 ? z : 1.0) / (1.0 + z);"
        )
    if op == "fma" and dtype.bits == 16:
        # a product of two is exact in f64; the sum rounded to odd keeps what the last rounding needs
        return (
            f"static inline float {name}(float a, float b, float c) {{\n"
            f"  return pd_cast_f64_{dtype}(pd_odd_sum((double)a * b, c));\n}}"
        )
    if op == "fma":
        return _function(name, type, "a b c", f"return fma{suffix}(a, b, c);")
    if op == "mad":
        return "\n".join(
            [
                f"#ifdef FP_FAST_FMA{suffix.upper()}",
                _function(name, type, "a b c", f"return fma{suffix}(a, b, c);"),
                "#else",
                _function(name, type, "a b c", "return a * b + c;"),
                "#endif",
            ]
        )
    function = _LIBRARY.get(op, op) + suffix
    return _function(
        name, type, "a b" if op == "pow" else "a", f"return {function}({'a, b' if op == 'pow' else 'a'});"
    )


def _cast(name: str, source: DType, target: DType) -> str:
    from_type = "float" if source.bits == 16 and source.is_float else C_TYPES[source.name]
    if not target.is_integer:
        return _cast_to_sixteen(name, source, target, from_type)
    type, low, high = C_TYPES[target.name], int(target.smallest), int(target.largest)
    suffix = "f" if from_type == "float" else ""
    return "\n".join(
        [
            f"static inline {type} {name}({from_type} a) {{",
            f"  if (a >= {float(high + 1)!r}{suffix}) {{",
            f"    return {_limit(target, True)};",
            "  }",
            # gcc 12 makes trunc(a) of (double)(int64_t)a under -fno-trapping-math, which may be -0
            f"  if (a > -1.0{suffix} && a < 1.0{suffix}) {{",
            "    return 0;",
            "  }",
            # rounded to float, low - 1 may become low; both are right then
            f"  return a > {float(low - 1)!r}{suffix} ? ({type})a : a != a ? 0 : {_limit(target, False)};",
            "}",
        ]
    )


def _cast_to_sixteen(name: str, source: DType, target: DType, from_type: str) -> str:
    """Return the conversion to f16 or bf16, rounded once: wider types go to f32 by rounding to odd."""
    if from_type == "float":
        body = f"return pd_round_{target}(a);"
    elif source.bits == 64 and source.is_integer:
        # 54 bits with a sticky last one: a double holds them
        body = (
            f"return pd_cast_f64_{target}(a >= -(INT64_C(1) << 53) && a <= INT64_C(1) << 53 ? (double)a"
            " : (double)(a >> 10 | ((a & 1023) != 0)) * 1024.0);"
        )
    elif source.is_integer:
        body = f"return pd_cast_f64_{target}((double)a);"
    else:
        body = f"return pd_round_{target}(pd_odd_f64(a));"
    return "\n".join([f"static inline float {name}({from_type} a) {{", f"  {body}", "}"])


def _limit(dtype: DType, high: bool) -> str:
    if dtype.kind == "uint":
        return "UINT8_MAX" if high else "0"
    return f"INT{dtype.bits}_{'MAX' if high else 'MIN'}"


_SIXTEEN = {
    ("load", "bf16"): """\
static inline float pd_load_bf16(uint16_t a) {
  return pd_bits_f32((int32_t)((uint32_t)a << 16));
}""",
    ("store", "bf16"): """\
static inline uint16_t pd_store_bf16(float a) {
  return (uint16_t)((uint32_t)pd_f32_bits(a) >> 16);
}""",
    ("round", "bf16"): """\
/* to the nearest bf16, ties to even */
static inline float pd_round_bf16(float a) {
  const uint32_t bits = (uint32_t)pd_f32_bits(a);
  return a != a ? a + a : pd_bits_f32((int32_t)((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000));
}""",
    ("load", "f16"): """\
static inline float pd_load_f16(uint16_t a) {
  const uint32_t sign = (uint32_t)(a & 0x8000) << 16;
  const uint32_t rest = (uint32_t)(a & 0x7fff) << 13;
  /* 2^112 moves the exponent from the bias of f16 to that of f32, subnormals included */
  const float wide = pd_bits_f32((int32_t)rest) * 0x1p112f;
  const uint32_t bits = rest >= 0x0f800000 ? rest | 0x7f800000 : (uint32_t)pd_f32_bits(wide);
  return pd_bits_f32((int32_t)(bits | sign));
}""",
    ("store", "f16"): """\
/* the bits of a float that is an f16 */
static inline uint16_t pd_store_f16(float a) {
  const uint32_t bits = (uint32_t)pd_f32_bits(a);
  const uint32_t sign = bits >> 16 & 0x8000;
  if (a != a || fabsf(a) > 65504.0f) {
    return (uint16_t)(sign | (a != a ? 0x7e00 : 0x7c00));
  }
  return (uint16_t)(sign | (uint32_t)pd_f32_bits(fabsf(a) * 0x1p-112f) >> 13);
}""",
    ("round", "f16"): """\
/* to the nearest f16, ties to even */
static inline float pd_round_f16(float a) {
  const float size = fabsf(a);
  if (!(size < 65520.0f)) {
    return a != a ? a + a : copysignf(INFINITY, a);
  }
  /* adding 2^13 units of the last place lets the sum round where an f16 does */
  const uint32_t exponent = (uint32_t)pd_f32_bits(size) & 0x7f800000;
  const float units = pd_bits_f32((int32_t)((exponent > 0x38800000 ? exponent : 0x38800000) + 0x06800000));
  return copysignf((size + units) - units, a);
}""",
}
