// An envelope's limits as amounts of one fund: its fractions times the NAV. They change when one of the two does and are asked for with
// every order, so they are multiplied once and kept beside the fund.
import { type Amount, isIdentical, oneUnit } from "./amount.ts";
import type { Envelope } from "./envelope.ts";
import { inCents, product, type Worth } from "./exact.ts";

export interface NavLimits {
  readonly envelope: Envelope;
  readonly nav: Amount;
  readonly position: Worth;
  readonly gross: Worth;
  readonly net: Worth;
  readonly notional: Worth;
}

/** Those that are known already, if they are of that envelope and that NAV. */
export function navLimits(known: NavLimits | undefined, envelope: Envelope, nav: Amount): NavLimits {
  if (known !== undefined && known.envelope === envelope && isIdentical(known.nav, nav)) return known;
  return {
    envelope,
    nav,
    position: inCents(product(envelope.maxPosition, nav)),
    gross: inCents(product(envelope.maxGrossExposure, nav)),
    net: inCents(product(envelope.maxNetExposure, nav)),
    notional: inCents(product(envelope.maxNotional, oneUnit)),
  };
}
