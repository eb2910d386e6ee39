"""Questions about bound programs: ranges, affine forms, dependences, footprints. Nothing here rewrites."""
