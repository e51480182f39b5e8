// Lists that are read page by page, and where the next page is. One more than was asked for is fetched, so that a page which is
// exactly full is not taken for one with something after it.

/** Of a list whose page size nobody named; its declaration says so too. */
const pageSizeDefault = 100;

interface PageQuery {
  readonly count_max?: number | undefined;
}

export function fetchedCount({ count_max }: PageQuery): number {
  return (count_max ?? pageSizeDefault) + 1;
}

/** The page without the one more, and the headers that name the next one (RFC 8288): the same question, after this page's last. */
export function pageOf<Row, Query extends PageQuery>(
  path: string,
  query: Query,
  fetched: readonly Row[],
  nameOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly more: { readonly headers?: { readonly link: string } } } {
  const rows = fetched.slice(0, query.count_max ?? pageSizeDefault);
  const last = rows.at(-1);
  if (last === undefined || fetched.length === rows.length) return { rows, more: {} };
  return { rows, more: { headers: { link: nextLink(path, query, nameOf(last)) } } };
}

/** RFC 8288; whoever follows it asks the same question and goes on where this page ends. */
export function nextLink(path: string, query: object, after: string): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, after })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return `<${path}?${asked}>; rel="next"`;
}
