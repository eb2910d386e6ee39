"""Faults to plant: each changes one place of what makes code for Snitch into something wrong."""

from __future__ import annotations

from tests.fuzz.faults.fault import FileFault as Fault

NESTS = "perfdojo/compiler/lowering/nests/"
BACKEND = "perfdojo/backends/snitch/"
TEMPLATES = "perfdojo/templates/snitch/"

FAULTS: tuple[Fault, ...] = (
    Fault(
        "what is written may be read again later",
        NESTS + "conflicts.py",
        "if bool((at < r.times).any()):",
        "if False:",
    ),
    Fault(
        "an instruction may read what the one before it wrote",
        NESTS + "conflicts.py",
        "if bool((at < r.times).any()):",
        "if bool((at < r.times - 1).any()):",
    ),
    Fault("the first pass runs twice", NESTS + "peel.py", "        start = 1\n", "        start = 0\n"),
    Fault("the first pass is the second one", NESTS + "peel.py", "_copy(node, 0, ", "_copy(node, 1, "),
    Fault("the last pass runs twice", NESTS + "peel.py", "        end -= 1\n", "        end -= 0\n"),
    Fault(
        "passes that were written out are streamed again",
        NESTS + "sequence.py",
        "kept = slice(block.front * one, ",
        "kept = slice(0, ",
    ),
    Fault(
        "loops of a stream that are not one are made one",
        NESTS + "sequence.py",
        "if out and step == out[-1][0] * out[-1][1]:",
        "if out and step == out[-1][1]:",
    ),
    Fault(
        "a repetition leaves out a rest",
        NESTS + "sequence.py",
        "range(1, MAX_REPEAT + 1) if count % r == 0)",
        "range(1, min(count, MAX_REPEAT) + 1))",
    ),
    Fault(
        "a stream repeats once more",
        BACKEND + "movers.py",
        "[m.number] = m.repeat - 1",
        "[m.number] = m.repeat",
    ),
    Fault("a stream is one longer", BACKEND + "movers.py", "[m.number] = count - 1", "[m.number] = count"),
    Fault(
        "strides count from behind the loop inside",
        BACKEND + "movers.py",
        "moved += (count - 1) * step",
        "moved += count * step",
    ),
    Fault(
        "two elements for one instruction share a mover",
        NESTS + "movers.py",
        "found[k] = used.get(k[0], 0)",
        "found[k] = 0",
    ),
    Fault(
        "a register is free before it is read for the last time",
        NESTS + "registers.py",
        "sorted(b for b in busy if b[0] <= life.start)",
        "sorted(b for b in busy if b[0] <= life.start + 1)",
    ),
    Fault(
        "what a loop carries on has no register of its own",
        NESTS + "registers.py",
        "if life.start < first or not inside[0][1]:",
        "if False:",
    ),
    Fault(
        "words may start anywhere",
        NESTS + "tree.py",
        "*(s for _, s in site.steps), site.const)",
        "*(s for _, s in site.steps))",
    ),
    Fault(
        "steps of words may be anything",
        NESTS + "tree.py",
        "*(s for _, s in site.steps), site.const)",
        "site.const)",
    ),
    Fault(
        "a register is set before it is read",
        NESTS + "order.py",
        "for j in read_by.pop(line.dest, []):",
        "for j in read_by.pop(line.dest, [])[:0]:",
    ),
    Fault(
        "elements of a stream change places",
        NESTS + "order.py",
        "            if name in streams:\n",
        "            if False:\n",
    ),
    Fault(
        "a negated product is subtracted from the wrong side",
        NESTS + "packed.py",
        'pair = (c, product) if mac == "msub" else (product, c)',
        "pair = (product, c)",
    ),
    Fault(
        "0 + a*b is a*b at every level",
        NESTS + "packed.py",
        '(reassociates or c.value.hex() == "-0x0.0p+0")',
        "True",
    ),
    Fault(
        "the signs of a multiply-add change places",
        NESTS + "builder.py",
        '(False, True): "fms", (True, False): "nfms"',
        '(False, True): "nfms", (True, False): "fms"',
    ),
    Fault(
        "the second of two neighbours is the lower one",
        NESTS + "stores.py",
        "low, high = sorted(",
        "high, low = sorted(",
    ),
    Fault(
        "a pointer does not go back when a loop ends",
        NESTS + "finish.py",
        "return self.chain[level][2] - inner",
        "return self.chain[level][2]",
    ),
    Fault(
        "what is read behind a nest is not stored",
        NESTS + "found.py",
        'if n.op != "=":',
        "if False:",
    ),
    Fault(
        "a loop of the FPU makes one pass more",
        BACKEND + "loops.py",
        "frep_o {self.w.passes(item.count - 1)}",
        "frep_o {self.w.passes(item.count)}",
    ),
    Fault(
        "a loop of the core makes one pass less",
        BACKEND + "loops.py",
        'w.say(f"li {counter}, {item.count}")',
        'w.say(f"li {counter}, {max(1, item.count - 1)}")',
    ),
    Fault("a constant is not boxed", BACKEND + "constants.py", 'ljust(8, b"\\xff")', 'ljust(8, b"\\x00")'),
    Fault("a constant fills one lane", BACKEND + "constants.py", "whole = one * c.type.lanes", "whole = one"),
    Fault(
        "registers of the caller are not saved",
        BACKEND + "assembly.py",
        "saved = sorted(registers(nest) & SAVED)",
        "saved: list[int] = []",
    ),
    Fault(
        "a nest that C calls returns before its results are in memory",
        BACKEND + "assembly.py",
        "if m.write and (r.called or r.waits):",
        "if False:",
    ),
    Fault(
        "streams stay on",
        BACKEND + "assembly.py",
        'w.say("csrrci x0, SSR, 1"',
        'w.say("csrrsi x0, SSR, 1"',
    ),
    Fault(
        "loops of the FPU never wait for an empty buffer",
        BACKEND + "buffer.py",
        "return waiting >= MAX_INSTRUCTIONS or (waiting > 0 and isinstance(loop.body[0], Loop))",
        "return False",
    ),
    Fault(
        "a nest does not wait for one that writes what it reads",
        BACKEND + "nests.py",
        "return changed or not first.written.isdisjoint(second.read | second.written)",
        "return changed",
    ),
    Fault(
        "a packed difference is a sum",
        BACKEND + "spelling.py",
        '"sub": "vfsub"',
        '"sub": "vfadd"',
    ),
    Fault(
        "no barrier between what one core does and what another one needs",
        TEMPLATES + "snitch_cluster.h.j2",
        "fence\\n\\tcsrr x0, 0x7c2",
        "fence",
    ),
    Fault(
        "stores may be under way at a barrier",
        TEMPLATES + "snitch_cluster.h.j2",
        "mv t0, t0\\n\\tfence\\n\\tcsrr",
        "csrr",
    ),
    Fault(
        "a barrier does not wait for the DMA engine",
        TEMPLATES + "snitch_cluster.h.j2",
        "  if (hart == SNITCH_DMA_HART) {\n    snitch_dma_wait();",
        "  if (hart == SNITCH_DMA_HART) {",
    ),
    Fault(
        "cores start one further",
        BACKEND + "cluster.py",
        "{name} = {self.hart};",
        "{name} = {self.hart} + 1;",
    ),
    Fault(
        "harts do not wait for what was before a loop",
        "perfdojo/compiler/analysis/waiting.py",
        "        if clash:\n            loop.barrier = True",
        "        if False:\n            loop.barrier = True",
    ),
    Fault(
        "iterations that depend run on cores",
        "perfdojo/compiler/transforms/core.py",
        "if reason := why_dependent(program, name):",
        'if reason := "":',
    ),
)
