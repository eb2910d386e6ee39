"""A kernel with its arrays as an object that CPython calls straight in C, or through ctypes elsewhere."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from perfdojo.toolchains.arrays import Array
from perfdojo.toolchains.vectorcall import CALL_SYMBOL, TABLE_SYMBOL

if TYPE_CHECKING:
    from perfdojo.loading import Kernel

Results = Array | tuple[Array, ...] | None


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A kernel with its arrays: `run()` works on what is in them then, and returns the `out` arrays."""

    kernel: Kernel
    arrays: tuple[Array, ...]
    _where: tuple[int, ...] = field(repr=False)
    _function: Any = field(repr=False)
    _results: Results = field(repr=False)
    _ranged: bool = field(repr=False)
    _plan: Any = field(repr=False, default=None)

    def __repr__(self) -> str:
        return f"Run({self.kernel})"

    def __call__(self) -> Results:
        """Run it; nothing is checked but the values of arguments that have limits.

        Raises:
            PerfDojoError: an input holds values out of its limits; nothing was run.
            MemoryError: the kernel could not allocate a temporary.
        """
        if self._ranged:
            self.kernel._looked_at(self.arrays)
        if self._function(*self._where):
            raise MemoryError(f"kernel {self.kernel.name} could not allocate a temporary")
        return self._results


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Table(ctypes.Structure):
    """`struct perfdojo_python` of `toolchains/vectorcall.py`."""

    _fields_ = (
        ("plan", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in ("new_reference", "save_thread", "restore_thread")),
        *((name, ctypes.c_void_p) for name in ("set_error", "memory_error", "type_error")),
    )


# Names and numbers of CPython's stable interface.
_TP_MEMBERS, _T_PYSSIZET, _READONLY = 72, 19, 1
_DEFAULT, _HAVE_VECTORCALL = 1 << 18, 1 << 11
_WORD = ctypes.sizeof(ctypes.c_void_p)


class _Direct(NamedTuple):
    """A subclass of `Run` with two more words, and where: the function to be called, and the plan for it."""

    kind: type[Run]
    entry: int
    plan: int
    kept: tuple[object, ...]


@cache
def _direct() -> _Direct | None:
    """Return the class that is called in C; None where Python is not CPython with its lock.

    Its `tp_call` is that of `Run`, which does the same.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    entry = Run.__basicsize__
    member = _Member(b"__vectorcalloffset__", _T_PYSSIZET, entry, _READONLY, None)
    members = (_Member * 2)(member)
    slots = (_Slot * 2)(_Slot(_TP_MEMBERS, ctypes.addressof(members)))
    spec = _Spec(b"perfdojo.calling.Run", entry + 2 * _WORD, 0, _DEFAULT | _HAVE_VECTORCALL, slots)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.argtypes, make.restype = (ctypes.POINTER(_Spec), ctypes.py_object), ctypes.py_object
    return _Direct(make(spec, (Run,)), entry, entry + _WORD, (members, slots, spec))


def entry_of(library: ctypes.CDLL) -> int:
    """Return the address of a library's function for CPython, and tell it of this one; 0: there is none."""
    direct = _direct()
    if direct is None or not hasattr(library, CALL_SYMBOL) or not hasattr(library, TABLE_SYMBOL):
        return 0
    api = ctypes.pythonapi
    functions = (api.Py_NewRef, api.PyEval_SaveThread, api.PyEval_RestoreThread, api.PyErr_SetString)
    table = _Table.in_dll(library, TABLE_SYMBOL)
    addresses = (ctypes.cast(f, ctypes.c_void_p).value for f in functions)
    filled = _Table(direct.plan, *addresses, id(MemoryError), id(TypeError))
    ctypes.memmove(ctypes.addressof(table), ctypes.addressof(filled), ctypes.sizeof(_Table))
    return ctypes.cast(getattr(library, CALL_SYMBOL), ctypes.c_void_p).value or 0


def run_of(
    kernel: Kernel, arrays: tuple[Array, ...], where: tuple[int, ...], results: Results, ranged: bool
) -> Run:
    """Return the run: called straight in C where the library can that and nothing is to be looked at."""
    direct = _direct()
    if direct is None or not kernel._entry or ranged:
        return Run(kernel, arrays, where, kernel._function, results, ranged)
    plan = (ctypes.c_void_p * (1 + len(where)))(id(results), *where)  # `results` lives as long as the run
    run = direct.kind(kernel, arrays, where, kernel._function, results, ranged, plan)
    ctypes.c_void_p.from_address(id(run) + direct.plan).value = ctypes.addressof(plan)
    ctypes.c_void_p.from_address(id(run) + direct.entry).value = kernel._entry
    return run
