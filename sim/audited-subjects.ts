// The subjects whose messages the audit log has an entry of.
import { auditActions } from "../contracts/src/audit-actions.ts";
import { subjects } from "../contracts/src/subjects.ts";

export const audited: ReadonlySet<string> = new Set(
  (Object.keys(subjects) as (keyof typeof subjects)[]).flatMap((key) =>
    "actions" in auditActions[key] ? [subjects[key].name] : [],
  ),
);
