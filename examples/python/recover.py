"""What to do at the start, before anything new: compare our books with what the risk engine holds for us and with the venue.

The books themselves survive a crash; this finds what an older copy of them, or none, does not know.
"""
import grpc

from connect import may_retry, why
import numbers_heard
from svc.v1 import riskengine_pb2


def recover(platform, store, orders, funds, say):
    numbers_heard.compare(platform, store, funds, say)
    for fund_id in funds:
        for approval in held(platform, fund_id):
            settle(platform, store, orders, approval, say)
    orders.obey_halts()


def held(platform, fund_id):
    """Everything that the risk engine keeps room for under our name, page by page."""
    after = None
    while True:
        request = riskengine_pb2.ListApprovalsRequest(fund_id=fund_id, count_max=1000, after_approval=after)
        page = platform.engine.ListApprovals(request, metadata=platform.metadata, timeout=10).approvals
        yield from page
        if len(page) < 1000:
            return
        after = f"{page[-1].valid_until}/{page[-1].order_id}"


def settle(platform, store, orders, approval, say):
    if store.order(approval.order_id) is not None:
        # `work` goes on with it, or it is over and its last event stands in the outbox.
        return
    say(f"the risk engine holds {approval.reserved_quantity} {approval.symbol} for {approval.order_id}, which our books do not know")
    if orders.venue.ask(do="order", order_id=approval.order_id)["known"]:
        say(f"{approval.order_id} is with the venue: restore your books, it is not released")
        return
    orders.venue.ask(do="cancel", order_id=approval.order_id)
    request = riskengine_pb2.ReleaseApprovalRequest(order_id=approval.order_id, reason="Not in our books, not with the venue.")
    try:
        platform.engine.ReleaseApproval(request, metadata=platform.metadata, timeout=3)
    except grpc.RpcError as error:
        if may_retry(error):
            raise
        say(f"not released: {why(error)}")
