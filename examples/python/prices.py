"""The price feed: every symbol's price twice a second. Prices have no number and are not kept: the newest counts, and one that is lost is replaced."""
import json

import grpc

from connect import why
from market import STARTS, price
from store import now, text
from svc.v1 import foreign_pb2

EVERY_S = 0.5


def publish_prices(platform, stop, say):
    while not stop.is_set():
        try:
            for receipt in platform.foreign.Publish(marks(stop), metadata=platform.metadata):
                if not receipt.accepted:
                    say(f"REFUSED price: {receipt.code} {receipt.reason}")
        except grpc.RpcError as error:
            say(f"the price feed broke off: {why(error)}")
            stop.wait(0.5)


def marks(stop):
    while not stop.is_set():
        for symbol in STARTS:
            mid = price(symbol)
            mark = {"symbol": symbol, "price": text(mid), "source": "example", "at": now()}
            yield foreign_pb2.ForeignEvent(subject="svc.v1.market.marks", payload_json=json.dumps(mark))
        stop.wait(EVERY_S)
