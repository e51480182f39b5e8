// Everything that the gates read, for one order at one moment, flat. The engine fills one view again and again, so nothing here
// outlives a check; what was in it is written into the decision's record, and a replay fills it from there.
//
// Conventions: quantities and prices are amounts in the instrument's terms; values are exact products, in the fund's currency. "Others" leaves
// out the symbol that the order is about. Ages are in milliseconds, counted to the moment of the check; NaN when there is nothing.

import type { Decimal } from "../../contracts/src/decimal.ts";
import type { Classification, Severity } from "../../contracts/src/records/values.ts";
import type { Envelope } from "../envelope/envelope.ts";
import type { Amount } from "../money/amount.ts";
import type { Exact, Notional } from "../money/exact.ts";
import type { InputAges } from "./input-ages.ts";
import type { StandingCondition } from "./standing-condition.ts";

/** What is known about an order's numbers before it is known to be an order; undefined is what could not be read. */
export interface Terms {
  /** 1 buys, -1 sells, 0 is no side that we know. */
  direction: 1 | -1 | 0;
  quantity: Amount | undefined;
  limitPrice: Amount | undefined;
  stopPrice: Amount | undefined;
  /** From the order's JSON number by its shortest text; undefined when absent or when it cannot be kept exactly. */
  notional: Amount | undefined;
}

/** The instrument as the gates need it; one object per symbol and version of the reference data. */
export interface InstrumentFacts {
  readonly symbol: string;
  readonly assetClass: string;
  readonly currency: string;
  readonly tickSize: Amount;
  readonly lotSize: Amount;
  readonly multiplier: Amount;
  readonly sector: string;
  /** Why new risk in it is denied, or undefined. */
  readonly restriction: string | undefined;
}

/** What options make of an order: of one in an option, or in an underlying that the fund has options on. */
export interface OptionView {
  /** Whose options and own line count together. */
  readonly underlying: string;
  /** Of the order's own symbol, and so is what follows: undefined and NaN where the order is in the underlying itself. */
  readonly delta: Amount | undefined;
  /** As old as the older of the delta and its underlying's price. */
  readonly deltaAgeMs: number;
  /** What one contract adds to net exposure, with its sign. */
  readonly netValue: Amount | undefined;
  /** What the other lines of the underlying count together. */
  readonly groupOthers: Notional;
  /** In the stress, what one unit of the order's symbol gains or loses; undefined while that cannot be said. */
  readonly unitStress: UnitStress | undefined;
  /** What the other lines of the underlying lose, and what the other underlyings do at their worst. */
  readonly lossesOthers: Losses;
  readonly stressRest: Exact;
  /** Of an option: and the first moment at which it has ended, NaN of anything else. */
  readonly isCall: boolean | undefined;
  readonly endsAt: number;
  /** Units of the underlying that other written calls could have to deliver, and what the fund has to deliver. */
  readonly owedOthers: Amount;
  readonly cover: Amount;
}

/** How the risk officer answered; "none" while nobody was asked. */
export interface Verdict {
  readonly kind: "none" | "pass" | "veto" | "timeout" | "unreadable";
  readonly reason: string;
  readonly model: string;
  readonly promptHash: string;
  /** Decimal text in USD; empty when unknown. */
  readonly costUsd: string;
  readonly tookMs: number;
}

/** The order that it would amend is another one, has ended (its last fills may be on their way), waits for the risk officer, or was asked for by another source. */
export type AmendRefusal = "another" | "ended" | "unapproved" | "not yours";

export interface FundView {
  // Idempotency.
  /** Whether this key was seen within the window, and with which body. */
  keySeen: "no" | "same order" | "another order";
  keyAgeMs: number;

  // Who and what.
  fundKnown: boolean;
  fundCurrency: string;
  strategyKnown: boolean;
  envelope: Envelope | undefined;
  instrument: InstrumentFacts | undefined;
  terms: Terms;
  /** The order id belongs to an open order: this one asks to change it. */
  amends: boolean;
  /** An amendment of an order that it may not amend, and why; absent is the first of the reasons. */
  amendsAnother: boolean;
  amendRefusal?: AmendRefusal | undefined;
  /** Whether what a marked exit closes lies with the broker that it goes to, by the fills that made it; false of anything else. */
  heldAtBroker: boolean;
  /**
   * What the order's strategy itself holds of the symbol, and what its other open orders in the order's direction may still trade: of marked exits, of what
   * is against the fund's position, and in a strategy's halt.
   */
  strategyPosition: Amount;
  strategyPending: Amount;
  /** Whether a marked exit closes nothing but what its own strategy holds; set by classify. */
  reducesStrategy: boolean;
  /** An exit of a stop or of a flattened fund, which the platform's own order management asks for: the fund's position is what it closes. */
  closesForFund?: boolean;
  /** An amendment that can only take away from what may fill: it adds no risk, whatever the order itself does to the position. */
  lowers?: boolean;
  ages: InputAges;

  // What the order does to the position; set by classify before the first gate.
  classification: Classification | undefined;
  /** The part that only closes, and the part that opens; for an amendment of what would still be open. */
  closingQuantity: Amount;
  openingQuantity: Amount;

  // The symbol in this fund. Pending quantities are those of other open orders.
  position: Amount;
  pendingBuy: Amount;
  pendingSell: Amount;
  /** What fills that nobody vouches for add to them in every limit; no part of the record, because new risk in the symbol waits while there is any. */
  doubt?: { readonly buys: Amount; readonly sells: Amount } | undefined;
  /** Of what is pending in the order's own direction: unsent approvals past their time, which do not count against an exit's proof. */
  lapsed?: Amount;
  /** What an amended order still had open before, and has filled so far; zero for a new order. */
  ownRemaining: Amount;
  ownFilled: Amount;
  /** The platform's own exit that waits for room on this line in the order's direction: nobody else is approved before it (decision 0058). */
  exitWaits?: string | undefined;
  openOrders: number;
  openOrdersMax: number;

  // Prices.
  price: Amount | undefined;
  bid: Amount | undefined;
  ask: Amount | undefined;
  priceAgeMs: number;
  /** The feed that said the price; without one, the simulated market's name when only that has said one, which is none for a LIVE fund. Empty in what was recorded before. */
  priceSource: string;
  /** Units of the fund's currency per unit of the instrument's; 1 when they are the same. */
  fxRate: Amount | undefined;
  fxAgeMs: number;
  /**
   * Price x multiplier x rate, rounded up: what one unit of the instrument counts in the fund's currency. Of an option the larger of that and |delta| x
   * the underlying's price x multiplier x rate; undefined while its delta is not known.
   */
  unitValue: Amount | undefined;
  /** Undefined where no option is concerned, and in what was recorded before options counted as their underlying (decision 0049). */
  option?: OptionView | undefined;

  // The fund, in the worst case over its open orders, this symbol left out.
  nav: Amount | undefined;
  navAgeMs: number;
  grossOthers: Notional;
  /** If every pending buy fills and no sell does, and the other way round. */
  netHighOthers: Notional;
  netLowOthers: Notional;
  sectorOthers: Notional;
  /** A symbol that is held or pending and has no price; undefined when all have one. */
  unpricedSymbol: string | undefined;
  /** Set when that symbol has a price and only the exchange rate is missing or too old, with its age; or an option's delta is, which has no age when it is missing. */
  unpricedRate?: "missing" | "old" | "delta" | undefined;
  unpricedRateAgeMs?: number;
  /** The age of the oldest price in the sums above; zero when there are no others. */
  oldestPriceAgeMs: number;

  // What follows from the above or from the order and is known already, to be computed when it is undefined; no part of the record.
  /** Whether the order's ids, its symbol and its lines are made of the characters that they may be made of; false is not known. */
  textsFit?: boolean | undefined;
  /** What `marketPrice` finds. */
  market?: Amount | undefined;
  /** The envelope's limits at this NAV. */
  limits: NavLimits | undefined;
  /** (Position + pending buys) x unit value, and (position - pending sells) x unit value. */
  heldHigh: Notional | undefined;
  heldLow: Notional | undefined;

  // Halts.
  haltsKnown: boolean;
  haltEpoch: number;
  /** The strictest halt that covers this order. */
  halt: Severity | undefined;
  haltId: string;
  haltReason: string;
  /** Whether the order's strategy is halted itself, or nobody knows, whatever else is. */
  strategyHalted: boolean;

  /** The conditions that deny new risk and cover this order, as the gates ask for them; each code once. */
  conditions: readonly StandingCondition[];
  /** What watchdogs limit of this order; undefined while nothing is limited. */
  restrictions?: RestrictionView | undefined;

  // Pace.
  /** New-risk orders that passed the static gate within the last second. */
  strategyOrdersInSecond: number;
  fundOrdersInSecond: number;
  /** Equal approvals within the envelope's window. */
  repeatedExecutions: number;

  // Borrowing.
  borrowAvailable: Amount | undefined;
  borrowFee: Amount | undefined;
  borrowAgeMs: number;

  // The risk officer.
  verdict: Verdict;
}

/** Who restricts, and in which episode. */
export interface RestrictedBy {
  readonly restrictionId: string;
  readonly watchdog: string;
  readonly episodeId: string;
  /** Of gross exposure: the most that there may be, in the fund's currency. */
  readonly allowed?: Exact;
}

/** What judges the order itself: how far gross exposure may go, and whether an option may be sold short. */
export interface RestrictionView {
  readonly noShortOptions: RestrictedBy | undefined;
  readonly gross: RestrictedBy | undefined;
}

export interface NavLimits {
  readonly envelope: Envelope | undefined;
  readonly nav: Amount;
  readonly position: Notional;
  readonly gross: Notional;
  readonly net: Notional;
  readonly notional: Notional;
}

/** What one unit gains (above zero) or loses in each case, in the fund's currency. */
export interface UnitStress {
  readonly up: Decimal;
  readonly down: Decimal;
}

export interface Losses {
  readonly up: Exact;
  readonly down: Exact;
}
