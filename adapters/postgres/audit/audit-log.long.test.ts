// The suite of the audit log is shown to notice it when the database leaves one of its checks out: each planted bug makes a check fail. That
// the head is held while a batch is under way is shown beside the log, where a batch can be made to stand still.
import { describe, expect, it } from "vitest";
import { Defect } from "../../../contracts/src/fault.ts";
import { auditFixture } from "../../../testkit/audit-fixtures.ts";
import { auditLogChecks, runAuditLogCheck } from "../../../testkit/conformance/audit-log.ts";
import { auditMigration } from "../migrations/0004-audit.ts";
import { migrations } from "../migrations/index.ts";

const mistakes: Readonly<Record<string, readonly [string, string]>> = {
  "does not look at the writer epoch of a batch": ["head.pen is distinct from with_pen", "false"],
  "does not look where a batch begins": ["head.size is distinct from after", "false"],
  "takes an event twice": ["constraint audit_entry_event_once unique (event_id)", "check (true)"],
  "does not move the head": ["update audit_head set size = new_size,", "update audit_head set"],
  "leaves the writer epoch where it is": ["set pen = audit_head.pen + 1,", "set"],
  "lets anybody put a checkpoint": ["perform from audit_head where pen = with_pen for key share", "perform 1"],
  "keeps the first note": ["do update set note = excluded.note where c.note <> excluded.note", "do nothing"],
  "dates every event alike": ["e.action, e.text, e.at_us", "e.action, e.text, 0"],
  "takes any text for a checkpoint": ["left(new.note, new_end) is distinct from left(old.note, old_end)", "false"],
  "lets a signature go": ["or not string_to_array(substr(old.note", "or false and not string_to_array(substr(old.note"],
};

function withMistake(from: string, to: string) {
  if (!auditMigration.sql.includes(from)) throw new Defect(`nothing in the migration says ${from}`);
  return migrations.map((one) => (one === auditMigration ? { ...one, sql: one.sql.replace(from, to) } : one));
}

describe("the suite notices a database that", () => {
  for (const [name, [from, to]] of Object.entries(mistakes)) {
    it(name, async () => {
      const fixture = auditFixture(withMistake(from, to));
      const failed: string[] = [];
      for (const check of auditLogChecks) {
        await runAuditLogCheck(check, () => fixture.open()).catch(() => failed.push(check.sentence));
      }
      await fixture.close();
      expect(failed).not.toEqual([]);
    }, 120_000);
  }
});
