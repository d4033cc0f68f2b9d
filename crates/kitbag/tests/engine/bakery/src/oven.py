"""The oven: how many batches a number of loaves takes."""

OVEN_SIZE = 24
PROOFING_MINUTES = 120
PROOFING_DEGREES = 26


def batches(loaves, size=OVEN_SIZE):
    """The sizes of the batches: full ones first, the rest last."""
    full, rest = divmod(loaves, size)
    return [size] * full + ([rest] if rest else [])


def baking_minutes(bread):
    """How long a bread is in the oven."""
    return {"rye": 60, "wheat": 40, "spelt": 45, "brioche": 25}.get(bread, 45)


def schedule(plan, start):
    """When each batch goes in, in minutes after `start`."""
    times, at = [], start + PROOFING_MINUTES
    for bread, sizes in plan:
        for size in sizes:
            times.append((at, bread, size))
            at += baking_minutes(bread)
    return times
