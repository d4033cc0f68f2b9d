"""Orders: what was asked for, and for which day."""

from datetime import date, timedelta

from oven import OVEN_SIZE, batches
from prices import discounted, price_of

CLOSED = {6}  # Sunday


class OrderError(ValueError):
    """An order that cannot be accepted."""


class Order:
    """A number of one product for a day."""

    def __init__(self, product, count, day):
        self.product = product
        self.count = count
        self.day = day

    def total(self, discount=0):
        """The price of the order in cents."""
        return discounted(self.count * price_of(self.product), discount)


def next_open_day(day):
    """The day itself, or the next one on which the bakery is open."""
    while day.weekday() in CLOSED:
        day += timedelta(days=1)
    return day


def accept(product, count, day, today):
    """Accepts an order, or says why not."""
    if count < 1:
        raise OrderError(f"{count} is no number of loaves; order at least 1")
    if day <= today:
        raise OrderError(f"{day} is too late; order until the evening before")
    if day.weekday() in CLOSED:
        open_day = next_open_day(day)
        raise OrderError(f"{day} is a day on which we are closed; {open_day} is open")
    return Order(product, count, day)


def plan(orders, day):
    """The batches that the oven bakes on a day, rye first."""
    counts = {}
    for order in orders:
        if order.day == day:
            counts[order.product] = counts.get(order.product, 0) + order.count
    breads = sorted(counts, key=lambda product: (product != "rye", product))
    return [(bread, batches(counts[bread], OVEN_SIZE)) for bread in breads]


def revenue(orders, first, last, discount=0):
    """What the orders from the first to the last day bring, in cents."""
    within = [order for order in orders if first <= order.day <= last]
    return sum(order.total(discount) for order in within)
