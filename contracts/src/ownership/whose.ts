// Whose it must be of which a caller speaks, as operations and events declare it (docs/decisions/0086-ownership-is-declared.md). A machine's token may name
// the funds that it speaks of; every way in asks here, so that all of them say the same. People and tokens that name no funds speak of every fund.

/** `contracts/proto/portcullis/v1/options.proto` says what each word means. */
export type Whose = "asker" | "fund" | "valuer" | "pricer" | "anyone" | "every_fund";

/** Of a token; absent means every fund. */
export type TokenFunds = readonly string[] | undefined;

/** Where a message names funds, with dots; brackets mark a list. */
type FundPaths = readonly string[];

/** Of all that a message names. */
export function isFundPath(path: string): boolean {
  return path === "fund_id" || path.endsWith(".fund_id");
}

const shownMax = 5;

/** Why a token of some funds may not do what tells of all of them alike; undefined for what it may. */
export function everyFundRefusal(whose: readonly Whose[] | undefined, funds: TokenFunds): string | undefined {
  if (funds === undefined || whose?.includes("every_fund") !== true) return undefined;
  return `This tells of every fund alike, and your token speaks of ${listed(funds)} only: ask with a token of every fund.`;
}

/** Why a token may not speak of these funds; undefined when it may. */
export function fundsRefusal(named: readonly string[], funds: TokenFunds): string | undefined {
  const foreign = funds === undefined ? [] : named.filter((fund) => !funds.includes(fund));
  if (funds === undefined || foreign.length === 0) return undefined;
  return `Your token speaks of ${listed(funds)}, and this is about ${listed(foreign)}: ask with a token of that fund.`;
}

/** The same of a request that names its funds itself. One that could name a fund and does not is about all of them. */
export function requestRefusal(request: unknown, paths: FundPaths, funds: TokenFunds): string | undefined {
  if (funds === undefined) return undefined;
  const named = paths.flatMap((path) => fundsAt(request, path));
  if (named.length > 0) return fundsRefusal(named, funds);
  return `Without a fund this is about every fund, and your token speaks of ${listed(funds)} only: name the fund as ${paths[0] ?? "fund_id"}.`;
}

/**
 * An answer with what the token may read of it: rows about other funds are left out, and so is what a row of its own says of another fund on the side.
 * Undefined when the answer itself is about another fund. What names no fund, such as a halt of the firm, is everybody's.
 */
export function answerForFunds(answer: object, paths: FundPaths, funds: readonly string[]): object | undefined {
  return narrowed(answer, placesIn(paths.map((path) => path.split("."))), funds);
}

/** Where funds are named below one message: by its own members, and in the rows of its lists. */
interface Places {
  readonly own: readonly (readonly string[])[];
  readonly lists: ReadonlyMap<string, Places>;
}

function placesIn(paths: readonly (readonly string[])[]): Places {
  const own = paths.filter((path) => !path.some(isList));
  const rows = new Map<string, (readonly string[])[]>();
  for (const path of paths) {
    const at = path.findIndex(isList);
    if (at < 0) continue;
    const list = path
      .slice(0, at + 1)
      .join(".")
      .slice(0, -2);
    rows.set(list, [...(rows.get(list) ?? []), path.slice(at + 1)]);
  }
  return { own, lists: new Map([...rows].map(([list, inner]) => [list, placesIn(inner)])) };
}

const isList = (segment: string): boolean => segment.endsWith("[]");

function narrowed(message: object, { own, lists }: Places, funds: readonly string[]): object | undefined {
  const nearest = Math.min(...own.map(({ length }) => length));
  const foreign = own.filter((path) => {
    const fund = memberAt(message, path);
    return typeof fund === "string" && fund !== "" && !funds.includes(fund);
  });
  if (foreign.some(({ length }) => length === nearest)) return undefined;
  let kept = message;
  for (const path of foreign) kept = withMember(kept, path.slice(0, -1), undefined);
  for (const [list, inner] of lists) {
    const path = list.split(".");
    const rows = memberAt(kept, path);
    if (!Array.isArray(rows)) continue;
    const left = rows.flatMap((row: object) => narrowed(row, inner, funds) ?? []);
    kept = withMember(kept, path, left);
  }
  return kept;
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], value);
}

/** A copy: what a handler answers may be its own. */
function withMember(message: object, [name = "", ...rest]: readonly string[], value: unknown): object {
  const inner = (message as Readonly<Record<string, unknown>>)[name];
  return { ...message, [name]: rest.length === 0 ? value : withMember(inner as object, rest, value) };
}

function fundsAt(value: unknown, path: string): readonly string[] {
  let found: readonly unknown[] = [value];
  for (const segment of path.split(".")) {
    const name = isList(segment) ? segment.slice(0, -2) : segment;
    found = found.flatMap((one) => memberAt(one, [name]) ?? []);
  }
  return found.filter((fund): fund is string => typeof fund === "string" && fund !== "");
}

function listed(funds: readonly string[]): string {
  const shown = funds.slice(0, shownMax).map((fund) => JSON.stringify(fund.slice(0, 128)));
  const more = funds.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
