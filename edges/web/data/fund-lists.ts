// What /funds shows besides what /risk does: value over time, the ledger and the strategies' backtests.

import type { AnswerOf } from "../../client/src/types.ts";
import { shell } from "../../words/shell.ts";
import { stepFor } from "../funds/unit-value.ts";
import { momentText, rangeOf } from "../model/range.ts";
import { type Asked, hoursText, type ListPlace } from "./list-place.ts";

interface FundLists {
  readonly navs: ListPlace<AnswerOf<"listNavs">>;
  /** One value a day, for a year: month and year are counted from it. */
  readonly days: ListPlace<AnswerOf<"listNavs">>;
  readonly ledger: ListPlace<AnswerOf<"listLedger">>;
  readonly backtest: ListPlace<AnswerOf<"getBacktest">>;
}

const valuesMax = 2_000;
const ledgerMax = 200;

const dayMs = 86_400_000;
/** What is shown where the address names no range. */
const absentRange = "90d";
/** A year and a day back, and one more: the last value before a year's first. */
const yearMs = 367 * dayMs;

function asked(given: Asked, nowMs: number) {
  const range = rangeOf({ ...given, from: given.from ?? absentRange }, nowMs);
  const fromMs = range.fromMs ?? nowMs - 90 * dayMs;
  return {
    fundId: given.fund ?? "",
    from: momentText(fromMs),
    ...(range.toMs === undefined ? {} : { to: momentText(range.toMs) }),
    every: stepFor(fromMs, range.toMs ?? nowMs),
  };
}

export const fundLists: FundLists = {
  navs: {
    read: (client, given, call, nowMs) => client.listNavs({ ...asked(given, nowMs), countMax: valuesMax }, call),
    everyMs: 10_000,
    topics: [],
    actions: ["ledger."],
    command: ({ fund = "", from = absentRange }) =>
      shell`ctl treasury navs list --fund-id ${fund} --hours ${hoursText({ from }, 2_160)}`,
    source: "listNavs",
    process: "treasury",
  },
  days: {
    read: (client, { fund = "" }, call, nowMs) =>
      client.listNavs({ fundId: fund, every: "day", countMax: 400, from: momentText(nowMs - yearMs) }, call),
    everyMs: 30_000,
    topics: ["treasury.ledger"],
    actions: ["ledger."],
    command: ({ fund = "" }) => shell`ctl treasury navs list --fund-id ${fund} --hours 8784 --every day`,
    source: "listNavs",
    process: "treasury",
  },
  ledger: {
    read: (client, { fund = "" }, call) => client.listLedger({ fundId: fund, countMax: ledgerMax }, call),
    everyMs: 10_000,
    topics: ["treasury.ledger"],
    actions: ["ledger.", "fill."],
    command: ({ fund = "" }) => shell`ctl treasury ledger list --fund-id ${fund}`,
    source: "listLedger",
    process: "treasury",
  },
  backtest: {
    read: (client, { of = "" }, call) => client.getBacktest({ strategyId: of }, call),
    everyMs: 300_000,
    topics: [],
    actions: [],
    command: ({ of = "" }) => shell`ctl research backtest show ${of}`,
    source: "getBacktest",
    process: "research",
  },
};
