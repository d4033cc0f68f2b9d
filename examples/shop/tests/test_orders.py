from shop.orders import total


def test_small_orders_pay_for_shipping():
    assert total([1_000]) == 1_490
