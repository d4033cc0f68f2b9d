"""Customers and their passwords."""

import hashlib
import hmac


class Customers:
    def __init__(self) -> None:
        self._hashes: dict[str, bytes] = {}

    def add(self, name: str, password: str) -> None:
        self._hashes[name] = _hash(password)

    def check(self, name: str, password: str) -> bool:
        known = self._hashes.get(name, b"")
        return hmac.compare_digest(known, _hash(password))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
