// What every list takes that is read page by page, and where its next page is. One more than was asked for is fetched, so that a page which is
// exactly full is not taken for one with something after it.
import { idText } from "../../../contracts/src/records/fields.ts";
import { wholeAsked } from "./asked-numbers.ts";

export const pageSizeDefault = 100;
/** With the one more, what every service gives at once. */
export const pageSizeMax = 500;

export const countMaxAsked = wholeAsked(1, pageSizeMax)
  .optional()
  .meta({ description: `At most this many, ${pageSizeDefault} when absent; the next page is in the Link header.` });

export const afterAsked = idText.optional();

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
