// Whether the process behind a list can be believed to be there. What it answered before it fell silent is old, however lately that was, until it answers again.

export interface Life {
  readonly isOk: boolean;
  /** What was answered before this is old; 0 while nothing is known against it. */
  readonly sinceMs: number;
  /** What is wrong with it. */
  readonly complaint: string | undefined;
  readonly pid: number | undefined;
}

export type Lives = Readonly<Record<string, Life>>;

export interface ServiceRow {
  readonly service: string;
  readonly status: string;
  readonly complaint?: string | undefined;
  readonly pid?: number | undefined;
}

/** Of a process that nobody has said anything about. */
export const unheardOf: Life = { isOk: true, sinceMs: 0, complaint: undefined, pid: undefined };

/** A life that did not turn stays the same object. */
export function withServices(before: Lives, rows: readonly ServiceRow[], atMs: number): Lives {
  return Object.fromEntries(rows.map((row) => [row.service, turned(before[row.service], row, atMs)]));
}

function turned(before: Life = unheardOf, row: ServiceRow, atMs: number): Life {
  const isOk = row.status === "ok";
  const complaint = isOk ? undefined : (row.complaint ?? `it is ${row.status}`);
  const pid = row.pid ?? before.pid;
  // Another process of that name: it died and came back between two looks.
  const isAnother = before.pid !== undefined && pid !== before.pid;
  if (isOk === before.isOk && complaint === before.complaint && pid === before.pid) return before;
  // When it answers again, what it was asked since it fell silent is as good as any other answer.
  const isTurn = (before.isOk && !isOk) || (isAnother && isOk && before.isOk);
  return { isOk, sinceMs: isTurn ? atMs : before.sinceMs, complaint, pid };
}

/** Nobody says any more how the processes are: nothing is known against them, and nothing for them. */
export function withSilence(before: Lives): Lives {
  const complaint = "whether it runs is not known: the list of services cannot be read";
  return Object.fromEntries(
    Object.entries(before).map(([name, life]) => [name, life.isOk ? { ...life, isOk: false, complaint } : life]),
  );
}
