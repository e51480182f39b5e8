// What /funds shows besides what /risk does: value over time, the ledger and the strategies' backtests.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Asked, ListPlace } from "./list-place.ts";

interface FundLists {
  readonly navs: ListPlace<AnswerOf<"listNavs">>;
  /** One value a day, for a year: month and year are counted from it. */
  readonly days: ListPlace<AnswerOf<"listNavs">>;
  readonly ledger: ListPlace<AnswerOf<"listLedger">>;
  readonly backtest: ListPlace<AnswerOf<"getBacktest">>;
}

const valuesMax = 2_000;
const ledgerMax = 200;

/** `from` and `to` are moments here: whoever asks turns "7d" into one. */
function step({ of = "hour" }: Asked): "minute" | "hour" | "day" {
  return of === "minute" || of === "day" ? of : "hour";
}

export const fundLists: FundLists = {
  navs: {
    read: (client, asked, call) =>
      client.listNavs(
        {
          fundId: asked.fund ?? "",
          every: step(asked),
          countMax: valuesMax,
          ...(asked.from === undefined ? {} : { from: asked.from }),
          ...(asked.to === undefined ? {} : { to: asked.to }),
        },
        call,
      ),
    everyMs: 10_000,
    topics: [],
    command: (asked) => `ctl treasury navs list --fund-id ${asked.fund ?? ""} --every ${step(asked)}`,
    source: "listNavs",
  },
  days: {
    read: (client, { fund = "", from }, call) =>
      client.listNavs({ fundId: fund, every: "day", countMax: 400, ...(from === undefined ? {} : { from }) }, call),
    everyMs: 30_000,
    topics: ["treasury.ledger"],
    command: ({ fund = "" }) => `ctl treasury navs list --fund-id ${fund} --hours 8784 --every day`,
    source: "listNavs",
  },
  ledger: {
    read: (client, { fund = "" }, call) => client.listLedger({ fundId: fund, countMax: ledgerMax }, call),
    everyMs: 10_000,
    topics: ["treasury.ledger"],
    command: ({ fund = "" }) => `ctl treasury ledger list --fund-id ${fund}`,
    source: "listLedger",
  },
  backtest: {
    read: (client, { of = "" }, call) => client.getBacktest({ strategyId: of }, call),
    everyMs: 300_000,
    topics: [],
    command: ({ of = "" }) => `ctl research backtest show ${of}`,
    source: "getBacktest",
  },
};
