// What a fund's timeline tells, and by which entries of the audit log. What a watchdog says is a restriction where it keeps something from being done,
// and an alarm otherwise.

export const timelineKinds = [
  "order",
  "decision",
  "fill",
  "stop",
  "halt",
  "envelope",
  "restriction",
  "strategy",
  "ledger",
  "signal",
  "news",
  "alarm",
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

const watchdogs = [
  "watchdog.health",
  "watchdog.drift",
  "watchdog.vpin",
  "watchdog.news",
  "watchdog.position",
  "watchdog.db",
  "watchdog.strategy",
  "watchdog.theta",
  "watchdog.dependency",
  "watchdog.vol_dd",
];

/** News are no entries, and neither is what strategies say. */
export const actionsOf: Readonly<Record<TimelineKind, readonly string[]>> = {
  order: [
    "order.created",
    "order.accepted",
    "order.rejected",
    "order.updated",
    "order.cancelled",
    "order.expired",
    "approval.expired",
    "approval.released",
    "approval.sent",
    "approval.ended",
  ],
  decision: ["order.decided"],
  fill: ["fill.created", "fill.busted"],
  stop: ["stop.triggered", "stop.attempted", "stop.ended"],
  halt: ["halt.latched", "halt.requested", "halt.lifted", "halt.step", "resume.requested", "resume.ended"],
  envelope: ["envelope.updated"],
  restriction: ["restriction.ended", "block.opened", "block.ended", "throttle.released", ...watchdogs],
  strategy: ["strategy.changed"],
  ledger: ["ledger.booked", "ledger.rebuilt", "corporate_action.changed"],
  signal: ["signal.received", "signal.refused", "signal.failed"],
  news: [],
  alarm: ["alarm.raised", "loss.unjudged", "reconcile.difference", "foreign.held", ...watchdogs],
};

const kinds: ReadonlyMap<string, TimelineKind> = new Map(
  timelineKinds.flatMap((kind) => actionsOf[kind].map((action) => [action, kind] as const)),
);

export function kindOf(action: string, payload: Readonly<Record<string, unknown>>): TimelineKind | undefined {
  if (!action.startsWith("watchdog.")) return kinds.get(action);
  const { restriction_ids: ids } = payload;
  return Array.isArray(ids) && ids.length > 0 ? "restriction" : "alarm";
}
