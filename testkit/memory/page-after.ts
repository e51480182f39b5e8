// A page of a sorted list, from after the row of that name on. What a filter has taken out of the list still marks a place in it.
export function pageAfter<Row>(
  sorted: readonly Row[],
  countMax: number,
  after: string | undefined,
  find: (name: string) => Row | undefined,
  order: (one: Row, other: Row) => number,
): readonly Row[] {
  if (after === undefined) return sorted.slice(0, countMax);
  const mark = find(after);
  return mark === undefined ? [] : sorted.filter((row) => row !== mark && order(mark, row) < 0).slice(0, countMax);
}
