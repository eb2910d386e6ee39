"""Median, its confidence interval, quartiles of measured times."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, sqrt

MIN_SAMPLES_FOR_INTERVAL = 8


def median(samples: Sequence[float]) -> float:
    """Return the middle value, the mean of the middle two for an even number; needs one at least."""
    s = sorted(samples)
    half = len(s) // 2
    return s[half] if len(s) % 2 else (s[half - 1] + s[half]) / 2


def median_interval(samples: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the median, whatever the distribution.

    The ends are order statistics of rank (n - 1.96 sqrt(n)) / 2, rounded down, and
    1 + (n + 1.96 sqrt(n)) / 2, rounded up. None below 8 samples, where the ranks leave the sample.
    Source: Campbell and Gardner, Calculating confidence intervals for some non-parametric analyses,
    BMJ 296 (1988), 1454-1456.
    """
    n = len(samples)
    if n < MIN_SAMPLES_FOR_INTERVAL:
        return None
    s = sorted(samples)
    low = floor((n - 1.96 * sqrt(n)) / 2)
    high = ceil(1 + (n + 1.96 * sqrt(n)) / 2)
    return s[low - 1], s[min(high, n) - 1]


def spread(samples: Sequence[float]) -> float:
    """Return the distance between the quartiles as a part of the median, 0 when the median is 0."""
    s = sorted(samples)
    middle = median(s)
    return (_quantile(s, 0.75) - _quantile(s, 0.25)) / middle if middle else 0.0


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Linear interpolation between the neighbours of position q (n - 1)."""
    position = q * (len(ordered) - 1)
    k = min(int(position), len(ordered) - 2)
    if k < 0:
        return ordered[0]
    return ordered[k] + (position - k) * (ordered[k + 1] - ordered[k])
