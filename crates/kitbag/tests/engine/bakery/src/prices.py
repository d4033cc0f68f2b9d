"""Prices in cents."""

PRICES = {"rye": 520, "wheat": 410, "spelt": 560, "brioche": 690, "bagel": 180}


def price_of(product):
    """The price of one piece; an unknown product is an error that names the known ones."""
    if product not in PRICES:
        known = ", ".join(sorted(PRICES))
        raise KeyError(f"{product} has no price; the products are {known}")
    return PRICES[product]


def discounted(cents, percent):
    """The sum after a discount, rounded down, and never below nothing."""
    return max(0, cents * (100 - percent) // 100)
