// What must be true of the audit log: everything is in it, once, and nobody can change it unseen.
import { auditActions } from "../../contracts/src/audit-actions.ts";
import { ownActions } from "../../contracts/src/state-changes.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { first, type Invariant } from "./invariant.ts";

const audited: ReadonlySet<string> = new Set(
  (Object.keys(subjects) as (keyof typeof subjects)[]).flatMap((key) =>
    "action" in auditActions[key] ? [subjects[key].name] : [],
  ),
);

export const oneEntryPerChange: Invariant = {
  name: "one_entry_per_change",
  sentence:
    "Every message that tells of a change has one entry in the audit log when everything has been heard, and no entry tells of nothing, because a log with gaps or inventions proves nothing.",
  violated({ told, settled, platform: { audit, world } }) {
    if (told !== undefined) return undefined;
    if (audit.byEvent.size !== audit.rows.length) {
      return `${audit.rows.length} entries tell of ${audit.byEvent.size} events`;
    }
    if (!settled) return undefined;
    const ids = new Set(world.log.filter(({ subject }) => audited.has(subject)).map(({ id }) => id));
    return (
      first(ids, (id) => (audit.byEvent.has(id) ? undefined : `the event ${id} has no entry`)) ??
      first(audit.rows, ({ eventId, action, sequence }) =>
        ids.has(eventId) || Object.hasOwn(ownActions, action)
          ? undefined
          : `entry ${sequence} (${action}) tells of ${eventId}, which nobody published`,
      )
    );
  },
};

export const chainVerifies: Invariant = {
  name: "chain_verifies",
  sentence:
    "Every entry is chained to the one before it as it was written, because otherwise whoever rewrites one would not be found.",
  violated({ told, chain, platform: { audit } }) {
    if (told !== undefined) return undefined;
    while (chain.sequence < audit.rows.length) {
      const fault = chain.next(audit.rows[chain.sequence]?.text ?? new Uint8Array());
      if (fault !== undefined)
        return `entry ${fault.sequence}: ${fault.code}, ${fault.actual} instead of ${fault.expected}`;
    }
    if (audit.rows.length === 0 || audit.head.hash === chain.hash) return undefined;
    return `the head of the log is ${audit.head.hash}, and its last entry ${chain.hash}`;
  },
};
