"""Our own books, in one SQLite file: orders, positions, cash, and the outbox.

Whatever changes the books writes the event that tells of it, with its number, in the same transaction. So after a crash nothing has happened that is
not going to be told, and nothing is told that has not happened.
"""
import contextlib
import datetime
import json
import sqlite3
import uuid
from decimal import Decimal

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS orders (
  order_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL, fund_id TEXT NOT NULL, strategy_id TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL,
  quantity TEXT NOT NULL, order_type TEXT NOT NULL, limit_price TEXT, reduce_only INTEGER NOT NULL, state TEXT NOT NULL, filled TEXT NOT NULL DEFAULT '0',
  halt_epoch INTEGER, valid_until TEXT, code TEXT NOT NULL DEFAULT '', reached_venue INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS outbox (
  place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, fund_id TEXT NOT NULL, kind TEXT NOT NULL, sequence INTEGER NOT NULL,
  subject TEXT NOT NULL, payload TEXT NOT NULL, answered INTEGER NOT NULL DEFAULT 0, refusal TEXT NOT NULL DEFAULT '', UNIQUE (fund_id, kind, sequence));
CREATE INDEX IF NOT EXISTS unanswered ON outbox (place) WHERE answered = 0;
CREATE TABLE IF NOT EXISTS numbers (fund_id TEXT, kind TEXT, last INTEGER NOT NULL, PRIMARY KEY (fund_id, kind));
CREATE TABLE IF NOT EXISTS positions (fund_id TEXT, symbol TEXT, quantity TEXT NOT NULL, PRIMARY KEY (fund_id, symbol));
CREATE TABLE IF NOT EXISTS cash (fund_id TEXT PRIMARY KEY, amount TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

OPEN = ("ROUTED", "WORKING", "PARTIALLY_FILLED", "CANCEL_PENDING", "UNKNOWN")


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def text(number):
    """A decimal as the platform wants it: digits and a point, never an exponent."""
    return format(number, "f")


class Store:
    """One connection; every thread opens its own."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=30, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.executescript(SCHEMA)
        self.db.execute("PRAGMA synchronous = FULL")

    @contextlib.contextmanager
    def transaction(self):
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def orders(self, *states):
        marks = ",".join("?" * len(states))
        return self.rows(f"SELECT * FROM orders WHERE state IN ({marks}) ORDER BY rowid", *states)

    def order(self, order_id):
        found = self.rows("SELECT * FROM orders WHERE order_id = ?", order_id)
        return found[0] if found else None

    def cursor(self, name, default=""):
        found = self.rows("SELECT value FROM cursors WHERE name = ?", name)
        return found[0]["value"] if found else default

    def move_cursor(self, name, value):
        self.db.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (name, str(value)))

    def publish(self, kind, subject, payload):
        """Puts an event into the outbox under the next number of its fund and kind. Only inside a transaction."""
        fund_id = payload["fund_id"]
        self.db.execute("INSERT INTO numbers VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET last = last + 1", (fund_id, kind))
        sequence = self.rows("SELECT last FROM numbers WHERE fund_id = ? AND kind = ?", fund_id, kind)[0]["last"]
        self.db.execute(
            "INSERT INTO outbox (id, fund_id, kind, sequence, subject, payload) VALUES (?, ?, ?, ?, ?, ?)",
            (str(uuid.uuid4()), fund_id, kind, sequence, subject, json.dumps({**payload, "sequence": sequence})),
        )

    def unanswered(self, after=0, count_max=100):
        return self.rows("SELECT * FROM outbox WHERE answered = 0 AND place > ? ORDER BY place LIMIT ?", after, count_max)

    def position(self, fund_id, symbol):
        found = self.rows("SELECT quantity FROM positions WHERE fund_id = ? AND symbol = ?", fund_id, symbol)
        return Decimal(found[0]["quantity"]) if found else Decimal(0)

    def cash(self, fund_id):
        return Decimal(self.rows("SELECT amount FROM cash WHERE fund_id = ?", fund_id)[0]["amount"])
