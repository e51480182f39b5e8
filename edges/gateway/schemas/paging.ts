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
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, after: nameOf(last) })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return { rows, more: { headers: { link: `<${path}?${asked}>; rel="next"` } } };
}
