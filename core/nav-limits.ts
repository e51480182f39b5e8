// An envelope's limits as amounts of one fund: its fractions times the NAV. They change when one of the two does and are asked for with
// every order, so they are multiplied once and kept beside the fund.
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Envelope } from "./envelope.ts";
import { type Exact, product } from "./exact.ts";

/** Of each limit also the least that uses half of it, from where on people are warned. */
export interface NavLimits {
  readonly envelope: Envelope;
  readonly nav: Decimal;
  readonly position: Exact;
  readonly positionHalf: Exact;
  readonly gross: Exact;
  readonly grossHalf: Exact;
  readonly net: Exact;
  readonly netHalf: Exact;
  readonly notional: Exact;
  readonly notionalHalf: Exact;
}

/** The least that uses half of what is allowed or more. */
function halfOf(allowed: bigint): Exact {
  return ((allowed + 1n) / 2n) as Exact;
}

/** Those that are known already, if they are of that envelope and that NAV. */
export function navLimits(known: NavLimits | undefined, envelope: Envelope, nav: Decimal): NavLimits {
  if (known !== undefined && known.envelope === envelope && known.nav === nav) return known;
  const position = product(envelope.maxPosition, nav);
  const gross = product(envelope.maxGrossExposure, nav);
  const net = product(envelope.maxNetExposure, nav);
  const notional = product(envelope.maxNotional, decimal.one);
  return {
    envelope,
    nav,
    position,
    positionHalf: halfOf(position),
    gross,
    grossHalf: halfOf(gross),
    net,
    netHalf: halfOf(net),
    notional,
    notionalHalf: halfOf(notional),
  };
}
