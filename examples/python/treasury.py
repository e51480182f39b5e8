"""The treasury: the value of each fund once a second, from our own books. A fund whose value is older than 15 seconds takes no new risk."""
from decimal import Decimal

from market import price
from store import Store, now, text

EVERY_S = 1
# A value of a minute ago helps nobody: while the platform is away, wait instead of filling the outbox.
WAITING_MAX = 5


def publish_values(path, funds, stop):
    store = Store(path)
    while not stop.is_set():
        for fund_id in funds:
            waiting = store.rows("SELECT COUNT(*) AS n FROM outbox WHERE answered = 0 AND fund_id = ? AND kind = 'values'", fund_id)
            if waiting[0]["n"] < WAITING_MAX:
                value(store, fund_id)
        stop.wait(EVERY_S)


def value(store, fund_id):
    with store.transaction():
        held = store.rows("SELECT * FROM positions WHERE fund_id = ? AND quantity <> '0'", fund_id)
        at, prices, worth = now(), {}, Decimal(0)
        for row in held:
            mark = price(row["symbol"])
            prices[row["symbol"]] = {"quantity": row["quantity"], "price": text(mark), "at": at}
            worth += Decimal(row["quantity"]) * mark
        cash = store.cash(fund_id)
        store.publish(
            "values",
            "svc.v1.treasury.nav.updated",
            {
                "fund_id": fund_id,
                "nav": text(cash + worth),
                "currency": "USD",
                "as_of": at,
                "cash": text(cash),
                "positions_value": text(worth),
                "net_flows": "0",
                "oldest_price_age_ms": 0,
                "prices": prices,
            },
        )
