// The whole of docs/audit-actions.md: every action, what becomes one, and everything that changes state without being one, from the tables that the
// audit log and the stores ask.

import { type UnitRule, unitsOfWork } from "../../adapters/records/state-changes.ts";
import { otherWriters, unauditedRecords } from "../../adapters/records/unaudited-records.ts";
import { auditActions, ownActions, unreadActions } from "../../contracts/src/audit-actions.ts";
import { subjects } from "../../contracts/src/subjects.ts";

type SubjectKey = keyof typeof subjects;

const everySubject = Object.keys(subjects) as SubjectKey[];

function actionRows(): string[] {
  return everySubject.flatMap((key) => {
    const rule = auditActions[key];
    if (!("actions" in rule)) return [];
    const sealed = rule.personal.length === 0 ? "" : rule.personal.map((field) => `\`${field}\``).join(", ");
    const { name, sentence } = subjects[key];
    return rule.actions.map((action) => `| \`${action}\` | \`${name}\` | ${sentence} | ${sealed} |`);
  });
}

function notAuditedRows(): string[] {
  return everySubject.flatMap((key) => {
    const rule = auditActions[key];
    return "notAudited" in rule ? [`| \`${subjects[key].name}\` | ${rule.notAudited} |`] : [];
  });
}

/** The actions of an audited subject. */
function actionsOf(key: SubjectKey): readonly string[] {
  const rule = auditActions[key];
  if ("actions" in rule) return rule.actions;
  throw new TypeError(`${subjects[key].name} tells of a change and is not audited`);
}

function unitRow([name, rule]: [string, UnitRule]): string {
  const reported =
    "unaudited" in rule
      ? rule.unaudited
      : rule.tells
          .flatMap(actionsOf)
          .map((action) => `\`${action}\``)
          .join(" or ");
  return `| \`${name}\` | ${reported} |`;
}

const pairsOf = (table: Readonly<Record<string, string>>): string[] =>
  Object.entries(table).map(([name, sentence]) => `| \`${name}\` | ${sentence} |`);

export function auditActionsDocument(): string {
  return [
    "# What the audit log records",
    "",
    "Made by `npm run gen` from `contracts/src/audit-actions.ts` and `adapters/records/state-changes.ts`. An action may be added, never renamed.",
    "",
    "## Actions",
    "",
    "An event on the bus becomes an entry with this action. Sealed are fields about a person, under a key of that person.",
    "",
    "| action | event | when | sealed |",
    "|---|---|---|---|",
    ...actionRows(),
    "",
    "The log appends these by itself:",
    "",
    "| action | when |",
    "|---|---|",
    ...pairsOf(ownActions),
    "",
    "What nobody here can read is recorded as it came, up to a size; what is no JSON, or may be about a person, by its length and SHA-256:",
    "",
    "| action | when |",
    "|---|---|",
    ...pairsOf(unreadActions),
    "",
    "`AppendAudit` takes none of these, however it is written (letter case, accents, breaks, look-alike letters), and no other that begins with the same word (up to the first character that is no letter, digit or space), except for orders and fills: `order.placed` is a caller's to write, and so is the sentence `Key account called`.",
    "",
    "## Events that are no entries",
    "",
    "| event | why |",
    "|---|---|",
    ...notAuditedRows(),
    "",
    "## Who changes state",
    "",
    "Every transaction by its name, and the entry that tells of it, at least one of those named. The store refuses to commit one that changes a record and tells nothing, or that is not in this table.",
    "",
    "| transaction | reported by |",
    "|---|---|",
    ...Object.entries(unitsOfWork).map(unitRow),
    "",
    "Records that may change without being reported:",
    "",
    "| record | why |",
    "|---|---|",
    ...pairsOf(unauditedRecords),
    "",
    "What writes to the database beside these transactions:",
    "",
    "| file | what |",
    "|---|---|",
    ...pairsOf(otherWriters),
    "",
  ].join("\n");
}
