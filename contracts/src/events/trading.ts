// Order management, treasury and research, or foreign systems in their place. One entry an event: subject, payload, order, publishers and what the audit log says of it.

import { corporateActionChanged } from "../records/corporate-action.ts";
import {
  ledgerBooked,
  ledgerRebuilt,
  navUpdated,
  paperFaults,
  seedImported,
  strategyChanged,
} from "../records/fund.ts";
import { fill, fillBusted, orderCreated, orderTransition } from "../records/order.ts";
import { referenceChanged, referenceRequested } from "../records/reference.ts";
import { signalFailed, signalReceived, signalRefused } from "../records/signal.ts";
import { byFund, byOrder, event } from "./event.ts";

/** Whoever holds a fund's secret: what else an alert says of its sender is a claim. */
const webhook = (of: { readonly source: string }): string => `webhook:${of.source}`;

export const tradingEvents = {
  // An order's `actor` is free text of whoever wants it: the record says who published it.
  ordersCreated: event({
    subject: "svc.v1.oms.orders.created",
    schema: orderCreated,
    key: byOrder,
    sentence: "An order was taken in; nothing was decided yet.",
    publishers: ["oms"],
    audit: { action: "order.created", about: byOrder },
  }),
  ordersAccepted: event({
    subject: "svc.v1.oms.orders.accepted",
    schema: orderTransition,
    key: byOrder,
    sentence: "An order passed its check and may be routed.",
    publishers: ["oms"],
    audit: { action: "order.accepted", about: byOrder },
  }),
  ordersRejected: event({
    subject: "svc.v1.oms.orders.rejected",
    schema: orderTransition,
    key: byOrder,
    sentence: "An order was refused, by us or by the broker.",
    publishers: ["oms"],
    audit: { action: "order.rejected", about: byOrder },
  }),
  ordersUpdated: event({
    subject: "svc.v1.oms.orders.updated",
    schema: orderTransition,
    key: byOrder,
    sentence: "An order moved on: routed, working, filled, unknown or amended.",
    publishers: ["oms"],
    audit: { action: "order.updated", about: byOrder },
  }),
  ordersCancelled: event({
    subject: "svc.v1.oms.orders.cancelled",
    schema: orderTransition,
    key: byOrder,
    sentence: "An order was cancelled; what had filled stays filled.",
    publishers: ["oms"],
    audit: { action: "order.cancelled", about: byOrder },
  }),
  ordersExpired: event({
    subject: "svc.v1.oms.orders.expired",
    schema: orderTransition,
    key: byOrder,
    sentence: "An order's time in force ran out.",
    publishers: ["oms"],
    audit: { action: "order.expired", about: byOrder },
  }),
  fillsCreated: event({
    subject: "svc.v1.oms.fills.created",
    schema: fill,
    key: byOrder,
    sentence: "An order traded, in whole or in part.",
    publishers: ["oms"],
    audit: { action: "fill.created", about: byOrder },
  }),
  fillsBusted: event({
    subject: "svc.v1.oms.fills.busted",
    schema: fillBusted,
    key: byOrder,
    sentence: "A trade was taken back by whoever published its fill; a correction is this and a new fill.",
    publishers: ["oms"],
    audit: { action: "fill.busted", about: byOrder },
  }),
  signalReceived: event({
    subject: "svc.v1.oms.signals.received",
    schema: signalReceived,
    key: byFund,
    sentence: "An alert of the charting platform was accepted: it is stored, and becomes an order.",
    publishers: ["oms"],
    audit: { action: "signal.received", about: (of) => of.signal_id, by: webhook },
  }),
  signalRefused: event({
    subject: "svc.v1.oms.signals.refused",
    schema: signalRefused,
    key: (refused) => refused.fund_id ?? "strangers",
    sentence: "A request at the charting platform's webhook was refused.",
    publishers: ["oms"],
    audit: { action: "signal.refused", about: (of) => of.signal_id, by: webhook },
  }),
  signalFailed: event({
    subject: "svc.v1.oms.signals.failed",
    schema: signalFailed,
    key: byFund,
    sentence: "An accepted alert ended without an approval: its order was denied, or it became none.",
    publishers: ["oms"],
    audit: { action: "signal.failed", about: (of) => of.signal_id, by: webhook },
  }),
  paperFaults: event({
    subject: "svc.v1.oms.paper.weather",
    schema: paperFaults,
    key: () => "paper",
    sentence: "Somebody changed what the paper broker and the paper market suffer.",
    publishers: ["oms"],
    audit: { action: "paper.weather", about: () => "paper", by: (of) => of.set_by },
  }),
  ledgerBooked: event({
    subject: "svc.v1.treasury.ledger.booked",
    schema: ledgerBooked,
    key: byFund,
    sentence: "Cash moved that no fill moved: capital, a flow, a fee for borrowed shares.",
    publishers: ["treasury"],
    audit: { action: "ledger.booked", about: byFund, by: (of) => of.booked_by },
  }),
  ledgerRebuilt: event({
    subject: "svc.v1.treasury.ledger.rebuilt",
    schema: ledgerRebuilt,
    key: byFund,
    sentence: "What is kept of a fund's positions and cash was put right from its trades and entries.",
    publishers: ["treasury"],
    audit: { action: "ledger.rebuilt", about: byFund, by: (of) => of.rebuilt_by },
  }),
  corporateActionChanged: event({
    subject: "svc.v1.treasury.corporate_action.changed",
    schema: corporateActionChanged,
    key: (action) => action.symbol,
    sentence:
      "A split or a change of symbol was announced, applied, done or aborted; a dividend was declared, went ex or was paid.",
    publishers: ["oms", "treasury"],
    audit: { action: "corporate_action.changed", about: (of) => of.symbol, by: (of) => of.booked_by },
  }),
  strategyChanged: event({
    subject: "svc.v1.research.strategy.changed",
    schema: strategyChanged,
    key: (changed) => changed.strategy_id,
    sentence: "A strategy's status or allocation changed.",
    publishers: ["research"],
    audit: { action: "strategy.changed", about: (of) => of.strategy_id, by: (of) => of.changed_by },
  }),
  seedImported: event({
    subject: "svc.v1.treasury.seed.imported",
    schema: seedImported,
    key: (seed) => seed.name,
    sentence: "The paper platform's history was put in.",
    publishers: ["treasury"],
    audit: { action: "seed.imported", about: (of) => of.name, by: (of) => of.imported_by },
  }),
  navUpdated: event({
    subject: "svc.v1.treasury.nav.updated",
    schema: navUpdated,
    key: byFund,
    sentence: "A fund was valued.",
    publishers: ["treasury"],
    audit: { notAudited: "A valuation follows from fills and prices; what was decided on it stands in the decision." },
  }),
  referenceChanged: event({
    subject: "svc.v1.treasury.reference.changed",
    schema: referenceChanged,
    key: (changed) => changed.kind,
    sentence: "One kind of reference data got a new version.",
    publishers: ["operations", "oms", "treasury"],
    audit: { action: "reference.changed", about: (of) => `reference:${of.kind}`, by: (of) => of.set_by },
  }),
  referenceRequested: event({
    subject: "svc.v1.treasury.reference.requested",
    schema: referenceRequested,
    key: (requested) => requested.kind,
    sentence: "A change of reference data that loosens was asked for during a halt; a second person must sign.",
    publishers: ["operations", "treasury"],
    audit: { action: "reference.requested", about: (of) => `reference:${of.kind}`, by: (of) => of.requested_by },
  }),
};
