// A list that comes page by page, followed as far as somebody asked for.
export const limitOption = {
  name: "limit",
  value: "N",
  standard: "100",
  sentence: "At most this many.",
} as const;

/** What the server gives at once. */
const pageSize = 500;

interface Followed<Row> {
  readonly rows: readonly Row[];
  /** Whether there are more than were asked for. */
  readonly more: boolean;
}

export async function followPages<Row>(
  limit: number,
  idOf: (row: Row) => string,
  read: (page: { readonly countMax: number; readonly after?: string }) => Promise<readonly Row[]>,
): Promise<Followed<Row>> {
  const rows: Row[] = [];
  for (;;) {
    // One more than was asked for tells whether there are more.
    const countMax = Math.min(pageSize, limit + 1 - rows.length);
    const last = rows.at(-1);
    const page = await read(last === undefined ? { countMax } : { countMax, after: idOf(last) });
    rows.push(...page);
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true };
    if (page.length < countMax) return { rows, more: false };
  }
}
