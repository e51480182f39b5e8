"""A simulated venue with books of its own, as a separate program: what it has on disk is what really happened.

  python3 venue.py --folder books            serves books/venue.sock until it is stopped
  python3 venue.py --folder books --books    prints its orders and positions as JSON

One JSON object per line in, one out. An order is known by the client's id: the same id twice is one order, and a cancel of an id that never came keeps it
from coming later. Every execution and every end is a numbered report that is kept, so a client that was away reads on after the last one it has booked.
"""
import argparse
import json
import pathlib
import socketserver
import sqlite3
import threading
import time
from decimal import Decimal

from market import price

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS orders (order_id TEXT PRIMARY KEY, symbol TEXT, side TEXT, quantity TEXT, limit_price TEXT, filled TEXT NOT NULL DEFAULT '0',
  state TEXT NOT NULL, since REAL NOT NULL);
CREATE TABLE IF NOT EXISTS reports (number INTEGER PRIMARY KEY AUTOINCREMENT, report TEXT NOT NULL);
"""
# A market order trades in two halves, the second one a moment later.
SECOND_HALF_S = 0.1


class Venue:
    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self.db.row_factory = sqlite3.Row
        self.db.executescript(SCHEMA)
        self.db.execute("PRAGMA synchronous = FULL")
        self.lock = threading.Lock()

    def answer(self, request):
        with self.lock:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                answer = getattr(self, "do_" + request.pop("do"))(**request)
            except BaseException:
                self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")
            return answer

    def do_submit(self, order_id, symbol, side, quantity, limit_price=None):
        if self.found(order_id) is None:
            values = (order_id, symbol, side, quantity, limit_price, "WORKING", time.time())
            self.db.execute("INSERT INTO orders (order_id, symbol, side, quantity, limit_price, state, since) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        return self.do_order(order_id)

    def do_cancel(self, order_id):
        found = self.found(order_id)
        if found is None:
            self.db.execute("INSERT INTO orders VALUES (?, NULL, NULL, '0', NULL, '0', 'CANCELLED', ?)", (order_id, time.time()))
        elif found["state"] == "WORKING":
            self.end(order_id, "CANCELLED")
        return self.do_order(order_id)

    def do_order(self, order_id):
        found = self.found(order_id)
        return {"known": found is not None, "state": found["state"] if found else None, "filled": found["filled"] if found else "0"}

    def do_reports(self, after):
        rows = self.db.execute("SELECT * FROM reports WHERE number > ? ORDER BY number LIMIT 100", (after,))
        return {"reports": [{"number": row["number"], **json.loads(row["report"])} for row in rows]}

    def do_match(self):
        for order in self.db.execute("SELECT * FROM orders WHERE state = 'WORKING'").fetchall():
            self.match(order)
        return {}

    def do_books(self):
        positions = {}
        for order in self.db.execute("SELECT * FROM orders WHERE filled <> '0'"):
            sign = 1 if order["side"] in ("BUY", "BUY_TO_COVER") else -1
            positions[order["symbol"]] = positions.get(order["symbol"], 0) + sign * Decimal(order["filled"])
        states = self.db.execute("SELECT state, COUNT(*) AS n FROM orders GROUP BY state")
        executions = self.db.execute("SELECT COUNT(*) FROM reports WHERE report LIKE '%\"FILL\"%'").fetchone()[0]
        held = {symbol: format(quantity, "f") for symbol, quantity in sorted(positions.items())}
        return {"orders": {row["state"]: row["n"] for row in states}, "executions": executions, "positions": held}

    def found(self, order_id):
        return self.db.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()

    def match(self, order):
        market, filled, quantity = price(order["symbol"]), Decimal(order["filled"]), Decimal(order["quantity"])
        if order["limit_price"] is not None:
            limit = Decimal(order["limit_price"])
            if limit < market if order["side"].startswith("BUY") else limit > market:
                return
        if filled > 0 and time.time() < order["since"] + SECOND_HALF_S:
            return
        part = quantity - filled if filled > 0 or quantity < 2 else quantity // 2
        self.execute(order, part, market)
        if filled + part == quantity:
            self.end(order["order_id"], "FILLED")

    def execute(self, order, part, market):
        filled = Decimal(order["filled"]) + part
        self.db.execute("UPDATE orders SET filled = ? WHERE order_id = ?", (format(filled, "f"), order["order_id"]))
        fill_id = f"{order['order_id']}/{format(filled, 'f')}"
        self.report({"kind": "FILL", "order_id": order["order_id"], "fill_id": fill_id, "quantity": format(part, "f"), "price": format(market, "f")})

    def end(self, order_id, state):
        self.db.execute("UPDATE orders SET state = ? WHERE order_id = ?", (state, order_id))
        self.report({"kind": "END", "order_id": order_id, "state": state})

    def report(self, report):
        self.db.execute("INSERT INTO reports (report) VALUES (?)", (json.dumps(report),))


def serve(venue, path):
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                self.wfile.write(json.dumps(venue.answer(json.loads(line))).encode() + b"\n")

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    def match():
        while True:
            venue.answer({"do": "match"})
            time.sleep(0.05)

    path.unlink(missing_ok=True)
    with Server(str(path), Handler) as server:
        threading.Thread(target=match, daemon=True).start()
        print(f"the venue listens on {path}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A simulated venue.")
    parser.add_argument("--folder", default="books")
    parser.add_argument("--books", action="store_true", help="print orders and positions, and end")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    books = Venue(folder / "venue.db")
    if options.books:
        print(json.dumps(books.answer({"do": "books"}), indent=2))
    else:
        serve(books, folder / "venue.sock")
