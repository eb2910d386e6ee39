"""What emitted C code needs beside the compiler: Snitch has no divider and no C library."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from perfdojo.backends.emission import environment
from perfdojo.backends.helpers import helper_text
from perfdojo.backends.snitch.quotient_steps import FUNCTIONS as QUOTIENTS
from perfdojo.backends.snitch.quotient_steps import f32_word
from perfdojo.backends.snitch.quotients import assembly as quotient_assembly
from perfdojo.compiler.elementary import coefficients
from perfdojo.compiler.elementary.c_helpers import HELPERS
from perfdojo.compiler.emitted import MARKER

HEADER = "snitch_runtime.h"
SOURCE = "snitch_runtime.c"
ARRAYS = {f"snitch_{name}_f32_array": f"snitch_{name}.S" for name in ("exp", *QUOTIENTS)}
"""Functions of arrays, and the file that has their assembly."""

_USED = re.compile(r"\b(INFINITY|NAN|isfinite|isnan|signbit|FP_FAST_FMAF?|(fabs|fma|copysign)f?)\b")
_INVERSE_ROOTS = {"1.0f / sqrtf(a)": "snitch_rsqrtf(a)", "1.0 / sqrt(a)": "snitch_rsqrt(a)"}
_DIVIDER = frozenset(("__divsf3", "__divdf3", "sqrt", "sqrtf", "snitch_rsqrt", "snitch_rsqrtf"))
"""Functions of which a divider makes an instruction."""
_ROOT = re.compile(r"\bsqrtf?\(")
_NUMBER = re.compile(r"(static inline (\w+) pd_(min|max)num_f(?:32|64)\(.*?\) \{)\n.*?\n\}", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FUNCTION = re.compile(r"^(static )?(?:(?:inline|PD_COLD) )*[a-z]\w* \*?(\w+)\([^{};]*\) \{$", re.MULTILINE)
_TABLE = re.compile(r"^static const \w+ (\w+)\[", re.MULTILINE)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True, slots=True)
class _Item:
    """A function or table: its C text, prototype ("" for a table), and the others that it names."""

    name: str
    text: str
    prototype: str
    static: bool
    names: frozenset[str]

    @property
    def public(self) -> bool:
        """Whether C code may call it: what is static and public is one of the header's functions."""
        return bool(self.prototype) and (not self.static or self.name.startswith("snitch_"))


def runtime_files(source: str, divides: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the files, (name, text), that C source needs: none where it uses neither.

    Args:
        divides: the FPU divides and takes roots.
    """
    called = functions_in(source)
    if any(f"snitch_{name}_f32_array" in called for name in QUOTIENTS):
        called |= {"__divsf3"}  # of what does not fill the blocks
    called -= _DIVIDER if divides else frozenset()
    divides = divides and bool(_ROOT.search(source))
    if not called and not divides and not _USED.search(source):
        return ()
    header = environment("snitch").get_template(f"{HEADER}.j2")
    prototypes = [_items()[name].prototype for name in _needed(called) if not _items()[name].static]
    inlined = [_items()[name].text for name in _inlined(called)]
    values = {"prototypes": prototypes, "inlined": inlined, "divides": divides}
    written = (HEADER, header.render(marker=MARKER, file=HEADER, **values))
    assembly = [(file, _assembly(file)) for name, file in ARRAYS.items() if name in called]
    return (written, *([(SOURCE, runtime(called))] if called else []), *assembly)


def helpers_for_snitch(helpers: str, divides: bool = False) -> str:
    """Return the text of helpers with what is faster here: same bits.

    Inverse roots of the runtime take two thirds of the time. Minimum and maximum of numbers are one
    instruction, which gcc has no way to write but this.
    """
    for quotient, call in ({} if divides else _INVERSE_ROOTS).items():
        helpers = helpers.replace(quotient, call)
    return _NUMBER.sub(_instruction, helpers)


def _instruction(found: re.Match[str]) -> str:
    head, type, which = found.groups()
    code = f"f{which}.{'s' if type == 'float' else 'd'} %0, %1, %2"
    return f'{head}\n  {type} r;\n  __asm__("{code}" : "=f"(r) : "f"(a), "f"(b));\n  return r;\n}}'


def functions_in(source: str) -> frozenset[str]:
    """Return the runtime functions that C source may call, those that gcc calls for an operator included.

    A division counts for each of the types float and double that the source mentions: too many functions
    are no harm, for the linker drops what nothing calls.
    """
    code = _COMMENT.sub(" ", source)
    called = {name for name in _NAME.findall(code) if name in public_names()}
    if re.search(r"/(?![/*])", code):
        called |= {n for n, type in (("__divsf3", "float"), ("__divdf3", "double")) if type in code}
    return frozenset(called)


def public_names() -> frozenset[str]:
    """Return the names of the functions that `runtime` has."""
    return frozenset(name for name, item in _items().items() if item.public)


def runtime(names: Iterable[str]) -> str:
    """Return the text of `snitch_runtime.c` with the functions called `names` and what they call.

    Those that its header has are not there again.

    Raises:
        KeyError: no function is called so.
    """
    names = tuple(names)
    inlined = _inlined(names)
    items = [_items()[name] for name in _needed(names) if name not in inlined]
    helpers = {name for item in items for name in _NAME.findall(item.text) if name in HELPERS}
    texts = [helper_text(helpers)] if helpers else []
    return (
        environment("snitch")
        .get_template(f"{SOURCE}.j2")
        .render(
            marker=MARKER, file=SOURCE, header=HEADER, text="\n\n".join([*texts, *(i.text for i in items)])
        )
    )


def _assembly(file: str) -> str:
    """Return the assembly of a function of arrays: its constants are those of the scalar function."""
    name = file.removeprefix("snitch_").removesuffix(".S")
    if name in QUOTIENTS:
        return quotient_assembly(name)
    c = coefficients
    # 90, not EXP_HIGH: rounded it is 65, which tells a NaN from what is only large.
    first = {"high": 90.0, "low": c.EXP_LOW, "scale": c.LOG2_E / 2, "magic": c.ROUND + c.BIAS}
    rest = {"2 log 2": 2 * c.LN_2, "its rest": 2 * c.LN_2_REST}
    terms = {f"r^{k}": value for k, value in enumerate(c.EXP) if k > 0}
    constants = [(name, f32_word(value)) for name, value in (first | rest | terms).items()]
    text = environment("snitch").get_template(f"{file}.j2")
    t_of_65 = f32_word(c.ROUND + c.BIAS + 65)
    return text.render(marker=MARKER, file=file, constants=constants, t_of_65=t_of_65)


def _needed(names: Iterable[str], static: bool = False) -> tuple[str, ...]:
    """Return the names of all functions and tables that `names` need, callees first.

    Args:
        static: what functions that are not static need is left out.
    """
    seen: set[str] = set()
    order: list[str] = []

    def visit(name: str) -> None:
        seen.add(name)
        for callee in sorted(_items()[name].names):
            if callee not in seen and not (static and not _items()[name].static):
                visit(callee)
        order.append(name)

    for name in sorted(names):
        if name not in seen:
            visit(name)
    return tuple(order)


def _inlined(names: Iterable[str]) -> tuple[str, ...]:
    """Return the functions that the header has the text of, callees first."""
    wanted = _needed((n for n in names if _items()[n].static), static=True)
    return tuple(n for n in wanted if _items()[n].static)


@cache
def _items() -> dict[str, _Item]:
    """Return all functions and tables by name: in the files they are apart by an empty line."""
    folder = files("perfdojo") / "templates/snitch/runtime"
    texts = [f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.endswith(".c")]
    found: dict[str, tuple[str, str, bool]] = {}
    for text in "\n\n".join(t.partition("\n\n")[2].strip("\n") for t in sorted(texts)).split("\n\n"):
        function, table = _FUNCTION.search(text), _TABLE.search(text)
        if function is not None:
            found[function[2]] = text, function[0].removesuffix(" {"), bool(function[1])
        else:
            assert table is not None, text
            found[table[1]] = text, "", True
    return {
        name: _Item(
            name,
            text,
            prototype,
            static,
            frozenset(_NAME.findall(_COMMENT.sub(" ", text))) & found.keys() - {name},
        )
        for name, (text, prototype, static) in found.items()
    }
