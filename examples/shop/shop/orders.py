"""Orders and what they cost, in cents."""

SHIPPING = 490
FREE_FROM = 5_000


def total(prices: list[int]) -> int:
    goods = sum(prices)
    return goods if goods >= FREE_FROM else goods + SHIPPING
