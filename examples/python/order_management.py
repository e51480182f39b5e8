"""The order management: check, compare the epoch, send, report. Where an order stands is in the books alone, so a restart simply goes on.

  PENDING_CHECK  written down, the risk engine has not answered yet
  ACCEPTED       approved, not sent
  ROUTED         about to be sent or sent: the venue is asked which
  WORKING, PARTIALLY_FILLED, CANCEL_PENDING    with the venue
  FILLED, CANCELLED, REJECTED                  over
"""
import uuid
from decimal import Decimal

import grpc

from connect import may_retry, why
from store import OPEN, now, text
from svc.v1 import halt_pb2, order_pb2, riskengine_pb2
from venue_client import VenueAway

BROKER = "house"
SUBJECTS = {"ACCEPTED": "accepted", "REJECTED": "rejected", "CANCELLED": "cancelled", "EXPIRED": "expired"}
OVER = ("FILLED", "CANCELLED", "REJECTED", "EXPIRED")


class OrderManagement:
    def __init__(self, platform, store, venue, say):
        self.platform, self.store, self.venue, self.say = platform, store, venue, say

    def place(self, fund_id, strategy_id, symbol, side, quantity, limit_price=None, reduce_only=False):
        """Writes the order down. Everything else happens in `work`, also after a crash."""
        order = {
            "order_id": str(uuid.uuid4()),
            "idempotency_key": str(uuid.uuid4()),
            "fund_id": fund_id,
            "strategy_id": strategy_id,
            "symbol": symbol,
            "side": side,
            "quantity": quantity,
            "order_type": "MARKET" if limit_price is None else "LIMIT",
            "limit_price": limit_price,
            "reduce_only": int(reduce_only),
        }
        names, marks = ",".join(order), ",".join("?" * len(order))
        with self.store.transaction():
            self.store.db.execute(f"INSERT INTO orders ({names}, state) VALUES ({marks}, 'PENDING_CHECK')", tuple(order.values()))
            self.store.publish("orders", "svc.v1.oms.orders.created", announced(order))
        return order["order_id"]

    def work(self):
        """One round: what came from the venue first, then every order that can take a step."""
        try:
            self.book_reports()
            for order in self.store.orders("PENDING_CHECK"):
                self.check(order)
            for order in self.store.orders("ACCEPTED"):
                self.send(order)
            for order in self.store.orders("ROUTED"):
                self.find_out(order)
        except VenueAway as error:
            self.say(f"the venue does not answer: {error}")
        except grpc.RpcError as error:
            self.say(f"the platform does not answer, nothing new is sent: {why(error)}")

    # 1. Check.

    def check(self, order):
        request = order_pb2.Order(**asked(order))
        try:
            decision = self.platform.engine.CheckOrder(request, metadata=self.platform.metadata, timeout=3)
        except grpc.RpcError as error:
            if may_retry(error):
                # Decided or not, nobody knows: the same key and the same order are asked again in the next round.
                raise
            return self.move(order, "REJECTED", code=error.code().name, reason=why(error))
        if decision.code == "DUPLICATE_KEY" and decision.HasField("original"):
            # We asked before, and the answer was lost: that one counts.
            decision = decision.original
        if not decision.approved:
            self.say(f"DENIED {order['side']} {order['quantity']} {order['symbol']}: {decision.code} {decision.reason}")
            return self.move(order, "REJECTED", code=decision.code, reason=decision.reason)
        self.move(order, "ACCEPTED", halt_epoch=decision.halt_epoch, valid_until=decision.valid_until)

    # 2. Compare the epoch. 3. Send.

    def send(self, order):
        if now() >= order["valid_until"]:
            return self.release(order, "The approval ran out before the order was sent.")
        status = self.halt_status(order)
        if not status.known:
            # Not known counts as halted: nothing is sent. The approval runs out by itself.
            return None
        if any(halt.epoch > order["halt_epoch"] for halt in status.halts):
            # Also a marked exit: place it again, and the engine says whether it may pass this halt.
            return self.release(order, "A halt is newer than the approval.")
        # Reported before it is sent: an order that may be with the venue keeps its room.
        self.move(order, "ROUTED")
        terms = {name: order[name] for name in ("order_id", "symbol", "side", "quantity", "limit_price")}
        self.venue.ask(do="submit", **terms)
        self.move(order, "WORKING", broker_order_id=order["order_id"])

    def find_out(self, order):
        """We stopped, or the venue did, between ROUTED and WORKING. A cancel of what never came makes sure that it never comes."""
        if self.venue.ask(do="order", order_id=order["order_id"])["known"]:
            self.move(order, "WORKING", broker_order_id=order["order_id"])
        else:
            self.venue.ask(do="cancel", order_id=order["order_id"])
            self.move(order, "CANCELLED", reason="It never reached the venue.")

    def release(self, order, reason):
        request = riskengine_pb2.ReleaseApprovalRequest(order_id=order["order_id"], reason=reason)
        try:
            self.platform.engine.ReleaseApproval(request, metadata=self.platform.metadata, timeout=3)
        except grpc.RpcError as error:
            if may_retry(error):
                raise
            # It has run out or was released already, which is as good.
            self.say(f"not released: {why(error)}")
        self.move(order, "CANCELLED", reason=reason)

    # 4. Report.

    def book_reports(self):
        """Each report is booked in one transaction with its number and the events that tell of it: twice is impossible, never too."""
        while True:
            after = int(self.store.cursor("venue", "0"))
            reports = self.venue.ask(do="reports", after=after)["reports"]
            for report in reports:
                with self.store.transaction():
                    self.book(report)
                    self.store.move_cursor("venue", report["number"])
            if not reports:
                return

    def book(self, report):
        order = self.store.order(report["order_id"])
        if report["kind"] == "FILL":
            self.book_fill(order, report)
        elif order["state"] not in OVER:
            self.note(order, report["state"], filled=order["filled"])

    def book_fill(self, order, report):
        quantity, paid = Decimal(report["quantity"]), Decimal(report["price"])
        sign = 1 if order["side"] in ("BUY", "BUY_TO_COVER") else -1
        fund_id, symbol = order["fund_id"], order["symbol"]
        position = self.store.position(fund_id, symbol) + sign * quantity
        cash = self.store.cash(fund_id) - sign * quantity * paid
        self.store.db.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", (fund_id, symbol, text(position)))
        self.store.db.execute("UPDATE cash SET amount = ? WHERE fund_id = ?", (text(cash), fund_id))
        fill = {name: order[name] for name in ("order_id", "fund_id", "strategy_id", "symbol", "side")}
        fill.update(fill_id=report["fill_id"], quantity=report["quantity"], price=report["price"], broker=BROKER, currency="USD", filled_at=now())
        self.store.publish("fills", "svc.v1.oms.fills.created", fill)
        filled = Decimal(order["filled"]) + quantity
        if order["state"] == "CANCEL_PENDING":
            self.store.db.execute("UPDATE orders SET filled = ? WHERE order_id = ?", (text(filled), order["order_id"]))
        else:
            self.note(order, "PARTIALLY_FILLED", filled=text(filled))

    # Halts.

    def obey_halts(self):
        """Cancels what a halt covers. Called when one was heard of, at the start, and when events were missed: it reads what is in force by itself."""
        for order in self.store.orders(*OPEN):
            if order["state"] == "CANCEL_PENDING" or order["reduce_only"] or not self.halt_status(order).halted:
                continue
            self.move(order, "CANCEL_PENDING", reason="A halt covers it.")
        for order in self.store.orders("CANCEL_PENDING"):
            self.venue.ask(do="cancel", order_id=order["order_id"])

    def halt_status(self, order):
        request = halt_pb2.HaltStatusRequest(fund_id=order["fund_id"], strategy_id=order["strategy_id"])
        return self.platform.engine.GetHaltStatus(request, metadata=self.platform.metadata, timeout=3)

    # The books.

    def move(self, order, to, **more):
        with self.store.transaction():
            self.note(self.store.order(order["order_id"]), to, **more)

    def note(self, order, to, filled=None, halt_epoch=None, valid_until=None, code="", reason="", broker_order_id=""):
        """The order's new state and the event that tells of it."""
        filled = order["filled"] if filled is None else filled
        remaining = "0" if to in OVER else text(Decimal(order["quantity"]) - Decimal(filled))
        self.store.db.execute(
            "UPDATE orders SET state = ?, filled = ?, code = ?, halt_epoch = COALESCE(?, halt_epoch), valid_until = COALESCE(?, valid_until),"
            " reached_venue = reached_venue OR ? WHERE order_id = ?",
            (to, filled, code, halt_epoch, valid_until, to == "WORKING", order["order_id"]),
        )
        event = {name: order[name] for name in ("order_id", "fund_id", "strategy_id", "symbol")}
        event.update({"from": order["state"], "to": to, "filled_quantity": filled, "remaining_quantity": remaining, "at": now()})
        event.update({name: value for name, value in {"code": code, "reason": reason, "broker_order_id": broker_order_id}.items() if value})
        self.store.publish("orders", "svc.v1.oms.orders." + SUBJECTS.get(to, "updated"), event)


def asked(order):
    """The order as the risk engine is asked about it; the same row gives the same order, however often."""
    fields = ("order_id", "idempotency_key", "fund_id", "strategy_id", "symbol", "side", "quantity", "order_type", "limit_price")
    known = {name: order[name] for name in fields if order[name] is not None}
    return {**known, "reduce_only": bool(order["reduce_only"]), "tif": "DAY", "broker": BROKER, "asset_class": "EQUITY", "actor": "example-desk"}


announced = asked
