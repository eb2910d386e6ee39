"""`--list-kernels`, `--list-targets`, `--list-transforms`, `--doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict

from perfdojo.cli.options import Options
from perfdojo.cli.report import Screen
from perfdojo.finding import formula, library


def list_kernels(o: Options) -> int:
    """Print the kernels of the library with their formulas."""
    rows = [(name, formula(file)) for name, file in library()]
    if o.json:
        print(json.dumps({"kernels": [{"name": n, "formula": f} for n, f in rows]}))
    else:
        Screen().table(("kernel", "formula and source"), rows)
    return 0


def list_transforms(o: Options) -> int:
    """Print the moves of a schedule: how each is written and what it does."""
    from perfdojo.compiler.transforms import transforms
    from perfdojo.compiler.transforms.spelling import summary, usage

    rows = [(usage(cls), summary(cls)) for cls in transforms().values()]
    if o.json:
        listed = [
            {"name": name, "usage": u, "text": t, "level": cls.level, "aliases": list(cls.aliases)}
            for (name, cls), (u, t) in zip(transforms().items(), rows, strict=True)
        ]
        print(json.dumps({"transforms": listed}))
    else:
        for written, text in rows:
            print(f"{written}\n    {text}")
    return 0


def list_targets(o: Options) -> int:
    """Print the targets and whether this machine runs them."""
    from perfdojo.backends import extensions_of, get_target, host_targets, target_names
    from perfdojo.toolchains.cpu import read_cpu
    from perfdojo.toolchains.cross import cross_of

    cpu = read_cpu()
    rows = []
    for name in target_names():
        target = get_target(name)
        missing = cpu.missing(target.features)
        cross = cross_of(name)
        if name in host_targets():
            more = [word for word, feature in extensions_of(name).items() if cpu.has(feature)]
            here = "runs here" + (f", with {', '.join(more)}" if more else "")
            if missing:
                here = f"checked by emulation, not timed: no {', '.join(missing)} here"
        else:
            here = f"run by {cross.emulator}, not timed" if cross else "runs in a simulator"
        rows.append((name, target.title, here))
    if o.json:
        print(json.dumps({"targets": [{"name": n, "title": t, "here": h} for n, t, h in rows]}))
    else:
        Screen().table(("target", "what it is", "on this machine"), rows)
    return 0


def doctor(o: Options, remeasure: bool) -> int:
    """Print what this machine can do and what is missing; the status is 3 without gcc."""
    from perfdojo.toolchains.doctor import examine

    screen = Screen(o.quiet, silent=o.json)
    with screen.working("measuring this machine's limits, once"):
        findings = examine(measure=True, remeasure=remeasure)
    if o.json:
        print(json.dumps({"findings": [asdict(f) for f in findings]}))
    else:
        marks = {"ok": "ok", "missing": "bad", "limited": "note"}
        for f in findings:
            screen.line(f.name, f.text, marks[f.state])
            if f.fix:
                screen.line("", f.fix)
    return 3 if any(f.state == "missing" and f.name == "gcc" for f in findings) else 0
