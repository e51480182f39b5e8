// What must be true of the audit log: everything is in it, once, and nobody can change it unseen.
import { auditActions, ownActions } from "../../contracts/src/audit-actions.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { audited } from "../audited-subjects.ts";
import { auditBehindMs } from "../sim-settings.ts";
import { isLowered } from "./decisions.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const oneEntryPerChange: Invariant = {
  name: "one_entry_per_change",
  sentence:
    "Every message that tells of a change has one entry in the audit log when everything has been heard, and no entry tells of nothing, because a log with gaps or inventions proves nothing.",
  violated({ reported, settled, platform: { audit, tables, damage } }) {
    if (reported !== undefined || damage.sinceUs !== undefined) return undefined;
    if (audit.byEvent.size !== audit.rows.length) {
      return `${audit.rows.length} entries tell of ${audit.byEvent.size} events`;
    }
    if (!settled) return undefined;
    const ids = new Set(tables.log.filter(({ subject }) => audited.has(subject)).map(({ id }) => id));
    return (
      first(ids, (id) => (audit.byEvent.has(id) ? undefined : `the event ${id} has no entry`)) ??
      first(audit.rows, ({ eventId, action, sequence }) =>
        ids.has(eventId) || Object.hasOwn(ownActions, action) || isClients(eventId, action)
          ? undefined
          : `entry ${sequence} (${action}) tells of ${eventId}, which nobody published`,
      )
    );
  },
};

const actions: ReadonlySet<string> = new Set(
  Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : [])),
);

/** Clients append entries of their own, under names that are none of the platform's. */
function isClients(eventId: string, action: string): boolean {
  return /^rpc(-key)?\//.test(eventId) && !actions.has(action);
}

/** What the log may be behind or broken before nothing is approved, and how long an approval may take to be reported. */
const unnoticedUs = (auditBehindMs + 1_000) * 1_000;

export const noAuditNoNewRisk: Invariant = {
  name: "no_audit_no_new_risk",
  sentence:
    "No new risk is approved while entries of the audit log are gone, or messages have not become entries, for longer than allowed, because what is not recorded where it can be believed cannot be answered for.",
  violated(evidence) {
    return onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }, { at }) => {
      const { past, platform, unaudited } = evidence;
      const isNewRisk = decision.approved && decision.classification !== "REDUCE";
      if (!isNewRisk || isLowered(past, asked as unknown as Order)) return undefined;
      const { sinceUs } = platform.damage;
      if (sinceUs !== undefined && at - sinceUs > unnoticedUs) {
        return `${decision.order_id} was approved, and entries are gone for ${(at - sinceUs) / 1_000} ms`;
      }
      const oldest = unaudited();
      if (oldest === undefined || at - oldest.at <= unnoticedUs) return undefined;
      return `${decision.order_id} was approved, and ${oldest.subject} is no entry after ${(at - oldest.at) / 1_000} ms`;
    });
  },
};

export const chainVerifies: Invariant = {
  name: "chain_verifies",
  sentence:
    "Every entry is chained to the one before it as it was written, because otherwise whoever rewrites one would not be found.",
  violated({ reported, chain, platform: { audit, damage } }) {
    if (reported !== undefined || damage.sinceUs !== undefined) return undefined;
    while (chain.sequence < audit.rows.length) {
      const fault = chain.next(audit.rows[chain.sequence]?.text ?? new Uint8Array());
      if (fault !== undefined)
        return `entry ${fault.sequence}: ${fault.code}, ${fault.actual} instead of ${fault.expected}`;
    }
    if (audit.rows.length === 0 || audit.head.hash === chain.hash) return undefined;
    return `the head of the log is ${audit.head.hash}, and its last entry ${chain.hash}`;
  },
};
