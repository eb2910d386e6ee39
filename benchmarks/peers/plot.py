"""A picture of a run: for each kernel, how many times the machine's limit each system takes.

    python -m benchmarks.peers.plot RESULTS.json PICTURE.png

Only matplotlib is needed: it may live in the environment of the peers.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

COLOURS = {
    "scheduled": "#b2182b",
    "default": "#f4a582",
    "plain-c": "#bdbdbd",
    "torch": "#2166ac",
    "torch-compile": "#92c5de",
    "onnxruntime": "#1b7837",
    "jax": "#a6dba0",
    "numpy": "#dfc27d",
    "best": "#000000",
}
"""The systems that are shown; all would be too many bars."""

LARGEST = 30.0
"""Bars end here: a call from Python takes a thousand times the limit of the smallest kernel."""


def bars(results: dict[str, Any]) -> dict[str, list[float | None]]:
    """Return the times over the limit of each system shown that has any, in the order of the kernels."""
    found: dict[str, list[float | None]] = {}
    for name in COLOURS:
        times = [_time(k, (k["best_peer"] or "") if name == "best" else name) for k in results["kernels"]]
        if any(times):
            limits = (k["limit_s"] for k in results["kernels"])
            found[name] = [t / limit if t else None for t, limit in zip(times, limits, strict=True)]
    return found


def _time(kernel: dict[str, Any], name: str) -> float | None:
    time: float | None = kernel["systems"].get(name, {}).get("median_s")
    return time


def draw(results: dict[str, Any], path: Path) -> None:
    """Write the picture; its kind is the suffix of the path."""
    import_module("matplotlib").use("Agg")
    plt: Any = import_module("matplotlib.pyplot")
    plt.rcParams["svg.hashsalt"] = "perfdojo"  # the same file for the same results
    titles = results["systems"] | {"best": "best of all peers"}
    shown, kernels = bars(results), results["kernels"]
    figure, axes = plt.subplots(figsize=(9, 0.45 * len(kernels) + 1.8))
    height = 0.84 / len(shown)
    for k, (name, times) in enumerate(shown.items()):
        placed = [(n + (k + 0.5) * height - 0.42, min(t, LARGEST)) for n, t in enumerate(times) if t]
        axes.barh(*zip(*placed, strict=True), height, color=COLOURS[name], label=titles[name])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlim=(0.8, LARGEST), ylim=(len(kernels) - 0.5, -0.5))
    axes.set_yticks(range(len(kernels)), [k["name"] for k in kernels], fontsize=7)
    ticks = [1, 2, 5, 10, LARGEST]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    threads = f"{results['threads']} thread{'s' if results['threads'] > 1 else ''}"
    axes.set_xlabel(f"time over the least that this machine allows, {threads}; cut at {LARGEST:g}")
    figure.legend(loc="upper center", ncols=5, fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.5 / figure.get_figheight()))
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))
