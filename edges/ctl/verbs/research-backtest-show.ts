// `ctl research backtest show`: how a strategy would have done, in figures and day by day.

import type { AnswerOf } from "../../client/src/types.ts";
import { exactPercent } from "../../words/figures.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const researchBacktestShow: Verb = {
  name: "research backtest show",
  heading: "Strategies",
  sentence: "Show a strategy's backtest: its figures and its newest days.",
  about:
    "CSV and JSON have every day. Returns are fractions of what the strategy works with; a year has 252 trading days, or 365 where trading never stops.",
  arguments: [{ name: "strategy_id", sentence: "The strategy." }],
  options: [...listOptions],
  examples: [
    { command: "ctl research backtest show alpha-momentum", sentence: "Its figures." },
    { command: "ctl research backtest show alpha-momentum --format csv", sentence: "Every day of it." },
  ],
  operation: "GetBacktest",
  changesState: false,
  run,
};

type Backtest = AnswerOf<"getBacktest">;
type Day = Backtest["days"][number];

const daysShown = 10;

const columns: readonly Column<Day>[] = [
  { name: "day", key: true, of: (one) => one.day },
  { name: "return", key: true, of: (one) => one.return, shown: (one) => share(one.return), number: true },
  {
    name: "information_coefficient",
    of: (one) => one.information_coefficient,
    shown: (one) => figure(one.information_coefficient),
    number: true,
  },
];

async function run(context: Context): Promise<Answer> {
  const backtest = await (await context.client()).getBacktest({ strategyId: context.argument("strategy_id") });
  const isCsv = context.option("format") === "csv";
  const rows = isCsv ? backtest.days : backtest.days.slice(-daysShown);
  return listing(context, { columns, rows, none: "It has no days.", data: backtest, lead: leadOf(backtest) });
}

function leadOf(backtest: Backtest): string {
  const facts = pairs([
    ["Annual return", share(backtest.annual_return)],
    ["Annual volatility", share(backtest.annual_volatility)],
    ["Sharpe", figure(backtest.sharpe)],
    ["Largest fall", share(backtest.max_drawdown)],
    ["Days", String(backtest.days.length)],
  ]);
  return `${clean(`${backtest.strategy_id}, from ${backtest.from} to ${backtest.to}`)}\n${facts}`;
}

function share(fraction: number | undefined): string {
  return fraction === undefined ? "none" : exactPercent(Number(fraction.toFixed(6)));
}

function figure(value: number | undefined): string {
  return value === undefined ? "none" : value.toFixed(3);
}
