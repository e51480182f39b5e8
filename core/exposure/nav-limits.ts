// An envelope's limits as amounts of one fund: its fractions times the NAV. They change when one of the two does and are asked for with
// every order, so they are multiplied once and kept beside the fund.

import type { Envelope } from "../envelope/envelope.ts";
import { type Amount, isIdentical, oneUnit } from "../money/amount.ts";
import { inCents, product } from "../money/exact.ts";
import type { Plain } from "../money/plain.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf, setHead } from "../state/fund-state.ts";
import type { FundBook } from "../state/records.ts";
import type { NavLimits } from "../state/view.ts";

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

/** Undefined for a fund that was not valued. */
export function navOf(fund: FundBook): Amount | undefined {
  const nav = headOf(fund, fundStates.nav);
  return Number.isNaN(nav) ? fund.wideNav : (nav as Plain);
}

export function setNavOf(fund: FundBook, nav: Amount | undefined): void {
  setHead(fund, fundStates.nav, typeof nav === "number" ? nav : Number.NaN);
  fund.wideNav = typeof nav === "bigint" ? nav : undefined;
  fund.navMost = undefined;
  forgetLimits(fund);
}

/** The NAV or the envelope is another one now. */
export function forgetLimits(fund: FundBook): void {
  setHead(fund, fundStates.positionLimit, Number.NaN);
  fund.wideLimits = undefined;
}

/** Limits in an object that is filled again for every check. */
export type FilledLimits = { -readonly [Name in keyof NavLimits]: NavLimits[Name] };

export function noLimits(): FilledLimits {
  const unknown = Number.NaN as Plain;
  return { envelope: undefined, nav: unknown, position: unknown, gross: unknown, net: unknown, notional: unknown };
}

/** Those of the fund's own envelope at its own NAV, from its fund state if they are known already. */
export function limitsOf(fund: FundBook, envelope: Envelope, nav: Amount, into: FilledLimits): NavLimits {
  const position = headOf(fund, fundStates.positionLimit);
  if (Number.isNaN(position)) return fund.wideLimits ?? keepLimits(fund, navLimits(undefined, envelope, nav));
  into.envelope = envelope;
  into.nav = nav;
  into.position = position as Plain;
  into.gross = headOf(fund, fundStates.grossLimit) as Plain;
  into.net = headOf(fund, fundStates.netLimit) as Plain;
  into.notional = headOf(fund, fundStates.notionalLimit) as Plain;
  return into;
}

function keepLimits(fund: FundBook, limits: NavLimits): NavLimits {
  const { position, gross, net, notional } = limits;
  if (
    typeof position === "number" &&
    typeof gross === "number" &&
    typeof net === "number" &&
    typeof notional === "number"
  ) {
    setHead(fund, fundStates.positionLimit, position);
    setHead(fund, fundStates.grossLimit, gross);
    setHead(fund, fundStates.netLimit, net);
    setHead(fund, fundStates.notionalLimit, notional);
  } else fund.wideLimits = limits;
  return limits;
}
