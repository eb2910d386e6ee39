"""Text -> raw kernel, for texts in which nothing is unusual: by hand, five times as fast as by the grammar.

What this reader takes it reads as the grammar does; what it does not take, the grammar has to judge. So it
gives up at the first surprise: a word of the language used as a name, deep nesting, anything wrong.
"""

from __future__ import annotations

import re

from perfdojo.compiler.ir import Span
from perfdojo.compiler.text import raw

MAX_NESTED = 40
"""Open brackets and signs, which this reader follows by recursion."""

# groups: 1 a line's end, 2 float, 3 integer, 4 a word, 5 a mark, 6 a sign, 7 none of them
_TOKEN = re.compile(
    r"[ \t\f]*(?:"
    r"((?:[ \t\f]*(?:\#[^\n]*)?\r?\n)+)"
    r"|([0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)"
    r"|([0-9]+)"
    r"|((?!(?:max|min|maxnum|minnum)=)[A-Za-z_][A-Za-z_0-9]*)"
    r"|(@[A-Za-z_][A-Za-z_0-9]*)"
    r"|((?:max|min|maxnum|minnum)=|\+=|\*=|<=|>=|==|!=|//|[-+*/%<>=?:,|{}()\[\]])"
    r"|(.))",
    re.DOTALL,
)
_KINDS = ("", "end of line", "float", "int", "name", "mark", "", "")
_WORDS = frozenset(("kernel", "size", "fixed", "in", "out", "inout", "tmp", "if", "or", "and", "not"))
_ASSIGN = frozenset(("=", "+=", "*=", "max=", "min=", "maxnum=", "minnum="))
_COMPARE, _NOT = 4, 3
_LEVEL = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("<=", ">=", "==", "!=", "<", ">"), _COMPARE),
    **dict.fromkeys("+-", 5),
    **dict.fromkeys(("*", "/", "//", "%"), 6),
}
"""How tightly an operator binds."""


class _Surprise(Exception):
    """The grammar has to judge this text."""


def plainly(text: str) -> raw.RawKernel | None:
    """Return what the grammar makes of `text`, which ends its last line; None when that is for it to say."""
    try:
        return _Reader(text).kernel()
    except (_Surprise, raw.TooDeep):
        return None


class _Reader:
    """A place in a list of tokens.

    Attributes:
        kinds: of each token; a sign and a word of the language are kinds of their own.
        words, starts: its text and where it begins.
        at: the next token.
        nested: brackets and signs around it.
    """

    __slots__ = ("at", "kinds", "nested", "starts", "words")

    def __init__(self, text: str) -> None:
        self.kinds: list[str] = []
        self.words: list[str] = []
        self.starts: list[int] = []
        for m in _TOKEN.finditer(text):
            i = m.lastindex or 0
            word = m[i]
            self.kinds.append(word if i == 6 or word in _WORDS else _KINDS[i])
            self.words.append(word)
            self.starts.append(m.start(i))
        self.kinds.append("end")
        self.at = self.nested = 0

    # ------------------------------------------------------------ tokens

    def take(self, kind: str) -> int:
        """Return the index of the next token, which is of this kind."""
        at = self.at
        if self.kinds[at] != kind:
            raise _Surprise
        self.at = at + 1
        return at

    def takes(self, kind: str) -> bool:
        """Whether the next token is of this kind; then it is passed."""
        if self.kinds[self.at] != kind:
            return False
        self.at += 1
        return True

    def name(self, at: int) -> raw.RawName:
        return raw.RawName(self.words[at], self.span(at, at))

    def span(self, first: int, last: int) -> Span:
        return Span(self.starts[first], self.starts[last] + len(self.words[last]))

    # ------------------------------------------------------------ lines

    def kernel(self) -> raw.RawKernel:
        self.takes("end of line")
        self.take("kernel")
        name = self.name(self.take("name"))
        self.take("end of line")
        sizes, buffers, lines = [], [], []
        while (kind := self.kinds[self.at]) in ("size", "in", "out", "inout", "tmp"):
            if kind == "size":
                sizes.append(self.size())
            else:
                buffers.append(self.buffer())
            self.take("end of line")
        while self.kinds[self.at] != "end":
            lines.append(self.line())
        return raw.RawKernel(name, tuple(sizes), tuple(buffers), tuple(lines))

    def size(self) -> raw.RawSize:
        self.at += 1
        name = self.name(self.take("name"))
        self.take("=")
        value = self.expression()
        return raw.RawSize(name, value, self.takes("fixed"), Span(name.span.start, value.span.end))

    def buffer(self) -> raw.RawBuffer:
        role = self.at
        self.at += 1
        name = self.name(self.take("name"))
        self.take(":")
        dtype = self.take("name")
        self.take("[")
        shape = self.arguments("]")
        attributes = []
        while self.kinds[self.at] == "name":
            called = self.name(self.take("name"))
            attributes.append(raw.RawAttribute(called, self.arguments(")") if self.takes("(") else ()))
        span = self.span(role, dtype)
        return raw.RawBuffer(self.words[role], name, self.name(dtype), shape, tuple(attributes), span)

    def line(self) -> raw.RawLine:
        bars, scopes, statement = [], [], None
        while self.takes("|"):
            bars.append(Span(self.starts[self.at - 1], self.starts[self.at - 1] + 1))
        while not self.takes("end of line"):
            label = None
            if self.kinds[self.at + 1] == ":":
                label = self.name(self.take("name"))
                self.at += 1
            if self.kinds[self.at] == "name" and self.kinds[self.at + 1] == "[":
                statement = self.statement(label)
                self.take("end of line")
                break
            scopes.append(self.scope(label))
        return raw.RawLine(tuple(bars), tuple(scopes), statement)

    def scope(self, label: raw.RawName | None) -> raw.RawScope:
        kind, at = self.kinds[self.at], self.at
        self.at += 1
        if kind == "name":
            extent = raw.name(self.words[at], self.span(at, at))
        elif kind == "int":
            extent = raw.node("int", self.words[at], (), self.span(at, at))
        elif kind == "(":
            extent = self.expression()
            self.take(")")
        else:
            raise _Surprise
        marks = []
        while self.kinds[self.at] == "mark":
            marks.append(self.name(self.take("mark")))
        first, last = label or extent, marks[-1] if marks else extent
        return raw.RawScope(label, extent, tuple(marks), Span(first.span.start, last.span.end))

    def statement(self, label: raw.RawName | None) -> raw.RawStatement:
        name = self.at
        self.at += 2
        indices = self.arguments("]")
        target = raw.node("load", self.words[name], indices, self.span(name, self.at - 1))
        sign = self.kinds[self.at]
        if sign not in _ASSIGN:
            raise _Surprise
        self.at += 1
        value = self.expression()
        guard = self.expression() if self.takes("if") else None
        span = Span(self.starts[name], (guard or value).span.end)
        return raw.RawStatement(label, target, sign, value, guard, span)

    # ------------------------------------------------------------ expressions

    def arguments(self, closing: str) -> tuple[raw.Raw, ...]:
        """Read what stands behind a bracket, and its counterpart."""
        if self.takes(closing):
            return ()
        found = [self.expression()]
        while self.takes(","):
            found.append(self.expression())
        self.take(closing)
        return tuple(found)

    def expression(self) -> raw.Raw:
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise _Surprise
        found = self.operation(1)
        if self.takes("?"):
            left = self.expression()
            self.take(":")
            right = self.expression()
            found = raw.node("op", "select", (found, left, right), Span(found.span.start, right.span.end))
        self.nested -= 1
        return found

    def operation(self, lowest: int) -> raw.Raw:
        """Read operands and the operators between them that bind at least as tightly as `lowest`."""
        tightest = 6
        if self.kinds[self.at] == "not":
            if lowest > _NOT:
                raise _Surprise
            left, tightest = self.signed("not", _NOT), 2
        else:
            left = self.factor()
        while lowest <= (level := _LEVEL.get(self.kinds[self.at], 0)) <= tightest:
            sign = self.kinds[self.at]
            self.at += 1
            left = raw.binary(sign, left, self.operation(level + 1))
            tightest = level if level != _COMPARE else 2  # comparisons do not follow one another
        return left

    def signed(self, sign: str, level: int) -> raw.Raw:
        """Read `not` or a minus, and its operand."""
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise _Surprise
        start = self.starts[self.at]
        self.at += 1
        operand = self.operation(level) if level == _NOT else self.factor()
        self.nested -= 1
        return raw.unary(sign, operand, Span(start, operand.span.end))

    def factor(self) -> raw.Raw:
        at = self.at
        kind = self.kinds[at]
        if kind == "-":
            return self.signed("-", 6)
        self.at = at + 1
        if kind == "name":
            follows = self.kinds[at + 1]
            if follows == "[" or follows == "(":
                self.at = at + 2
                args = self.arguments("]" if follows == "[" else ")")
                span = self.span(at, self.at - 1)
                return raw.node("load" if follows == "[" else "call", self.words[at], args, span)
            return raw.name(self.words[at], self.span(at, at))
        if kind == "{":
            inner = self.at
            self.at += 1
            if self.kinds[inner] not in ("int", "name"):
                raise _Surprise
            self.take("}")
            return raw.node("iter", self.words[inner], (), self.span(at, self.at - 1))
        if kind == "int" or kind == "float":
            return raw.Raw("int" if kind == "int" else "float", self.words[at], (), self.span(at, at))
        if kind != "(":
            raise _Surprise
        found = self.expression()
        self.take(")")
        return raw.parens(found)
