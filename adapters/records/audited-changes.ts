// Watches what a unit of work changes and what it tells, and refuses one that changes records behind the audit log's back. Used by every store, so
// that a publication that somebody forgot is found by whatever test runs that code first, and never becomes durable.
import { Defect } from "../../contracts/src/fault.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { UnitOfWork } from "../../ports/store.ts";

/** The complaint about a unit of work, or undefined; `unauditedChange` of adapters/records/state-changes.ts. */
export type UnauditedChange = (
  unit: string,
  records: ReadonlySet<string>,
  published: ReadonlySet<string>,
) => string | undefined;

export interface ChangeWatch {
  /** The verb and the table: `insert halt`. */
  wrote(record: string): void;
  published(subject: Subject<never>): void;
  /** A Defect when something was changed and not audited. */
  judge(): void;
}

export function watchChanges(unit: string, unaudited: UnauditedChange): ChangeWatch {
  const records = new Set<string>();
  const published = new Set<string>();
  return {
    wrote: (record) => void records.add(record),
    published: (subject) => void published.add(subject.name),
    judge() {
      const complaint = unaudited(unit, records, published);
      if (complaint !== undefined) throw new Defect(complaint);
    },
  };
}

export function watchedEvents(events: UnitOfWork["events"], watch: ChangeWatch): UnitOfWork["events"] {
  return {
    async publish(subject, payload) {
      const id = await events.publish(subject, payload);
      watch.published(subject as Subject<never>);
      return id;
    },
    async publishFor(source, subject, payload) {
      const id = await events.publishFor(source, subject, payload);
      watch.published(subject as Subject<never>);
      return id;
    },
  };
}

/** `for update`, `do update` and `no key update` are no verbs of their own. */
const change = /\b(insert\s+into|delete\s+from|(?<!\b(?:for|do|key)\s+)update)\s+(?:only\s+)?([a-z_]+)/gi;
const textsMax = 1_000;

/** The verbs and tables of statements; the same texts come again and again. */
export function statementReader(): (text: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const records = [...text.matchAll(change)].map(([, verb = "", table = ""]) => {
      return `${verb.slice(0, 6).toLowerCase()} ${table.toLowerCase()}`;
    });
    if (known.size >= textsMax) known.clear();
    known.set(text, records);
    return records;
  };
}
