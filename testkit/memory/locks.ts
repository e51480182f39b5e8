// Row locks for the memory store: whoever changes a row holds it until the end of its transaction, others wait in line, and
// one who would close a circle of waiting is refused at once, as a database's deadlock detector does.
export interface RowLocks {
  /** Resolves to true when the row is held, to false when waiting for it would be a deadlock. */
  acquire(row: string, owner: object): Promise<boolean>;
  /** Gives back everything that the owner holds, and takes it out of every line. */
  release(owner: object): void;
}

interface Waiter {
  readonly owner: object;
  readonly grant: () => void;
}

interface Row {
  holder: object;
  readonly line: Waiter[];
}

export function rowLocks(): RowLocks {
  const rows = new Map<string, Row>();
  /** An owner asks for one row at a time, so it waits for at most one. */
  const waitsFor = new Map<object, string>();

  const wouldCircle = (row: string, owner: object): boolean => {
    let holder = rows.get(row)?.holder;
    while (holder !== undefined && holder !== owner) {
      const next = waitsFor.get(holder);
      holder = next === undefined ? undefined : rows.get(next)?.holder;
    }
    return holder === owner;
  };

  const handOn = (name: string, row: Row) => {
    const next = row.line.shift();
    if (next === undefined) {
      rows.delete(name);
      return;
    }
    row.holder = next.owner;
    waitsFor.delete(next.owner);
    next.grant();
  };

  return {
    async acquire(name, owner) {
      const row = rows.get(name);
      if (row === undefined) {
        rows.set(name, { holder: owner, line: [] });
        return true;
      }
      if (row.holder === owner) return true;
      if (wouldCircle(name, owner)) return false;
      waitsFor.set(owner, name);
      await new Promise<void>((grant) => {
        row.line.push({ owner, grant });
      });
      return true;
    },
    release(owner) {
      waitsFor.delete(owner);
      for (const [name, row] of [...rows]) {
        const place = row.line.findIndex((waiter) => waiter.owner === owner);
        if (place >= 0) row.line.splice(place, 1);
        if (row.holder === owner) handOn(name, row);
      }
    },
  };
}
