// The one view that every gate reads, before anything was filled in.

import * as amounts from "../money/amount.ts";
import { zeroNotional } from "../money/exact.ts";
import { type InputAges, inputAgesDefault } from "./input-ages.ts";
import { noneStands } from "./standing-condition.ts";
import { noTerms } from "./terms.ts";
import type { FundView, Verdict } from "./view.ts";

export const noVerdict: Verdict = { kind: "none", reason: "", model: "", promptHash: "", costUsd: "", tookMs: 0 };

// tidy: long because it is one record, written out so that every view has the same shape.
/** One view with nothing in it. */
export function emptyView(ages: InputAges = inputAgesDefault): FundView {
  return {
    keySeen: "no",
    keyAgeMs: Number.NaN,
    fundKnown: false,
    fundCurrency: "",
    strategyKnown: false,
    envelope: undefined,
    instrument: undefined,
    terms: noTerms(),
    amends: false,
    amendsAnother: false,
    amendRefusal: undefined,
    lowers: false,
    heldAtBroker: false,
    strategyPosition: amounts.nothing,
    strategyPending: amounts.nothing,
    reducesStrategy: false,
    closesForFund: false,
    strategyHalted: false,
    ages,
    textsFit: undefined,
    classification: undefined,
    closingQuantity: amounts.nothing,
    openingQuantity: amounts.nothing,
    position: amounts.nothing,
    pendingBuy: amounts.nothing,
    pendingSell: amounts.nothing,
    doubt: undefined,
    lapsed: amounts.nothing,
    ownRemaining: amounts.nothing,
    ownFilled: amounts.nothing,
    exitWaits: undefined,
    openOrders: 0,
    openOrdersMax: 0,
    price: undefined,
    bid: undefined,
    ask: undefined,
    market: undefined,
    priceAgeMs: Number.NaN,
    priceSource: "",
    fxRate: undefined,
    fxAgeMs: Number.NaN,
    unitValue: undefined,
    option: undefined,
    nav: undefined,
    navAgeMs: Number.NaN,
    grossOthers: zeroNotional,
    netHighOthers: zeroNotional,
    netLowOthers: zeroNotional,
    sectorOthers: zeroNotional,
    unpricedSymbol: undefined,
    unpricedRate: undefined,
    unpricedRateAgeMs: Number.NaN,
    oldestPriceAgeMs: 0,
    limits: undefined,
    heldHigh: undefined,
    heldLow: undefined,
    haltsKnown: false,
    haltEpoch: 0,
    halt: undefined,
    haltId: "",
    haltReason: "",
    conditions: noneStands,
    restrictions: undefined,
    strategyOrdersInSecond: 0,
    fundOrdersInSecond: 0,
    repeatedExecutions: 0,
    borrowAvailable: undefined,
    borrowFee: undefined,
    borrowAgeMs: Number.NaN,
    verdict: noVerdict,
  };
}
