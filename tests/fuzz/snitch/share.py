"""What CI runs of the soundness run for Snitch."""

SHARE_PAIRS = 400
