"""Logs customers in and sends them where they wanted to go."""

from urllib.parse import urlsplit

from shop.session import Session


def login(session: Session, name: str, password: str, next_page: str) -> str:
    """Starts a session and returns the page to redirect to."""
    if not session.customers.check(name, password):
        return "/login?failed=1"
    session.start(name)
    return redirect_target(next_page)


def redirect_target(next_page: str) -> str:
    """The page after the login: a path of the shop, never another host."""
    parts = urlsplit(next_page)
    return parts.path or "/"
