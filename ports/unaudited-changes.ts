// Changes that nobody audited: rows that hold power over risk (halts, people, second factors, keys, tokens) and that differ from what the last change with
// an event left. The store finds them by itself, so that nobody can keep silent about one, its owner included. A platform in memory has none: only units
// of work reach its records.
//
// What every answer promises:
//  1. A change whose unit of work published its event is none.
//  2. What is back to what it was is none any more; any other later change leaves it one.

export interface UnauditedChange {
  /** The same for the same change, and another one when the row is changed again; empty for one that can only be undone. */
  readonly changeId: string;
  readonly table: string;
  /** What the row is called: the halt's id, the person's name. Never a secret. */
  readonly row: string;
  readonly found: "added" | "removed" | "changed";
}

export interface UnauditedChanges {
  /** By table and row, at most so many; a Fault when nobody can tell. */
  list(countMax: number): Promise<readonly UnauditedChange[]>;
  /** Whether a signed request to accept one waits for `UnauditedChangeRecords.accept`. */
  hasSigned(): Promise<boolean>;
}

/** A change that an admin and a second person accepted. */
export interface AcceptedChange extends UnauditedChange {
  readonly requestId: string;
  readonly requestedBy: string;
  readonly cosignedBy: string;
  readonly reason: string;
}

/** As a part of a unit of work. */
export interface UnauditedChangeRecords {
  /** Uses up every signed request that waits; those whose change is not there any more accept nothing. */
  accept(): Promise<readonly AcceptedChange[]>;
}
