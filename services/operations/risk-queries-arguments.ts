// What people ask of the risk queries, checked before anything is looked up. A question that makes no sense is answered with what to ask instead.
import { Fault } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import { refusedPrefix } from "../../contracts/src/records/order.ts";
import type { ServicePorts } from "../shared/service.ts";

export type RiskQueriesPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "riskQueries" | "referenceData" | "limitPreviews"
>;

/** What a list holds when nobody says how much they want, and at most. */
export const countDefault = 100;
export const countLimit = 1_000;
/** One more than a page of HTTP, which tells whether there is another. */
export const pagedLimit = countLimit + 1;

const hoursDefault = 24;
const hoursMax = 24 * 366;
const shownCharactersMax = 130;
const orderIdCharactersMax = 1_000;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

export function notFound(sentence: string): Fault {
  return new Fault("NOT_FOUND", sentence, { retry: "never" });
}

/** Text from outside inside a sentence: quoted, and of bearable length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`);
}

export function fundId(text: string): string {
  if (idText.safeParse(text).success) return text;
  throw invalid(`fund_id is ${quoted(text)}: name a fund by its id, such as alpha.`);
}

/** An order that was denied for its id must still be found by it, so anything goes that a person could paste. */
export function orderId(text: string): string {
  if (text.length > 0 && text.length <= orderIdCharactersMax && !text.includes("\0")) return text;
  throw invalid(`order_id is ${quoted(text)}: give the order's id in 1 to ${orderIdCharactersMax} characters.`);
}

export function decisionId(text: string): string {
  if (uuid.test(text) || (text.startsWith(refusedPrefix) && idText.safeParse(text).success)) return text;
  throw invalid(`after_decision_id is ${quoted(text)}: give the decision_id of the last rejection that you have.`);
}

/** Zero asks for the usual number. */
export function countMax(count: number, usual: number, limit: number = countLimit): number {
  if (count <= limit) return count === 0 ? usual : count;
  throw invalid(`count_max is ${count}: ask for at most ${limit}, and for the rest afterwards.`);
}

/** The beginning of the last so many hours; zero asks for a day. */
export function sinceHours(hours: number, now: instant.Instant): instant.Instant {
  const wanted = hours === 0 ? hoursDefault : hours;
  if (!(wanted > 0 && wanted <= hoursMax)) {
    throw invalid(
      `hours is ${hours}: give a number above 0 and up to ${hoursMax}, or leave it out for ${hoursDefault}.`,
    );
  }
  return instant.minusMilliseconds(now, wanted * 3_600_000);
}

/** A period of time, the last 24 hours when nothing is said about it. */
export function period(
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

/** Says by name that there is no such fund; asked only when nothing was found, because a fund that was asked about has left traces. */
export async function mustBeKnown(ports: RiskQueriesPorts, fund: string): Promise<void> {
  const { funds } = await ports.referenceData.read();
  if (!funds.some((each) => each.fund_id === fund)) throw notFound(`There is no fund ${quoted(fund)}.`);
}
