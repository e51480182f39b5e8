// Whether the prices in a fund's value are young enough for its losses to be judged in full. A price counts as too old only while its instrument is in
// session: what is closed is not traded, and its last price is what it is worth. A value that is made from old prices is judged all the same, by the
// last ones; what it cannot show is what the halted symbol has lost since, so no new risk is taken on it.
//
// One quiet symbol is allowed longer than the value itself. But a value all of whose prices are old is as old as the newest of them, however new its own
// date is: its feed is dead, and it tells of no loss since.
import {
  type Instant,
  later,
  minusMilliseconds,
  parse,
  plusMicroseconds,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { ageMsOf } from "../state/dated.ts";

export interface PriceStanding {
  /** Which prices are too old, and what ends it; absent when none is. */
  readonly why?: string;
  /** When the next one is, if nothing comes. */
  readonly until: Instant;
}

interface PriceRules {
  /** Whether the instrument is traded at that moment, as far as its calendar says; true where nobody knows. */
  readonly isInSession: (symbol: string) => boolean;
  readonly ageMsMax: number;
  /** How old a value may be that losses are judged by; the newest of its prices may be a little older. */
  readonly valueAgeMsMax: number;
  readonly at: Instant;
}

const namesMax = 5;
const forever = Number.MAX_SAFE_INTEGER as Instant;
/** A price is made before the value that has it. */
const marginMs = 5_000;

export function priceStanding(nav: NavUpdated, rules: PriceRules): PriceStanding {
  const single = oldPrices(nav, rules);
  const whole = nav.prices === undefined ? undefined : deadFeed(nav.prices, rules);
  if (whole === undefined) return single;
  const why = single.why ?? whole.why;
  return { ...(why !== undefined && { why }), until: whole.until < single.until ? whole.until : single.until };
}

/** By the newest price of what is in session; undefined when nothing is. */
function deadFeed(
  prices: NonNullable<NavUpdated["prices"]>,
  { isInSession, ageMsMax, valueAgeMsMax, at }: PriceRules,
): PriceStanding | undefined {
  const ageMsAllowed = Math.min(valueAgeMsMax + marginMs, ageMsMax);
  let newest: Instant | undefined;
  for (const [symbol, { at: pricedAt }] of Object.entries(prices)) {
    if (isInSession(symbol)) newest = later(newest ?? parse(pricedAt), parse(pricedAt));
  }
  if (newest === undefined) return undefined;
  const endsAt = plusMicroseconds(plusMilliseconds(newest, ageMsAllowed), 1);
  const ageMs = ageMsOf(newest, at);
  if (ageMs <= ageMsAllowed) return { until: endsAt };
  const why = `no price in the value of what is in session is newer than ${Math.floor(ageMs / 1_000)} s, and ${ageMsAllowed / 1_000} s is the most: it tells of no loss since; this ends with fresh prices`;
  return { why, until: forever };
}

function oldPrices(nav: NavUpdated, { isInSession, ageMsMax, at }: PriceRules): PriceStanding {
  const old: { readonly symbol: string; readonly ageMs: number }[] = [];
  let until: Instant = forever;
  for (const { symbol, pricedAt } of pricesOf(nav)) {
    const ageMs = ageMsOf(pricedAt, at);
    const endsAt = plusMicroseconds(plusMilliseconds(pricedAt, ageMsMax), 1);
    if (ageMs <= ageMsMax) until = endsAt < until ? endsAt : until;
    else if (symbol === undefined || isInSession(symbol)) old.push({ symbol: symbol ?? "a position", ageMs });
  }
  if (old.length === 0) return { until };
  old.sort((one, other) => other.ageMs - one.ageMs);
  const names = old.slice(0, namesMax).map(({ symbol, ageMs }) => `${symbol} (${Math.floor(ageMs / 1_000)} s)`);
  const more = old.length > namesMax ? ` and ${old.length - namesMax} more` : "";
  const why = `the value has prices older than ${ageMsMax / 1_000} s of what is in session, and is judged by the last ones: ${names.join(", ")}${more}; this ends with fresh ones`;
  return { why, until };
}

/** Of a value that is reported without its prices only the oldest is known, and not of what. */
function pricesOf(nav: NavUpdated): readonly { readonly symbol?: string; readonly pricedAt: Instant }[] {
  const asOf = parse(nav.as_of);
  if (nav.prices === undefined) return [{ pricedAt: minusMilliseconds(asOf, nav.oldest_price_age_ms ?? 0) }];
  return Object.entries(nav.prices).map(([symbol, { at }]) => ({ symbol, pricedAt: parse(at) }));
}
