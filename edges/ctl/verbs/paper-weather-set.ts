// `ctl paper weather set`: makes the paper broker and the paper market suffer, for a drill. What is not typed stays as it is.

import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import { type Faults, faultsText, isSilent } from "../../words/fault-text.ts";
import { usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { fractionOf } from "../text/numbers.ts";
import { secondsOf } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const paperFaultsSet: Verb = {
  name: "paper weather set",
  heading: "Drills",
  sentence: "Make the paper broker and market suffer, for a drill.",
  about:
    "What is not typed stays as it is; --clear makes all of it fair first. A gap moves a price from now on, and one more on the same symbol moves it further; clearing moves it back. Only paper suffers: a real broker is never touched.",
  arguments: [],
  options: [
    {
      name: "broker-silent",
      value: "TIME",
      sentence: "The broker answers nobody for so long: 90s, 10m, 2h; off ends it.",
    },
    { name: "gap", value: "SYMBOL=FRACTION", repeats: true, sentence: "Move a price: AAPL=-0.12 is a fall of 12 %." },
    {
      name: "news",
      value: "SYMBOL=COUNT",
      repeats: true,
      sentence: "So many stories about a symbol within a minute: AAPL=40.",
    },
    {
      name: "informed",
      value: "SYMBOL=SIDE",
      repeats: true,
      sentence: "One-sided flow: AAPL=buy has the price drift up, by 3 % at most; sell down.",
    },
    { name: "halt-symbol", value: "SYMBOL", repeats: true, sentence: "Stop trading in a symbol, quotes included." },
    { name: "report-loss-pct", value: "FRACTION", sentence: "Lose this share of the broker's reports." },
    { name: "report-repeat-pct", value: "FRACTION", sentence: "Send this share of the broker's reports twice." },
    { name: "clear", sentence: "Make everything fair first." },
    reasonOption,
  ],
  examples: [
    {
      command: "ctl paper weather set --broker-silent 10m --gap AAPL=-0.12 --reason drill",
      sentence: "A gap while nobody answers.",
    },
    { command: "ctl paper weather set --clear --reason over", sentence: "The drill is over." },
  ],
  operation: "SetPaperWeather",
  changesState: true,
  run,
};

type Request = NonNullable<Parameters<Client["setPaperWeather"]>[0]>;

async function run(context: Context): Promise<Answer> {
  const typed = typedOf(context);
  if (Object.keys(typed).length === 0 && !context.switched("clear")) {
    throw usageRefusal("There is nothing to change.", "Add what shall happen, or --clear.");
  }
  const reason = needsReason(context);
  const client = await context.client();
  const before = context.switched("clear") ? {} : kept(await client.getPaperWeather(), context);
  const merged = {
    ...before,
    ...typed,
    gaps: [...(before.gaps ?? []), ...(typed.gaps ?? [])],
    news: [...(before.news ?? []), ...(typed.news ?? [])],
    informed: [...(before.informed ?? []), ...(typed.informed ?? [])],
    haltedSymbols: [...new Set([...(before.haltedSymbols ?? []), ...(typed.haltedSymbols ?? [])])],
  };
  const { brokerSilentUntil, ...rest } = merged;
  const silent = brokerSilentUntil === undefined || brokerSilentUntil === "off" ? {} : { brokerSilentUntil };
  const after = await client.setPaperWeather({ ...rest, ...silent, reason });
  return { data: after, text: faultsText(after, context.clock.now()) };
}

function kept(faults: Faults, context: Context): Request {
  const {
    gaps,
    news,
    informed,
    halted_symbols: haltedSymbols,
    report_loss_pct: lost,
    report_repeat_pct: repeated,
  } = faults;
  return {
    gaps,
    news,
    informed,
    haltedSymbols,
    ...(isSilent(faults, context.clock.now()) ? { brokerSilentUntil: faults.broker_silent_until } : {}),
    ...(lost === undefined ? {} : { reportLossPct: lost }),
    ...(repeated === undefined ? {} : { reportRepeatPct: repeated }),
  };
}

function typedOf(context: Context): Request {
  const silent = context.option("broker-silent");
  const lost = context.option("report-loss-pct");
  const repeated = context.option("report-repeat-pct");
  const gaps = context.optionsOf("gap").map(gapOf);
  const news = context.optionsOf("news").map(newsOf);
  const informed = context.optionsOf("informed").map(informedOf);
  const haltedSymbols = [...context.optionsOf("halt-symbol")];
  return {
    ...(silent === undefined ? {} : { brokerSilentUntil: untilOf(silent, context) }),
    ...(lost === undefined ? {} : { reportLossPct: fractionOf("report-loss-pct", lost) }),
    ...(repeated === undefined ? {} : { reportRepeatPct: fractionOf("report-repeat-pct", repeated) }),
    ...(gaps.length === 0 ? {} : { gaps }),
    ...(news.length === 0 ? {} : { news }),
    ...(informed.length === 0 ? {} : { informed }),
    ...(haltedSymbols.length === 0 ? {} : { haltedSymbols }),
  };
}

function untilOf(typed: string, context: Context): string {
  if (typed === "off") return typed;
  const seconds = secondsOf(typed);
  if (seconds === undefined) throw usageRefusal(`--broker-silent is a time such as 90s, 10m or 2h; "${typed}" is not.`);
  return format(plusMilliseconds(context.clock.now(), seconds * 1_000));
}

function gapOf(typed: string): { readonly symbol: string; readonly pct: number } {
  const [symbol = "", fraction] = typed.split("=");
  if (symbol === "" || fraction === undefined) {
    throw usageRefusal(`--gap is a symbol and a fraction, such as AAPL=-0.12; "${typed}" is not.`);
  }
  return { symbol, pct: fractionOf("gap", fraction) };
}

function newsOf(typed: string): { readonly symbol: string; readonly count: number } {
  const [symbol = "", count = ""] = typed.split("=");
  if (symbol === "" || !/^[0-9]{1,4}$/.test(count) || Number(count) < 1 || Number(count) > 1_000) {
    throw usageRefusal(
      `--news is a symbol and a number of stories from 1 to 1000, such as AAPL=40; "${typed}" is not.`,
    );
  }
  return { symbol, count: Number(count) };
}

function informedOf(typed: string): { readonly symbol: string; readonly side: "buy" | "sell" } {
  const [symbol = "", side] = typed.split("=");
  if (symbol === "" || (side !== "buy" && side !== "sell")) {
    throw usageRefusal(`--informed is a symbol and a side, such as AAPL=buy or AAPL=sell; "${typed}" is not.`);
  }
  return { symbol, side };
}
