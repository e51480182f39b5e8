// What people ask treasury, checked before anything is looked up or booked. A question that makes no sense is answered with what to ask instead.
import { Fault } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import type { NavEvery } from "../../ports/ledger-records.ts";
import type { ReferenceView } from "./reference-view.ts";

/** What a list of values and a list of entries hold when nobody says how much they want, and at most. */
/** One more than a page of HTTP, which tells whether there is another. */
export const navCounts = { usual: 5_000, max: 5_001 } as const;
export const ledgerCounts = { usual: 100, max: 1_000 } as const;

const shownCharactersMax = 130;

export function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

/** Text from outside inside a sentence: quoted, and of bearable length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`);
}

export function knownFund(view: ReferenceView, text: string): FundReference {
  if (!idText.safeParse(text).success) {
    throw invalid(`fund_id is ${quoted(text)}: name a fund by its id, such as alpha.`);
  }
  const fund = view.funds.get(text);
  if (fund !== undefined) return fund;
  throw new Fault("NOT_FOUND", `There is no fund ${quoted(text)}.`, { retry: "never" });
}

/** Zero asks for the usual number. */
export function countOf(count: number, { usual, max }: { readonly usual: number; readonly max: number }): number {
  if (count <= max) return count === 0 ? usual : count;
  throw invalid(`count_max is ${count}: ask for at most ${max}, and for the rest afterwards.`);
}

const everyWords: ReadonlySet<string> = new Set<NavEvery>(["second", "minute", "hour", "day"]);

export function everyOf(text: string): NavEvery {
  if (text === "") return "minute";
  if (everyWords.has(text)) return text as NavEvery;
  throw invalid(`every is ${quoted(text)}: it is second, minute, hour or day.`);
}

/** A period of time, the last 24 hours when nothing is said about it. */
export function periodOf(
  from: string | undefined,
  to: string | undefined,
  now: instant.Instant,
): { readonly from: instant.Instant; readonly to: instant.Instant } {
  const end = to === undefined ? now : moment("to", to);
  const begin = from === undefined ? instant.minusMilliseconds(end, instant.millisecondsPerDay) : moment("from", from);
  if (begin < end) return { from: begin, to: end };
  throw invalid(`The period from ${instant.format(begin)} to ${instant.format(end)} is empty: give a from before to.`);
}

function moment(name: string, text: string): instant.Instant {
  const at = instant.tryParse(text);
  if (at !== undefined) return at;
  throw invalid(`${name} is ${quoted(text)}: give a time such as 2026-11-15T13:30:00Z.`);
}
