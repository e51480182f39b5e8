// The sixty-fifth step: entries of the audit log are found by their fund and when they were recorded.
//
//  1. An index and nothing else: whoever verifies believes the bytes. The fund is the first that the text names; ids need no escapes, and a quote inside of a
//     text is one, so that nobody's words are taken for a name. Bytes are compared as bytes: a text that somebody damaged is indexed like any other.
//  2. What names no fund, and a halt of the firm, has an empty one: it concerns every fund.
//  3. Only actions that are in a fund's timeline are in it (services/operations/replay/timeline-kinds.ts has the same list; its test compares).
import type { Migration } from "../migrate.ts";

export const timelineActions = [
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
  "order.decided",
  "fill.created",
  "fill.busted",
  "stop.triggered",
  "stop.attempted",
  "stop.ended",
  "halt.latched",
  "halt.requested",
  "halt.lifted",
  "halt.step",
  "resume.requested",
  "resume.ended",
  "envelope.updated",
  "restriction.ended",
  "block.opened",
  "block.ended",
  "throttle.released",
  "strategy.changed",
  "ledger.booked",
  "ledger.rebuilt",
  "corporate_action.changed",
  "signal.received",
  "signal.refused",
  "signal.failed",
  "alarm.raised",
  "loss.unjudged",
  "reconcile.difference",
  "foreign.held",
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
] as const;

/** In the index's own words, or it is not used. */
export const inTimeline = `action in (${timelineActions.map((action) => `'${action}'`).join(", ")})`;

const sql = `
create function audit_entry_fund(action text, content bytea) returns text
language plpgsql immutable strict parallel safe set search_path = portcullis, pg_temp as $$
declare
  place integer;
  named bytea;
begin
  if action like 'halt.%' and position('"severity":"FIRM_HALT"'::bytea in content) > 0 then return ''; end if;
  place := position('"fund_id":"'::bytea in content);
  if place = 0 then return ''; end if;
  named := substring(content from place + 11 for 129);
  place := position('"'::bytea in named);
  if place = 0 then return ''; end if;
  return encode(substring(named from 1 for place - 1), 'escape');
end $$;
revoke all on function audit_entry_fund(text, bytea) from public;
grant execute on function audit_entry_fund(text, bytea) to portcullis_app;
create index audit_entry_timeline on audit_entry (audit_entry_fund(action, text), at_us, sequence, action) where ${inTimeline};
`;

export const timelineMigration: Migration = { number: 65, name: "timeline", sql };
