"""The example's market: a price is a function of the symbol and the moment. Put your own feed here."""
import math
import time
from decimal import Decimal

STARTS = {"ACME": Decimal("100"), "GLOBEX": Decimal("40")}


def price(symbol):
    swing = Decimal(round(50 * math.sin(time.time() / 20))) / 10_000
    return (STARTS[symbol] * (1 + swing)).quantize(Decimal("0.01"))
