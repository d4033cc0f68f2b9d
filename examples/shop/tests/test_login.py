from shop.customers import Customers
from shop.login import login, redirect_target
from shop.session import Session


def test_login_redirects_to_the_next_page():
    customers = Customers()
    customers.add("ann", "rye")
    session = Session(customers)
    assert login(session, "ann", "rye", "/orders") == "/orders"


def test_redirect_stays_in_the_shop():
    assert redirect_target("https://elsewhere.example/orders") == "/orders"
