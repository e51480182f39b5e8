// The second line of every screen: what is halted, or else what needs somebody's attention most, and how much more of it there is.

import { percent } from "../../words/figures.ts";
import { byStrictness, scopeOf } from "../../words/halt-words.ts";
import { blockScope, watchdogWord } from "../../words/risk-words.ts";
import { age } from "../../words/times.ts";
import type { Data, Halt } from "../lists.ts";
import { listOf } from "../lists.ts";
import type { State } from "../model/state.ts";
import { limitName, openDifferences, owedStops } from "../screens/risk.ts";

interface Attention {
  readonly kind: "halted" | "attention" | "calm";
  readonly text: string;
}

/** Of the newest data, also while the screen is frozen: a halt is never kept from anybody. */
export function attentionOf({ data, now, loginOver }: State): Attention {
  if (loginOver !== undefined) {
    const halted = firstHalt(data) === undefined ? "" : " HALTED when last heard.";
    return { kind: "attention", text: `LOGIN OVER: ${loginOver}${halted} What is shown is of then.` };
  }
  const status = data.held.halts?.value;
  if (status !== undefined && status.halts.length > 0) return { kind: "halted", text: haltText(status.halts, now) };
  if (status !== undefined && !status.known) {
    return { kind: "halted", text: "HALT STATE UNKNOWN: counts as halted until it is known again" };
  }
  const failure = data.failures.halts;
  if (status === undefined) {
    const why = failure === undefined ? "not read yet" : failure;
    return { kind: "attention", text: `Halts are not known: ${why}` };
  }
  const [first, ...more] = [...needs(data, now)];
  if (first === undefined) return { kind: "calm", text: "Nothing is halted; nothing denies new risk." };
  return { kind: "attention", text: `${first}${moreText(more.length)}` };
}

function firstHalt(data: Data): Halt | undefined {
  return data.held.halts?.value.halts[0];
}

function haltText(halts: readonly Halt[], now: State["now"]): string {
  const [first, ...more] = byStrictness(halts);
  if (first === undefined) return "";
  const since = age(first.since, now);
  const facts = [first.reason, first.requested_by, since === "" ? "" : `since ${since}`].filter((text) => text !== "");
  return `HALTED ${scopeOf(first)}: ${facts.join(", ")}${moreText(more.length)}`;
}

function moreText(count: number): string {
  return count === 0 ? "" : ` (+${count} more)`;
}

function* needs(data: Data, now: State["now"]): Iterable<string> {
  for (const block of listOf(data, "blocks")) {
    const since = age(block.since, now);
    yield `DENIED ${blockScope(block)}: ${block.code}, ${block.reason}${since === "" ? "" : `, since ${since}`}`;
  }
  for (const { symbol, fund_id, state } of owedStops(data)) yield `STOP ${state}: ${symbol} of ${fund_id}`;
  for (const { symbol, fund_id, our_quantity, broker_quantity } of openDifferences(data)) {
    yield `DIFFERENCE: ${symbol} of ${fund_id}, ours ${our_quantity}, broker's ${broker_quantity}`;
  }
  for (const one of listOf(data, "watchdogs")) {
    const word = watchdogWord(one);
    if (word === "ACTION" || word === "WARN") {
      yield `WATCHDOG ${one.watchdog} ${word}: ${one.strategy_id ?? one.fund_id ?? "firm"}`;
    }
  }
  for (const one of listOf(data, "use")) {
    if (one.band >= 90) yield `LIMIT ${one.fund_id} ${limitName(one)}: ${percent(one.share)} used`;
  }
}
