// What becomes an entry of the audit log: for every subject on the bus its action, the thing it is about and who did it, or the reason why it is no
// entry, as its event declares it (contracts/src/events).
import { type AuditedAs, type AuditedEvent, type AuditRule, publisherOf } from "./events/event.ts";
import { eventByName, subjects } from "./subjects.ts";

type SubjectKey = keyof typeof subjects;

export const auditActions = Object.fromEntries(
  Object.entries(subjects).map(([key, { audit }]) => [key, audit]),
) as Readonly<Record<SubjectKey, AuditRule>>;

/** Actions of events that nobody here can read: recorded as what they are, because too much can be read over and too little cannot. */
export const unreadActions = {
  "event.observed": "An event of a subject that we do not know.",
  "event.malformed": "An event that does not match the schema of its subject.",
} as const;

/** The rule of an event: that of its subject, unless nobody can read it. */
export function auditRuleOf(event: AuditedEvent): AuditRule {
  const rule = eventByName(event.subject)?.audit;
  if (rule === undefined) return unreadRule("event.observed", event, []);
  if (event.unread === undefined || "notAudited" in rule) return rule;
  return unreadRule("event.malformed", event, rule.personal);
}

/** About whatever it says that it is about, or else about its subject; nothing of its payload is believed. */
function unreadRule(
  action: keyof typeof unreadActions,
  { key, subject }: AuditedEvent,
  personal: readonly string[],
): AuditedAs {
  const subjectId = key === "" ? subject : key;
  return {
    actions: [action],
    actionOf: () => action,
    subjectIdOf: () => subjectId,
    actorOf: publisherOf,
    personal,
    personOf: () => subjectId,
  };
}

/** Actions that the audit log appends about itself, without an event. */
export const ownActions: Readonly<Record<string, string>> = {
  "chain.genesis": "Entry 0: names the log.",
  "chain.begun_anew":
    "Entry 1 of a log that follows another: names the log that was closed, its last checkpoint, what was wrong with it, why, and both people.",
  "chain.verified": "The log verified itself; with what came of it.",
  "key.rotated": "Another key signs checkpoints from here on.",
  "key.revoked": "A key's signatures count only up to a size.",
  "subject.key_destroyed": "The key of a person's sealed fields is gone, and with it what they said.",
};
