"""Sessions of customers."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shop.customers import Customers

LIFETIME = timedelta(hours=8)


@dataclass
class Session:
    """A customer at work; without a name, somebody who looks around."""

    customers: Customers
    name: str = ""
    started: datetime | None = None
    basket: list[str] = field(default_factory=list)

    def start(self, name: str) -> None:
        self.name = name
        self.started = datetime.now()

    def is_over(self, now: datetime) -> bool:
        return self.started is None or now - self.started > LIFETIME
