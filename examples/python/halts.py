"""Follows the platform's events with Events.TailEvents, and goes on after a restart where it had stopped."""
import queue

import grpc

from connect import why
from store import Store
from svc.v1 import events_pb2

SUBJECTS = ["svc.v1.operations.halt.>", "svc.v1.risk.approval.>"]


def follow(platform, path, stop, heard, say):
    """Puts every page into `heard`. Whoever has acted on it moves the cursor, so that what was heard and not done is heard again."""
    store = Store(path)
    while not stop.is_set():
        requests = queue.SimpleQueue()
        requests.put(events_pb2.TailEventsRequest(subjects=SUBJECTS, after=store.cursor("events")))
        try:
            for page in platform.events.TailEvents(iter(requests.get, None), metadata=platform.metadata):
                heard.put(page)
                requests.put(events_pb2.TailEventsRequest(subjects=SUBJECTS, after=page.after))
        except grpc.RpcError as error:
            say(f"following events broke off: {why(error)}")
            stop.wait(0.5)
        finally:
            requests.put(None)
