// Attacks that only a database knows: rows and heads that disagree, columns beside the text, tiles, the index, a second writer, a row in another's
// place. Each begins with the honest log of fifty entries and checkpoints of 40 and 50.
import { Fault } from "../../../contracts/src/fault.ts";
import { readCheckpointNote } from "../../../core/audit/checkpoint.ts";
import { createTreeHash } from "../../../core/audit/merkle.ts";
import { fsckLog } from "../../../services/operations/audit/checking/fsck.ts";
import { verifyLog } from "../../../services/operations/audit/checking/verify.ts";
import { createGrowingTree } from "../../../services/operations/audit/log/growing-tree.ts";
import { readTrail } from "../../../services/operations/audit/queries/trail.ts";
import { entryAt, fifty, first, ownHash, rechained, trustFirst } from "../attacks/shape.ts";
import { sha256 } from "../keys.ts";
import { chain, checkpointOf, type Entry, ordinary, textOf, type Verdict } from "../test-log.ts";
import type { StoredContent, StoredLog } from "./stored-log.ts";

export interface TableAttack {
  readonly name: string;
  run(log: StoredLog): Promise<string>;
  readonly answer: string;
}

const rowsOf = (entries: readonly Entry[]): readonly Uint8Array[] => entries.map((entry) => Buffer.from(textOf(entry)));
const checkpoint = (size: number) => ({ size, note: checkpointOf(fifty, size, [first]) });
export const honestContent: StoredContent = { texts: rowsOf(fifty), checkpoints: [checkpoint(40), checkpoint(50)] };

export const lineOf = ({ verdict, level, code, sequence }: Verdict): string =>
  verdict === "yes" ? `${level}` : `${code} at ${sequence}`;

/** A few statements, then the platform's verification. */
function sql(name: string, statements: string, answer: string, from = 0): TableAttack {
  return {
    name,
    answer,
    async run(log) {
      await log.query(statements);
      return lineOf(await log.verify(trustFirst, from));
    },
  };
}

/** Other entries in the same table, head and all; the checkpoints stay. */
function rewritten(name: string, entries: readonly Entry[], answer: string, from = 0): TableAttack {
  return {
    name,
    answer,
    async run(log) {
      await log.store({ ...honestContent, texts: rowsOf(entries) });
      return lineOf(await log.verify(trustFirst, from));
    },
  };
}

const moved = (to: number): string => `
  delete from audit_entry where sequence >= ${to};
  update audit_head set size = ${to}, hash = '${entryAt(fifty, to - 1).hash}', "timestamp" = '${entryAt(fifty, to - 1).timestamp}'`;
const extra = textOf(entryAt(chain([ordinary(50)], fifty[49]), 0)).replaceAll("'", "''");
const edited = rechained([{ ...ordinary(3), actor: "operator:eve" }, ...fifty.slice(4)], 3);
const forgedLink = rechained(fifty.slice(21), 21, ownHash(20, { prev_hash: "ab".repeat(32) }));

const rows: readonly TableAttack[] = [
  sql(
    "A6 a row deleted, the head left alone",
    "delete from audit_entry where sequence = 20",
    "SEQUENCE_MISMATCH at 20",
  ),
  sql(
    "A7 C3 the last rows missing, the head left alone",
    "delete from audit_entry where sequence >= 45",
    "TRUNCATED at 45",
  ),
  sql("A7 the last rows deleted, the head moved", moved(45), "TRUNCATED at 45"),
  sql("A7 cut to the edge of an older checkpoint", moved(40), "TRUNCATED at 40"),
  sql("A8 nothing is missed of what no checkpoint covers", "delete from audit_checkpoint where size = 50", "L1"),
  sql(
    "A9 everything deleted",
    "delete from audit_entry; delete from audit_checkpoint; update audit_head set size = 0, hash = repeat('0', 64)",
    "TRUNCATED at 0",
  ),
  sql("A9 the checkpoints deleted: nobody vouches any more", "delete from audit_checkpoint", "L0"),
  sql(
    "A10 C3 a row that the head does not know",
    `insert into audit_entry values (50, 'late', 'order-1', 'order.decided', convert_to('${extra}', 'UTF8'))`,
    "SEQUENCE_MISMATCH at 50",
  ),
  sql(
    "A11 two rows change places",
    "update audit_entry set sequence = 41 - sequence + 1000 where sequence in (20, 21); update audit_entry set sequence = sequence - 1000 where sequence > 1000",
    "SEQUENCE_MISMATCH at 20",
  ),
  sql(
    "A12 a row's text twice (C6: written to another's place)",
    "update audit_entry set text = (select text from audit_entry where sequence = 20) where sequence = 30",
    "SEQUENCE_MISMATCH at 30",
  ),
  sql(
    "A18 a checkpoint under another size",
    "update audit_checkpoint set size = 45 where size = 50",
    "CHECKPOINT_MALFORMED at 45",
  ),
  sql("A20 a head that names another hash", "update audit_head set hash = repeat('ab', 32)", "HASH_MISMATCH at 49"),
  rewritten("A23 edited and rechained before where one looks", edited, "ROOT_MISMATCH at 40", 20),
  rewritten("A23 a forged link where one begins to look", forgedLink, "LINK_MISMATCH at 20", 20),
  sql(
    "C4 a torn last row",
    "update audit_entry set text = substring(text from 1 for 100) where sequence = 49",
    "ENTRY_MALFORMED at 49",
  ),
  sql(
    "C5 a byte of an old row that rotted",
    "update audit_entry set text = set_byte(text, 12, (get_byte(text, 12) + 1) % 256) where sequence = 7",
    "HASH_MISMATCH at 7",
  ),
];

const others: readonly TableAttack[] = [
  {
    name: "A12 the same event a second time",
    answer: "audit_entry_event_once",
    run: (log) =>
      log
        .query(
          "insert into audit_entry select 50, event_id, subject_id, action, text from audit_entry where sequence = 20",
        )
        .then(
          () => "taken",
          (error: { readonly constraint?: string }) => error.constraint ?? String(error),
        ),
  },
  {
    name: "A14 an older backup put back whole is shorter than an anchor",
    answer: "alone L1, anchored TRUNCATED at 40",
    async run(log) {
      const alone = await backup(log);
      const note = readCheckpointNote(checkpoint(50).note);
      if ("malformed" in note) throw new Error(note.malformed);
      const root = { anchor: "elsewhere", size: 50, root: note.checkpoint.root };
      const result = await verifyLog({ ...log.ports(trustFirst), anchored: async () => [root] });
      const anchored = "fault" in result ? `${result.fault.code} at ${result.fault.sequence}` : result.level;
      return `alone ${alone}, anchored ${anchored}`;
    },
  },
  {
    name: "A15 a second writer from the same head",
    answer: "STORE_CONFLICT",
    async run({ audit }) {
      const { writerEpoch, head } = await audit.takeWriterEpoch("one");
      await audit.takeWriterEpoch("two");
      const [entry] = chain([ordinary(50)], fifty[49]);
      if (entry === undefined) throw new Error("no entry");
      const { timestamp } = entry;
      const text = Buffer.from(textOf(entry));
      const row = { sequence: 50, eventId: "fork", subjectId: "s", action: "a.b", text, timestamp };
      const newHead = { size: 51, hash: entry.hash, timestamp: entry.timestamp };
      return audit.append({ writerEpoch, after: head.size, rows: [row], head: newHead }).then(
        () => "appended",
        (thrown: unknown) => (thrown instanceof Fault ? thrown.code : String(thrown)),
      );
    },
  },
  {
    name: "A21 a corrupt tile proves nothing, is found, and is made anew",
    answer: "L1, wrong 1, rebuilt 1, wrong 0",
    async run(log) {
      const tree = createTreeHash(sha256);
      const growing = createGrowingTree(tree);
      for (const text of honestContent.texts) growing.append(tree.leaf(text));
      await log.audit.putTiles(growing.unsaved());
      await log.query("update audit_tile set hashes = set_byte(hashes, 3, (get_byte(hashes, 3) + 1) % 256)");
      const verdict = await log.verify(trustFirst, 45);
      const before = await fsckLog(log.ports(trustFirst));
      const { tilesRebuilt } = await fsckLog(log.ports(trustFirst), { rebuild: true });
      const after = await fsckLog(log.ports(trustFirst));
      return `${lineOf(verdict)}, wrong ${before.tilesWrong.length}, rebuilt ${tilesRebuilt}, wrong ${after.tilesWrong.length}`;
    },
  },
  index("A22 a row of the index misattributed", "update audit_entry set subject_id = 'order-x' where sequence = 22"),
  index("A22 a row of the index under another action", "update audit_entry set action = 'x.y' where sequence = 22"),
  {
    name: "A22 a trail with an entry of somebody else",
    answer: "INDEX_MISMATCH at 22",
    async run(log) {
      await log.query("update audit_entry set subject_id = 'order-x' where sequence = 22");
      const trail = await readTrail({ auditLog: log.audit, sha256, newestOf: () => undefined }, "order-x");
      return "fault" in trail ? `${trail.fault.code} at ${trail.fault.sequence}` : "a trail";
    },
  },
];

async function backup(log: StoredLog): Promise<string> {
  await log.store({ texts: honestContent.texts.slice(0, 40), checkpoints: [checkpoint(40)] });
  return lineOf(await log.verify(trustFirst));
}

function index(name: string, statement: string): TableAttack {
  return {
    name,
    answer: "INDEX_MISMATCH at 22",
    async run(log) {
      await log.query(statement);
      const { fault } = await fsckLog(log.ports(trustFirst));
      return fault === undefined ? "nothing found" : `${fault.code} at ${fault.sequence}`;
    },
  };
}

export const tableAttacks: readonly TableAttack[] = [...rows, ...others];
