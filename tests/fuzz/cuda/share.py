"""What CI runs of the soundness run for GPUs."""

SHARE_PAIRS = 400
