"""Sends the outbox over ForeignEvents.Publish and notes what was answered.

An event is sent until it is answered; after a stream that broke everything that was not answered is sent again, in order, under the same ids. The platform
takes the same id once.
"""
import threading
import time

import grpc

from connect import why
from svc.v1 import foreign_pb2
from store import Store

PAUSE_S = 0.05


def publish_outbox(platform, path, stop, say):
    store = Store(path)
    while not stop.is_set():
        broken = threading.Event()
        try:
            # The requests are read in a thread of grpc's own, the receipts here.
            for receipt in platform.foreign.Publish(unanswered(path, stop, broken), metadata=platform.metadata):
                note(store, receipt, say)
        except grpc.RpcError as error:
            say(f"publishing broke off: {why(error)}")
            stop.wait(0.5)
        finally:
            broken.set()


def unanswered(path, stop, broken):
    """Everything that is not answered, in order, and then what comes."""
    store, place = Store(path), 0
    while not (stop.is_set() or broken.is_set()):
        found = store.unanswered(after=place)
        for row in found:
            place = row["place"]
            yield foreign_pb2.ForeignEvent(id=row["id"], subject=row["subject"], payload_json=row["payload"])
        if not found:
            time.sleep(PAUSE_S)


def note(store, receipt, say):
    with store.transaction():
        refusal = "" if receipt.accepted else f"{receipt.code} {receipt.reason}"
        store.db.execute("UPDATE outbox SET answered = 1, refusal = ? WHERE id = ?", (refusal, receipt.id))
    if not receipt.accepted:
        # A mistake of ours: it was not booked, and sending it again does not help. Somebody must look at it.
        say(f"REFUSED {receipt.id}: {receipt.code} {receipt.reason}")
