"""Text -> Program: read plainly, else by the grammar; then names and types are resolved."""

from __future__ import annotations

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program, Source, Span
from perfdojo.compiler.text.plain import plainly
from perfdojo.compiler.text.raw import RawKernel
from perfdojo.compiler.text.resolve import resolve

MAX_BYTES = 1 << 20


def parse(text: str, name: str = "<text>") -> Program:
    """Return the program that `text` says; sizes stay symbolic until `bind`.

    Raises:
        PerfDojoError: the text is not a kernel; with line, column and what was expected.
    """
    source = Source(name, text)
    _check_text(source)
    padded = text if text.endswith("\n") else text + "\n"
    return resolve(plainly(padded) or _by_grammar(padded, source), source)


def read(path: str, data: bytes) -> Program:
    """Return the program in the bytes of a file; PerfDojoError when they are not UTF-8 text."""
    if len(data) > MAX_BYTES:
        raise _too_long(len(data), path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8"))
        raise PerfDojoError(
            f"byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
            Source(path, shown),
            Span(at, at + 1),
            "save the file as UTF-8",
        ) from None
    return parse(text.removeprefix("\ufeff"), path)


def _too_long(size: int, path: str) -> PerfDojoError:
    return PerfDojoError(
        f"the text has {size} bytes; a kernel has at most {MAX_BYTES}", Source(path, ""), None
    )


def _check_text(source: Source) -> None:
    size = len(source.text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _too_long(size, source.name)
    if not source.text.strip():
        raise PerfDojoError(
            "the file is empty", source, Span(0, 1), "begin with 'kernel NAME', then sizes, buffers and loops"
        )
    nul = source.text.find("\0")
    if nul >= 0:
        raise PerfDojoError("a NUL byte is not text", source, Span(nul, nul + 1), "is this a binary file?")


def _by_grammar(text: str, source: Source) -> RawKernel:
    # not at the top: Lark and its tables take 0.2 s, and few texts need them
    from perfdojo.compiler.text.grammar import by_grammar

    return by_grammar(text, source)
