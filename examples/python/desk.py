"""A small order management, price feed and treasury of somebody else's, on the platform's gRPC ports.

  python3 venue.py --folder books &
  python3 desk.py --folder books --orders 200

It places that many orders, counted in its books, so that it may be killed and started again, and goes on pricing and valuing until it is stopped.
With --until-done it cancels what still rests, waits until everything is reported, and ends. --status prints the books as JSON.
"""
import argparse
import json
import pathlib
import queue
import signal
import sys
import threading
import time

import grpc

from connect import Platform, why
import halts
import numbers_heard
import prices
import publisher
import recover
import treasury
from order_management import OrderManagement
from store import OPEN, Store
from strategy import next_order
from venue_client import VenueAway, VenueClient

COMPARE_EVERY_S = 5


def say(line):
    print(line, file=sys.stderr, flush=True)


class Desk:
    def __init__(self, options):
        self.options, self.stop, self.heard = options, threading.Event(), queue.SimpleQueue()
        self.path = str(pathlib.Path(options.folder) / "desk.db")
        self.store, self.platform = Store(self.path), Platform()
        venue = VenueClient(pathlib.Path(options.folder) / "venue.sock")
        self.orders = OrderManagement(self.platform, self.store, venue, say)
        with self.store.transaction():
            self.store.db.execute("INSERT OR IGNORE INTO cash VALUES (?, ?)", (options.fund, options.capital))

    def start(self, *work):
        threading.Thread(target=work[0], args=work[1:], daemon=True).start()

    def run(self):
        parts, platform, stop = self.options.parts.split(","), self.platform, self.stop
        self.start(publisher.publish_outbox, platform, self.path, stop, say)
        if "prices" in parts:
            self.start(prices.publish_prices, platform, stop, say)
        if "treasury" in parts:
            self.start(treasury.publish_values, self.path, [self.options.fund], stop)
        if "orders" in parts:
            self.start(halts.follow, platform, self.path, stop, self.heard, say)
            self.trade()
        stop.wait()

    def trade(self):
        self.until_answered(lambda: recover.recover(self.platform, self.store, self.orders, [self.options.fund], say))
        compared = next_at = time.monotonic()
        while not self.stop.is_set():
            self.listen()
            if time.monotonic() >= next_at and self.sent() < self.options.orders:
                next_at = time.monotonic() + self.place() / 1000
            self.orders.work()
            if time.monotonic() > compared + COMPARE_EVERY_S:
                compared = time.monotonic()
                self.tried(lambda: numbers_heard.compare(self.platform, self.store, [self.options.fund], say))
            if self.options.until_done and self.is_done():
                say("done")
                return self.stop.set()
            self.stop.wait(0.01)

    def place(self):
        """Waits a second after a denial: what denies one order usually denies the next."""
        terms = next_order(self.sent(), self.options.rest or None)
        order_id = self.orders.place(self.options.fund, self.options.strategy, **terms)
        self.orders.work()
        return 1000 if self.store.order(order_id)["state"] == "REJECTED" else self.options.every_ms

    def sent(self):
        """Orders that reached the venue, and those on their way."""
        reached = "reached_venue OR state IN ('PENDING_CHECK', 'ACCEPTED', 'ROUTED')"
        return self.store.rows(f"SELECT COUNT(*) AS n FROM orders WHERE {reached}")[0]["n"]

    def listen(self):
        """A halt is obeyed before the cursor moves behind it."""
        while not self.heard.empty():
            page = self.heard.get()
            for event in page.events:
                say(f"heard {event.subject}")
            # Also when a page is empty, which comes every few seconds: a halt before the first page is seen then.
            self.until_answered(self.orders.obey_halts)
            with self.store.transaction():
                self.store.move_cursor("events", page.after)

    def is_done(self):
        if self.sent() < self.options.orders or self.store.orders("PENDING_CHECK", "ACCEPTED", "ROUTED"):
            return False
        for order in self.store.orders("WORKING", "PARTIALLY_FILLED"):
            if order["order_type"] == "LIMIT":
                self.orders.move(order, "CANCEL_PENDING", reason="No longer wanted.")
                self.orders.venue.ask(do="cancel", order_id=order["order_id"])
        waiting = self.store.rows("SELECT 1 FROM outbox WHERE answered = 0 AND kind <> 'values' LIMIT 1")
        return not self.store.orders(*OPEN) and not waiting

    def tried(self, work):
        try:
            work()
            return True
        except grpc.RpcError as error:
            say(f"the platform does not answer: {why(error)}")
        except VenueAway as error:
            say(f"the venue does not answer: {error}")
        return False

    def until_answered(self, work):
        while not self.stop.is_set() and not self.tried(work):
            self.stop.wait(0.5)


def status(path):
    store = Store(path)
    orders = {row["state"]: row["n"] for row in store.rows("SELECT state, COUNT(*) AS n FROM orders GROUP BY state")}
    positions = {row["symbol"]: row["quantity"] for row in store.rows("SELECT * FROM positions ORDER BY symbol")}
    numbers = {row["kind"]: row["last"] for row in store.rows("SELECT * FROM numbers ORDER BY kind")}
    waiting = store.rows("SELECT COUNT(*) AS n FROM outbox WHERE answered = 0 AND kind <> 'values'")[0]["n"]
    refused = [row["refusal"] for row in store.rows("SELECT refusal FROM outbox WHERE refusal <> ''")]
    return {"orders": orders, "positions": positions, "numbers": numbers, "waiting": waiting, "refused": refused}


def parsed():
    parser = argparse.ArgumentParser(description="An example desk of somebody else's.")
    parser.add_argument("--folder", default="books")
    parser.add_argument("--fund", default="harbor")
    parser.add_argument("--strategy", default="harbor-core")
    parser.add_argument("--capital", default="10000000", help="the fund's cash, when the books are new")
    parser.add_argument("--orders", type=int, default=0, help="how many to send in all")
    parser.add_argument("--every-ms", type=int, default=50)
    parser.add_argument("--rest", action="store_true", help="only orders that rest at the venue")
    parser.add_argument("--parts", default="orders,treasury,prices")
    parser.add_argument("--until-done", action="store_true")
    parser.add_argument("--status", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    if options.status:
        print(json.dumps(status(str(pathlib.Path(options.folder) / "desk.db")), indent=2))
    else:
        desk = Desk(options)
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: desk.stop.set())
        desk.run()
