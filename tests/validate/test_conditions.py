"""What conditions say about the values under them, and what indices on data say about values."""

from __future__ import annotations

import random
from itertools import product

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.validate.draws import Draw
from perfdojo.compiler.validate.facts import Facts, Forms
from perfdojo.compiler.validate.simpler import simpler, with_numbers
from perfdojo.compiler.validate.terms import Terms
from tests.validate.programs import judge

HEADER = (
    "in g: i32[3] values(0, 4)\nin k: i32[3]\nin c: f32[]\nin x: f32[4]\ntmp t: f32[4]\ninout z: f32[3]\n"
    "out y: f32[3]"
)

EQUAL = {
    "the condition of a guard": ("c[] < 1 ? x[{0}] : 1.0", "x[{0}]", "c[] < 1"),
    "a condition twice": (
        "c[] < 1 ? (c[] < 1 ? x[{0}] : 1.0) + 2.0 : (c[] < 1 ? 3.0 : 4.0)",
        "c[] < 1 ? x[{0}] + 2.0 : 4.0",
        "",
    ),
    "a part of a condition": (
        "c[] < 1 and k[{0}] > 2 ? (k[{0}] > 2 ? x[{0}] : 1.0) : 2.0",
        "c[] < 1 and k[{0}] > 2 ? x[{0}] : 2.0",
        "",
    ),
    "the contrary of a condition": (
        "not (c[] < 1) or k[{0}] >= 2 ? 1.0 : (k[{0}] < 2 and c[] < 1 ? x[{0}] : 2.0)",
        "not (c[] < 1) or k[{0}] >= 2 ? 1.0 : x[{0}]",
        "",
    ),
    "a wider condition": ("k[{0}] > 0 ? x[{0}] : 1.0", "x[{0}]", "k[{0}] > 1"),
    "a condition on a sum": ("i64(g[{0}]) + 2 > 4 ? x[{0}] : 1.0", "x[{0}]", "g[{0}] >= 3"),
    "two conditions": ("g[0] - g[1] > 1 ? x[{0}] : 1.0", "x[{0}]", "g[0] > 2 and g[1] < 1"),
    "a difference": ("g[0] >= g[1] + g[2] ? x[{0}] : 1.0", "x[{0}]", "g[0] - g[1] > g[2]"),
    "a reduction under a guard": ("z[{0}] + (c[] < 1 ? x[{0}] : 1.0)", "z[{0}] + x[{0}]", "c[] < 1"),
    "the second of two conditions": (
        "k[0] > 1 and (k[0] > 0 or c[] < 1) ? x[{0}] : 1.0",
        "k[0] > 1 ? x[{0}] : 1.0",
        "",
    ),
}

DIFFERENT = {
    "a narrower condition": ("k[{0}] > 2 ? x[{0}] : 1.0", "x[{0}]", "k[{0}] > 1"),
    "a sum that may wrap": ("k[{0}] + 2 > 3 ? x[{0}] : 1.0", "x[{0}]", "k[{0}] > 1"),
    "a comparison that may see NaN": ("c[] >= 1 ? 1.0 : x[{0}]", "x[{0}]", "not (c[] < 1)"),
    "the other branch": ("c[] < 1 ? x[{0}] : 1.0", "1.0", "c[] < 1"),
    "a condition of another element": ("k[{0}] > 1 ? x[{0}] : 1.0", "x[{0}]", "k[0] > 1"),
    "only one of two conditions": ("k[{0}] > 1 ? x[{0}] : 1.0", "x[{0}]", "k[{0}] > 1 or c[] < 1"),
}


def _body(value: str, guard: str) -> str:
    return "3 y[{0}] = 0.0\n| y[{0}] = " + value + (f" if {guard}" if guard else "")


@pytest.mark.parametrize("level", ["strict", "fast"])
@pytest.mark.parametrize("name", EQUAL)
def test_conditions_that_are_decided_drop_out(name: str, level: str) -> None:
    before, after, guard = EQUAL[name]
    found = judge(HEADER, _body(before, guard), _body(after, guard), level)  # type: ignore[arg-type]
    assert found.equal, found.message


@pytest.mark.parametrize("name", DIFFERENT)
def test_conditions_that_are_open_do_not(name: str) -> None:
    before, after, guard = DIFFERENT[name]
    assert not judge(HEADER, _body(before, guard), _body(after, guard), "fast").equal


def test_many_conditions_are_not_looked_into_for_ever() -> None:
    header = "in k: i32[20]\nin n: i32[]\nin x: f32[20]\nout y: f32[]"
    body = "y[] = 0.0\n20 y[] = x[{0}] * y[] + (k[{0}] > n[] ? {} : 2.0) if k[{0}] > n[]"
    assert judge(header, body.replace("{}", "1.0"), body.replace("{}", "1.0"), "strict").equal
    assert not judge(header, body.replace("{}", "1.0"), body.replace("{}", "3.0"), "strict").equal
    plain = "y[] = 0.0\n20 y[] = x[{0}] * y[] + 1.0 if k[{0}] > n[]"
    assert judge(header, body.replace("{}", "1.0"), plain, "strict").equal


# ---------------------------------------------------------------- indices


INLINED = {
    "an index as a value": ("f32({0})", "f32(i64(g[{0}]))"),
    "an index in a condition": ("{0} < 2 ? x[{0}] : 0.0", "i64(g[{0}]) < 2 ? x[g[{0}]] : 0.0"),
    "an index that a condition keeps inside": (
        "{0} < 2 ? x[{0} + 2] : x[0]",
        "i64(g[{0}]) < 2 ? x[i64(g[{0}]) + 2] : x[0]",
    ),
    "an index that the second condition asks": (
        "{0} < 2 and x[{0} + 2] < 1.0 ? 1.0 : 0.0",
        "i64(g[{0}]) < 2 and x[i64(g[{0}]) + 2] < 1.0 ? 1.0 : 0.0",
    ),
}


@pytest.mark.parametrize("name", INLINED)
def test_the_value_of_an_element_at_an_index_on_data(name: str) -> None:
    element, value = INLINED[name]
    before = f"4 t[{{0}}] = {element}\n3 y[{{0}}] = t[g[{{0}}]]"
    for level in ("strict", "fast"):
        found = judge(HEADER, before, f"3 y[{{0}}] = {value}", level)
        assert found.equal, found.message


def test_a_comparison_of_floats_that_an_index_asks() -> None:
    """With x[0] < 1 taken for granted by the index, it is in the other form of the condition, too."""
    chosen = "x[x[0] < 1.0 ? 1 : 2] : x[x[1] < 1.0 ? 1 : 2]"
    before = f"4 t[{{0}}] = {{0}} < 2 ? x[0] : x[1]\n3 y[{{0}}] = t[g[0]] < 1.0 ? {chosen}"
    after = f"3 y[{{0}}] = (i64(g[0]) < 2 ? x[0] : x[1]) < 1.0 ? {chosen}"
    found = judge(HEADER, before, after, "strict")
    assert found.equal, found.message


def test_a_guard_keeps_an_index_inside() -> None:
    before = "4 t[{0}] = 1.0\n| t[{0}] = x[{0} + 1] if {0} < 3\n3 y[{0}] = t[g[{0}]]"
    after = "3 y[{0}] = 1.0\n| y[{0}] = x[i64(g[{0}]) + 1] if i64(g[{0}]) < 3"
    found = judge(HEADER, before, after, "strict")
    assert found.equal, found.message


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("i64(g[{0}]) < 3 ? x[i64(g[{0}]) + 2] : x[0]", "outside of the extent 4"),
        ("i64(g[{0}]) < 2 ? x[i64(g[{0}]) + 2] : x[1]", "differs"),
        ("i64(g[{0}]) < 1 ? x[i64(g[{0}]) + 2] : x[0]", "differs"),
        ("i64(g[{0}]) < 2 ? x[i64(g[{0}]) + 1] : x[0]", "differs"),
    ],
)
def test_a_wrong_value_at_an_index_on_data(value: str, what: str) -> None:
    before = "4 t[{0}] = {0} < 2 ? x[{0} + 2] : x[0]\n3 y[{0}] = t[g[{0}]]"
    assert what in judge(HEADER, before, f"3 y[{{0}}] = {value}", "strict").message


@pytest.mark.parametrize(
    "value",
    [
        "k[{0}] == 1000 ? 1.0 : x[min(max(k[{0}], 0), 3)]",
        "k[{0}] == 1000 ? x[min(max(k[{0}], 0), 4)] : x[min(max(k[{0}], 0), 3)]",
        "k[{0}] + k[0] == 77 ? 1.0 : x[min(max(k[{0}], 0), 3)]",
    ],
)
def test_a_rare_case_is_not_left_out(value: str) -> None:
    same = "3 y[{0}] = x[min(max(k[{0}], 0), 3)]"
    assert judge(HEADER, same, same, "strict").equal
    assert not judge(HEADER, same, f"3 y[{{0}}] = {value}", "strict").equal


# ---------------------------------------------------------------- random terms


def _random_terms(rng: random.Random, terms: Terms) -> tuple[list[int], list[int]]:
    """Return integers (i8) and conditions, made of those before them."""
    values = [*range(terms.symbols), *(terms.constant(B.dtype, n) for n in (-3, 0, 1, 2, 100))]
    conditions = [terms[("lt.i8", values[0], values[1])]]
    for _ in range(24):
        a, b = rng.choice(values), rng.choice(values)
        p, q = rng.choice(conditions), rng.choice(conditions)
        match rng.randrange(7):
            case 0:
                values.append(terms[(f"{rng.choice(('add', 'sub', 'mul', 'min', 'mod'))}.i8", a, b)])
            case 1:
                values.append(terms[("neg.i8", a)])
            case 2:
                values.append(terms[("select.i8", p, a, b)])
            case 3:
                values.append(terms[("radd.i8", a, b, p)])
            case 4:
                conditions.append(terms[(f"{rng.choice(('and', 'or'))}.bool", p, q)])
            case 5:
                conditions.append(terms[("not.bool", p)])
            case _:
                sign = rng.choice(("lt", "le", "gt", "ge", "eq", "ne"))
                conditions.append(terms[(f"{sign}.i8", a, b)])
    return values, conditions


A, B = bind(parse("kernel k\nin a: i8[3] values(-1, 3)\nin b: i8[2]\nout y: i8[]\n\ny[] = 0\n")).arguments[:2]


class _Elements(Draw):
    """A draw of given elements."""

    def __init__(self, terms: Terms, elements: tuple[int, ...]) -> None:
        super().__init__(terms, 0)
        self._known = dict(enumerate(elements))


def _comparison(rng: random.Random, terms: Terms) -> int:
    """Return a comparison of linear forms of the elements of a, which are small."""
    sides = []
    for _ in range(2):
        side = terms.constant(A.dtype, rng.randint(-4, 4))
        for _ in range(rng.randint(0, 2)):
            part = terms[("mul.i8", rng.randrange(3), terms.constant(A.dtype, rng.choice((1, 1, 2, 3, -1))))]
            side = terms[(f"{rng.choice(('add', 'sub'))}.i8", side, part)]
        sides.append(side)
    return terms[(f"{rng.choice(('lt', 'le', 'gt', 'ge', 'eq', 'ne'))}.i8", *sides)]


def test_facts_decide_what_every_element_that_they_allow_does() -> None:
    decided = 0
    for seed in range(20):
        rng = random.Random(seed)
        terms = Terms([A])
        held = [(_comparison(rng, terms), rng.random() < 0.5) for _ in range(rng.randint(1, 3))]
        asked = [_comparison(rng, terms) for _ in range(12)]
        facts = Facts(Forms(terms), tuple(held))
        found = {c: facts.decided(c) for c in asked}
        decided += sum(f is not None for f in found.values())
        for elements in product(range(-1, 3), repeat=3):
            draw = _Elements(terms, elements)
            if all(bool(draw.index(c)) == value for c, value in held):
                for c, value in found.items():
                    assert value is None or bool(draw.index(c)) == value
    assert decided > 50


@pytest.mark.parametrize("seed", range(60))
def test_simpler_terms_have_the_same_value(seed: int) -> None:
    rng = random.Random(seed)
    terms = Terms([A, B])
    values, conditions = _random_terms(rng, terms)
    roots = [*values, *conditions]
    numbers = with_numbers(terms, {}, roots)
    made = simpler(terms, numbers, roots)
    for n in range(30):
        draw = Draw(terms, n, (0, 1, 2, 100))
        assert [draw.index(t) for t in roots] == [draw.index(made[t]) for t in roots]


@pytest.mark.parametrize("seed", range(30))
def test_terms_with_numbers_have_the_same_value_in_their_draw(seed: int) -> None:
    rng = random.Random(seed)
    terms = Terms([A, B])
    values, conditions = _random_terms(rng, terms)
    roots = [*values, *conditions]
    for n in range(5):
        draw = Draw(terms, n, (0, 1, 2, 100))
        draw.index(rng.choice(values))
        numbers = with_numbers(terms, draw.given(), roots)
        made = simpler(terms, numbers, roots)
        assert [draw.index(t) for t in roots] == [draw.index(made[t]) for t in roots]


# ---------------------------------------------------------------- what is written under a condition

DECLARED = "tmp u: f32[]\ntmp i: i32[]"


@pytest.mark.parametrize(
    ("written", "read", "difference"),
    [
        ("c[] < 1", "c[] < 1", ""),
        ("c[] < 1", "c[] < 1 and k[0] > 2", ""),
        ("k[0] >= 2", "k[0] > 2", ""),
        ("k[0] > 2", "k[0] >= 2", "u[] unwritten"),
        ("c[] < 1", "c[] < 2", "u[] unwritten"),
        ("c[] < 1", "not (c[] < 1)", "u[] unwritten"),
        ("c[] < 1 and k[0] > 2", "c[] < 1", "u[] unwritten"),
    ],
)
def test_what_is_written_under_a_condition(written: str, read: str, difference: str) -> None:
    before = f"3 y[{{0}}] = 0.0\n| y[{{0}}] = x[0] * 2.0 if {read}"
    after = f"u[] = x[0] * 2.0 if {written}\n3 y[{{0}}] = 0.0\n| y[{{0}}] = u[] if {read}"
    found = judge(HEADER, before, after, "strict", DECLARED)
    assert found.equal == (not difference), found.message
    assert difference in found.message


def test_an_index_that_nothing_wrote() -> None:
    before = "3 y[{0}] = x[g[0]]"
    after = "i[] = g[0] if g[0] > k[0]\n3 y[{0}] = x[min(max(i[], 0), 3)]"
    message = judge(HEADER, before, after, "strict", DECLARED).message
    assert message == ("the transformed program decides by an element that nothing wrote what it accesses")
