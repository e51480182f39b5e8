// A desk for tests: lists as a server answers them, keys as they are typed, and the screen as its lines.
import { type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { KeyEvent, NamedKey } from "../../edges/tui/keys.ts";
import type { Halt, ListName, Lists, Order } from "../../edges/tui/lists.ts";
import type { Effect, Event, ListEvent } from "../../edges/tui/model/events.ts";
import { reduce } from "../../edges/tui/model/reduce.ts";
import { initialState, type State } from "../../edges/tui/model/state.ts";
import { frame } from "../../edges/tui/view/frame.ts";
import { type Look, plainText } from "../../edges/tui/view/text.ts";

export const start: Instant = parse("2026-11-15T03:00:00Z");
export const plainLook: Look = { ascii: false, colour: false };

export interface Played {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export function desk(columns = 80, rows = 24): Played {
  const beginning = { now: start, who: "operator:duty", profile: "default", size: { columns, rows } };
  return { state: initialState(beginning), effects: [] };
}

export function played(desk: Played, ...events: readonly Event[]): Played {
  return events.reduce<Played>(({ state, effects }, event) => {
    const step = reduce(state, event);
    return { state: step.state, effects: [...effects, ...step.effects] };
  }, desk);
}

export function list<Name extends ListName>(name: Name, value: Lists[Name], at: Instant = start): ListEvent {
  // A name with its own list is one of these events.
  return { kind: "list", name, value, at } as ListEvent;
}

export function heard(at: Instant = start, mode: "stream" | "polling" = "polling"): Event {
  return { kind: "heard", at, mode };
}

export function laterBy(ms: number): Event {
  return { kind: "tick", now: plusMilliseconds(start, ms) };
}

export function key(name: NamedKey): Event {
  return { kind: "input", input: { kind: "key", key: name } };
}

/** Letter by letter. */
export function typed(text: string): readonly Event[] {
  return [...text].map((letter): Event => ({ kind: "input", input: { kind: "letter", letter } }));
}

export function pasted(text: string): Event {
  const input: KeyEvent = { kind: "paste", text };
  return { kind: "input", input };
}

export function screen({ state }: Played, look: Look = plainLook): readonly string[] {
  return frame(state, look).map((line) => plainText(line).trimEnd());
}

export const haltOf = (more: Partial<Halt> = {}): Halt => ({
  severity: "FIRM_HALT",
  fund_id: "",
  reason: "manual",
  requested_by: "operator:relief",
  halt_id: "h-1",
  epoch: 7,
  since: "2026-11-15T02:57:00Z",
  ...more,
});

export function haltStatus(halts: readonly Halt[], more: Partial<Lists["halts"]> = {}): Lists["halts"] {
  return {
    fund_id: "",
    halted: halts.length > 0,
    known: true,
    epoch: 7,
    halts: [...halts],
    as_of: "2026-11-15T03:00:00Z",
    progress: halts.map(({ halt_id }) => ({
      halt_id: halt_id ?? "",
      steps: [
        { step: "BLOCKED", proven: true, detail: "" },
        { step: "CANCELLED", proven: false, detail: "2 orders left" },
        { step: "NOTIFIED", proven: true, detail: "" },
      ],
    })),
    restarts: ["alpha-momentum"],
    lifted_halt_ids: [],
    ...more,
  };
}

export const twoFunds: Lists["funds"] = [
  {
    fund_id: "alpha",
    name: "Alpha US equities",
    mode: "PAPER",
    currency: "USD",
    nav: "10000105.82",
    nav_at: "2026-11-15T02:59:59Z",
    day_pnl: "105.82",
    gross_exposure_pct: 0.176,
    net_exposure_pct: 0.176,
    halted: false,
  },
  { fund_id: "beta", name: "Beta crypto", mode: "PAPER", currency: "USD", halted: false, day_pnl: "-45.25" },
];

export const threePositions: Lists["positions"] = ["AAPL", "MSFT", "NVDA"].map((symbol, at) => ({
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol,
  quantity: String((at + 1) * 10),
  average_price: "100",
  mark_price: "101",
  market_value: String((at + 1) * 1_010),
  unrealised_pnl: at === 1 ? "-20" : "20",
  currency: "USD",
  as_of: "2026-11-15T02:59:00Z",
  mark_at: "2026-11-15T02:59:58Z",
}));

export function orderOf(orderId: string, state: Order["state"], more: Partial<Order> = {}): Order {
  return {
    order: {
      idempotency_key: orderId,
      order_id: orderId,
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      side: "BUY",
      quantity: "10",
      order_type: "LIMIT",
      limit_price: "100",
      tif: "DAY",
      broker: "paper",
      asset_class: "EQUITY",
      actor: "strategy:alpha-momentum",
    },
    state,
    filled_quantity: "0",
    remaining_quantity: "10",
    created_at: "2026-11-15T02:59:00Z",
    updated_at: "2026-11-15T02:59:00Z",
    ...more,
  };
}

export const someUse: Lists["use"] = [
  {
    fund_id: "alpha",
    limit: "max_position_pct",
    scope: "AAPL",
    used: "450",
    allowed: "1000",
    share: 0.45,
    band: 0,
    as_of: "2026-11-15T02:59:59Z",
  },
  {
    fund_id: "alpha",
    limit: "max_gross_exposure_pct",
    scope: "",
    used: "800",
    allowed: "1000",
    share: 0.8,
    band: 75,
    as_of: "2026-11-15T02:59:59Z",
  },
];

/** With everything that a calm night has. */
export function calm(columns = 80, rows = 24): Played {
  return played(
    desk(columns, rows),
    list("funds", twoFunds),
    list("positions", threePositions),
    list("orders", [orderOf("o-1", "FILLED"), orderOf("o-2", "WORKING")]),
    list("halts", haltStatus([])),
    list("blocks", []),
    list("use", someUse),
    list("losses", []),
    list("stops", []),
    list("differences", []),
    list("watchdogs", []),
    list("strategies", []),
    list("alarms", []),
    heard(),
  );
}
