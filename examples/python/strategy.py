"""What the example trades: small market orders, and now and then a limit order below the market that rests there. Put your own strategy here."""
from decimal import Decimal

from market import STARTS, price
from store import text

REST_EVERY = 5


def next_order(number, rests=None):
    symbol = list(STARTS)[number % len(STARTS)]
    rests = number % REST_EVERY == 0 if rests is None else rests
    limit = text((price(symbol) * Decimal("0.97")).quantize(Decimal("0.01"))) if rests else None
    return {"symbol": symbol, "side": "BUY", "quantity": str(2 + number % 7), "limit_price": limit}
