// Whether the prices in a fund's value are young enough for its losses to be judged in full. A price counts as too old only while its instrument is in
// session: what is closed is not traded, and its last price is what it is worth. A value that is made from old prices is judged all the same, by the
// last ones; what it cannot show is what the halted symbol has lost since, so no new risk is taken on it.
import {
  type Instant,
  minusMilliseconds,
  parse,
  plusMicroseconds,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { ageMsOf } from "./dated.ts";

export interface PriceStanding {
  /** Which prices are too old, and what ends it; absent when none is. */
  readonly why?: string;
  /** When the next one is, if nothing comes. */
  readonly until: Instant;
}

export interface PriceRules {
  /** Whether the instrument is traded at that moment, as far as its calendar says; true where nobody knows. */
  readonly isInSession: (symbol: string) => boolean;
  readonly ageMsMax: number;
  readonly at: Instant;
}

const namesMax = 5;
const forever = Number.MAX_SAFE_INTEGER as Instant;

export function priceStanding(nav: NavUpdated, { isInSession, ageMsMax, at }: PriceRules): PriceStanding {
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
