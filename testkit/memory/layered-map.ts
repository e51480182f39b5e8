// The tables of the memory store with what one transaction writes over them. Each write is reported under the name that the table has in the database, as a
// statement is, and becomes durable with the commit: a repository that changes rows cannot do it unreported.
import { copyOf } from "./copy-of.ts";

export interface LayeredMap<Value> {
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  delete(key: string): void;
  /** Those that fit. */
  filter(fits: (value: Value) => boolean): Value[];
  /** All of them, in the order of their keys. */
  sorted(): Value[];
}

/** Rows that are kept in the order in which they came. */
export interface LayeredList<Row> {
  all(): Row[];
  push(row: Row): void;
  remove(isGone: (row: Row) => boolean): void;
}

export interface LayeredCell<Value> {
  get(): Value | undefined;
  set(value: Value): void;
}

export interface TableOptions {
  /** Whether rows go in and come out as copies, as with a database; false where whoever reads copies what leaves. Default true. */
  readonly copies?: boolean;
}

export type Verb = "insert" | "update" | "delete";

export interface WrittenTables {
  readonly table: <Value>(name: string, under: Map<string, Value>, options?: TableOptions) => LayeredMap<Value>;
  readonly list: <Row>(name: string, under: Row[]) => LayeredList<Row>;
  readonly cell: <Value>(name: string, under: { current: Value | undefined }) => LayeredCell<Value>;
  /** For what is kept in another way: where its rows change, they are reported here. */
  readonly wrote: (verb: Verb, name: string) => void;
  /** Run when the transaction commits, in the order of the calls. */
  readonly atCommit: (apply: () => void) => void;
}

/** What every repository of a memory transaction is built with. */
export interface RecordTools extends WrittenTables {
  /** One operation at a time. */
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}

/** The tables of one transaction. `report` gets the verb and the table: `insert halt`. */
export function writtenTables(
  report: (record: string) => void,
): WrittenTables & { readonly names: ReadonlySet<string>; apply(): void } {
  const commits: (() => void)[] = [];
  const names = new Set<string>();
  const wrote = (verb: Verb, name: string): void => report(`${verb} ${name}`);
  const atCommit = (apply: () => void): void => void commits.push(apply);
  return {
    names,
    wrote,
    atCommit,
    table<Value>(name: string, under: Map<string, Value>, { copies = true }: TableOptions = {}) {
      const layer = layeredMap(under, (verb) => wrote(verb, name), copies ? copyOf : (value: Value) => value);
      names.add(name);
      atCommit(layer.apply);
      return layer;
    },
    list<Row>(name: string, under: Row[]) {
      const layer = layeredList(under, (verb) => wrote(verb, name));
      names.add(name);
      atCommit(layer.apply);
      return layer;
    },
    cell<Value>(name: string, under: { current: Value | undefined }) {
      let changed: Value | undefined;
      names.add(name);
      atCommit(() => {
        under.current = changed ?? under.current;
      });
      return {
        get: () => copyOf(changed ?? under.current),
        set(value: Value) {
          wrote((changed ?? under.current) === undefined ? "insert" : "update", name);
          changed = copyOf(value);
        },
      };
    },
    apply() {
      for (const commit of commits) commit();
    },
  };
}

type Wrote = (verb: Verb) => void;

function layeredMap<Value>(under: Map<string, Value>, wrote: Wrote, copy: (value: Value) => Value) {
  /** Undefined stands for one that was removed. */
  const over = new Map<string, Value | undefined>();
  const held = (key: string): Value | undefined => (over.has(key) ? over.get(key) : under.get(key));
  return {
    get(key: string): Value | undefined {
      const value = held(key);
      return value === undefined ? undefined : copy(value);
    },
    has: (key: string): boolean => held(key) !== undefined,
    set(key: string, value: Value): void {
      wrote(held(key) === undefined ? "insert" : "update");
      over.set(key, copy(value));
    },
    delete(key: string): void {
      if (held(key) === undefined) return;
      wrote("delete");
      over.set(key, undefined);
    },
    filter(fits: (value: Value) => boolean): Value[] {
      const found: Value[] = [];
      for (const [key, value] of under) if (!over.has(key) && fits(value)) found.push(copy(value));
      for (const value of over.values()) if (value !== undefined && fits(value)) found.push(copy(value));
      return found;
    },
    sorted: (): Value[] =>
      [...new Map<string, Value | undefined>([...under, ...over])]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([, value]) => (value === undefined ? [] : [copy(value)])),
    apply(): void {
      for (const [key, value] of over) {
        if (value === undefined) under.delete(key);
        else under.set(key, value);
      }
    },
  };
}

function layeredList<Row>(under: Row[], wrote: Wrote) {
  const added: Row[] = [];
  const gone = new Set<Row>();
  const held = (): Row[] => [...under, ...added].filter((row) => !gone.has(row));
  return {
    all: (): Row[] => copyOf(held()),
    push(row: Row): void {
      wrote("insert");
      added.push(copyOf(row));
    },
    remove(isGone: (row: Row) => boolean): void {
      for (const row of held().filter(isGone)) {
        wrote("delete");
        gone.add(row);
      }
    },
    apply(): void {
      under.push(...added);
      const kept = under.filter((row) => !gone.has(row));
      if (kept.length < under.length) under.splice(0, under.length, ...kept);
    },
  };
}
