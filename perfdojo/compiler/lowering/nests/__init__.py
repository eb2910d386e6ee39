"""Loop nests that Snitch's data movers feed: found in the target IR, proved, scheduled, given registers."""
