// The desk without a screen: what it would show first, and then every change as one line, for screen readers, pipes and logs.

import { clean } from "../../contracts/src/text/clean.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";
import { amount } from "../words/figures.ts";
import { isOpen } from "../words/order-words.ts";
import { watchdogWord } from "../words/risk-words.ts";
import type { Data, Fund, ListName, Lists, Order } from "./lists.ts";
import { linkWord } from "./model/link.ts";
import { reduce } from "./model/reduce.ts";
import { initialState, type State } from "./model/state.ts";
import type { Source } from "./source.ts";
import { attentionOf } from "./view/attention.ts";
import { profit } from "./view/figures.ts";

export interface PlainSurroundings {
  readonly source: Source;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  readonly who: string;
  readonly profile: string;
  say(line: string): void;
}

const tickMs = 1_000;
const read: readonly ListName[] = [
  "funds",
  "positions",
  "orders",
  "halts",
  "blocks",
  "use",
  "stops",
  "differences",
  "watchdogs",
  "alarms",
];

/** Ends when the signal aborts, or with the login. */
export async function runPlain({ source, clock, timers, signal, who, profile, say }: PlainSurroundings): Promise<void> {
  let state = initialState({ now: clock.now(), who, profile, size: { columns: 80, rows: 24 } });
  const advance = (next: State): void => {
    for (const line of changes(state, next)) say(clean(line));
    state = next;
  };
  say(`Portcullis, ${clean(who)}. Every change is one line; Ctrl-C ends it.`);
  source.want(read);
  const over = new AbortController();
  const ticking = (async () => {
    while (!signal.aborted && !over.signal.aborted) {
      await timers.sleep(tickMs, AbortSignal.any([signal, over.signal]));
      advance(reduce(state, { kind: "tick", now: clock.now() }).state);
    }
  })();
  await source.run((event) => advance(reduce(state, event).state), signal);
  over.abort();
  await ticking;
}

/** What a listener must hear: link, halts and what else needs attention, funds, orders, positions, bands, watchdogs. */
export function* changes(before: State, after: State): Iterable<string> {
  const [was, is] = [linkWord(before), linkWord(after)];
  if (was !== is) yield `Link: ${is}.`;
  const [old, now] = [attentionOf(before), attentionOf(after)];
  // Ages move by themselves and are no change.
  if (ageless(old.text) !== ageless(now.text) && after.data.held.halts !== undefined) yield `Attention: ${now.text}`;
  yield* listChanges(before.data, after.data);
}

function* listChanges(before: Data, after: Data): Iterable<string> {
  const [was, is] = [before.held, after.held];
  yield* changed(was.funds?.value, is.funds?.value, {
    id: ({ fund_id }) => fund_id,
    line: fundLine,
    state: ({ halted, mode }) => `${mode} ${halted}`,
    first: () => true,
  });
  yield* changed<Order>(was.orders?.value, is.orders?.value, {
    id: ({ order }) => order.order_id,
    line: ({ order, state, code }) =>
      `Order ${order.order_id} of ${order.fund_id}: ${order.side} ${order.quantity} ${order.symbol} ${state}${code === undefined ? "" : ` ${code}`}.`,
    state: ({ state, code }) => `${state} ${code ?? ""}`,
    first: isOpen,
  });
  yield* changed(was.positions?.value, is.positions?.value, {
    id: ({ fund_id, strategy_id, symbol }) => `${fund_id}/${strategy_id}/${symbol}`,
    line: ({ strategy_id, symbol, quantity, market_value, unrealised_pnl }) =>
      `Position ${symbol} of ${strategy_id}: ${quantity}, value ${amount(market_value) || "not known"}, profit ${profit(unrealised_pnl).text || "not known"}.`,
    state: ({ quantity }) => quantity,
    first: () => true,
  });
  yield* changed(was.use?.value, is.use?.value, {
    id: ({ fund_id, limit, scope }) => `${fund_id}/${limit}/${scope}`,
    line: ({ fund_id, limit, scope, band }) =>
      `Limit ${[fund_id, limit, scope].filter(Boolean).join(" ")}: band ${band} %.`,
    state: ({ band }) => String(band),
    first: ({ band }) => band > 0,
  });
  yield* changed<Lists["watchdogs"][number]>(was.watchdogs?.value, is.watchdogs?.value, {
    id: ({ watchdog, fund_id, strategy_id, symbol }) => `${watchdog}/${fund_id}/${strategy_id}/${symbol}`,
    line: (one) =>
      `Watchdog ${[one.watchdog, one.strategy_id ?? one.fund_id ?? "firm", one.symbol].filter(Boolean).join(" ")}: ${watchdogWord(one)}.`,
    state: watchdogWord,
    first: (one) => !["OK", "WARMUP"].includes(watchdogWord(one)),
  });
  yield* changed(was.alarms?.value, is.alarms?.value, {
    id: ({ alarm_id }) => alarm_id,
    line: ({ code, sentence }) => `Alarm ${code}: ${sentence}`,
    state: () => "",
    first: () => true,
  });
}

function fundLine({ fund_id, mode, nav, day_pnl, halted }: Fund): string {
  return `Fund ${fund_id} ${mode}: value ${amount(nav) || "not known"}, day's profit ${profit(day_pnl).text || "not known"}, ${halted ? "HALTED" : "not halted"}.`;
}

/** One line for each item that is new or whose state is another; of the first reading only what `first` wants. */
function* changed<Item>(
  before: Compared<Item>,
  after: Compared<Item>,
  { id, line, state, first }: Telling<Item>,
): Iterable<string> {
  if (before === after || after === undefined) return;
  const known = new Map(before?.map((item) => [id(item), state(item)]));
  for (const item of after) {
    const was = known.get(id(item));
    if (was === undefined ? before !== undefined || first(item) : was !== state(item)) yield line(item);
  }
}

type Compared<Item> = readonly Item[] | undefined;

interface Telling<Item> {
  id(item: Item): string;
  line(item: Item): string;
  /** What makes it another. */
  state(item: Item): string;
  first(item: Item): boolean;
}

function ageless(text: string): string {
  return text.replaceAll(/(?<!\d)\d+ (s|min|h|d)\b/g, "");
}
