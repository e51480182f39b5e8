"""Compares the numbers of our outbox with what the platform has heard, and sends again what it has not.

What was answered over gRPC is durable. What was acknowledged by NATS can be lost with its disk, and an outbox can be restored from an old copy: the numbers
show either, because the platform keeps the last one of each kind and names what is missing before it.
"""
from svc.v1 import riskengine_pb2


def compare(platform, store, funds, say):
    for fund_id in funds:
        request = riskengine_pb2.ForeignPositionRequest(fund_id=fund_id)
        position = platform.engine.GetForeignPosition(request, metadata=platform.metadata, timeout=5)
        for heard in position.positions:
            compare_kind(store, fund_id, heard, say)


def compare_kind(store, fund_id, heard, say):
    last = heard.last_sequence if heard.HasField("last_sequence") else 0
    missing = {number for part in heard.missing for number in numbers_of(part)}
    with store.transaction():
        ours = store.rows("SELECT last FROM numbers WHERE fund_id = ? AND kind = ?", fund_id, heard.kind)
        if last > (ours[0]["last"] if ours else 0):
            # Our books are older than what the platform heard of us: a number must never be used for two events, so go on after its last.
            say(f"the platform heard {heard.kind} up to {last}: going on after it")
            store.db.execute("INSERT OR REPLACE INTO numbers VALUES (?, ?, ?)", (fund_id, heard.kind, last))
        for number in sorted(missing):
            send_again(store, fund_id, heard.kind, number, say)
        # What was heard need not be kept any longer.
        lowest = min(missing, default=last + 1)
        store.db.execute("DELETE FROM outbox WHERE answered = 1 AND fund_id = ? AND kind = ? AND sequence < ?", (fund_id, heard.kind, lowest))


def send_again(store, fund_id, kind, number, say):
    found = store.rows("SELECT * FROM outbox WHERE fund_id = ? AND kind = ? AND sequence = ?", fund_id, kind, number)
    if not found:
        say(f"number {number} of our {kind} in {fund_id} is missing and not in the outbox: an operator must accept that (ctl riskengine blocks list)")
    elif found[0]["answered"]:
        say(f"number {number} of our {kind} in {fund_id} was not heard: sending it again")
        place = store.rows("SELECT MAX(place) + 1 AS next FROM outbox")[0]["next"]
        store.db.execute("UPDATE outbox SET answered = 0, place = ? WHERE id = ?", (place, found[0]["id"]))


def numbers_of(part):
    """ "7" or "9 to 12"; at most as many as an outbox would hold."""
    first, _, last = part.partition(" to ")
    return range(int(first), min(int(last or first), int(first) + 10_000) + 1)
