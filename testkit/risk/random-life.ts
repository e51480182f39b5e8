// A fund manager's worst weeks from one seed: orders, amendments, fills in any order, endings, unknown fates, halts, envelopes, marks,
// valuations and risk officers, thrown at an engine one after the other, with everything written down that a model or a second engine needs.

import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import { decisionMessage, inputsOf } from "../../core/engine/decision.ts";
import type { Checked, Engine } from "../../core/engine/engine.ts";
import { bytesOfBody, bytesOfHash } from "../../core/engine/fast/order-hash.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import type { Verdict } from "../../core/state/view.ts";
import type { Prng } from "../virtual/prng.ts";
import {
  envelopeRecord,
  fillOf,
  markOf,
  optionRisks,
  orderOf,
  prices,
  reference,
  startOfDay,
  transitionOf,
} from "./engine-fixture.ts";
import { type Happening, lowersNaively, type NaiveBooks, naiveBooks, remaining, type Tables } from "./naive-model.ts";

/** One decision with all that its record would hold. */
export interface Decided {
  readonly order: Order;
  readonly checked: Checked;
  readonly decision: RiskDecision;
  /** What the other engines said. */
  readonly twins: readonly RiskDecision[];
  readonly inputs: Uint8Array;
  readonly envelope: RiskEnvelope | undefined;
  /** Whether a halt covered the order, or nobody knew. */
  readonly halted: boolean;
  /** Whether all it could do was to take away from an open order. */
  readonly lowers: boolean;
}

/** What the journal would hold, in its order. */
export type Entry =
  | { readonly kind: "decision"; readonly order: Order; readonly decision: RiskDecision; readonly at: instant.Instant }
  | { readonly kind: "fill"; readonly fill: Fill }
  | { readonly kind: "transition"; readonly transition: OrderTransition }
  | { readonly kind: "release"; readonly strategyId: string };

export interface Asked {
  readonly checked: readonly Checked[];
  readonly happening: Happening;
}

export interface Life {
  readonly tables: Tables & {
    reference: ReferenceContents;
    readonly prices: Map<string, string>;
    readonly deltas: Map<string, string>;
    readonly navs: Map<string, string>;
    readonly envelopes: Map<string, RiskEnvelope>;
  };
  readonly happenings: Happening[];
  readonly entries: Entry[];
  readonly decided: Decided[];
  readonly asked: Asked[];
  at: instant.Instant;
  books(): NaiveBooks;
  /** An order as the next step might ask about: new, repeated, or an amendment. */
  order(): Order;
  /** One thing happens to every engine; they are all told the same. */
  step(engines: readonly Engine[]): void;
  /** Tells an engine everything that is not in a snapshot. */
  introduce(engine: Engine): void;
}

const funds: readonly (readonly [string, readonly string[]])[] = [
  ["alpha", ["trend", "value"]],
  ["beta", ["coins"]],
  ["gamma", ["euro"]],
];
const symbols = Object.keys(prices);
const sides = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const;
const endings = ["CANCELLED", "REJECTED", "EXPIRED", "FILLED"] as const;

// tidy: long because everything that can happen shares one world, and each happening is a function of its own.
export function randomLife(prng: Prng): Life {
  const pick = <Value>(values: readonly Value[]): Value => values[prng.below(values.length)] as Value;
  const markedAt = new Map<string, instant.Instant>(symbols.map((symbol) => [symbol, startOfDay]));
  // Some lives turn around few symbols, where orders repeat and pile up; in some the marks come late.
  const traded = prng.chance(0.4) ? [pick(symbols), pick(symbols)] : symbols;
  const liked = prng.chance(0.3) ? [pick(sides)] : sides;
  const punctual = prng.chance(0.8) ? 0.97 : 0.3;
  let navAt = startOfDay;
  let halts: { known: boolean; epoch: number; active: ActiveHalt[] } = { known: true, epoch: 1, active: [] };
  let count = 0;
  const recent: Order[] = [];
  const seenKeys: { readonly checked: Checked }[] = [];

  const life: Life = {
    tables: {
      reference,
      prices: new Map(Object.entries(prices)),
      deltas: new Map(Object.entries(optionRisks).map(([symbol, { delta }]) => [symbol, delta])),
      navs: new Map(funds.map(([fund]) => [fund, "1000000"])),
      envelopes: new Map(funds.map(([fund]) => [fund, startEnvelope(fund)])),
    },
    happenings: [],
    entries: [],
    decided: [],
    asked: [],
    at: startOfDay,
    books: () => naiveBooks(life.happenings),
    order: nextOrder,
    step,
    introduce,
  };

  function startEnvelope(fund: string): RiskEnvelope {
    const veto = fund === "gamma" && prng.chance(0.5);
    return envelopeRecord(fund, {
      order_rate_max_per_s: 3 + prng.below(20),
      strict_sides: prng.chance(0.5),
      ...(prng.chance(0.5) && { repeated_execution_max: 1 + prng.below(3), repeated_execution_window_s: 2 }),
      ...(veto && { cro_veto_enabled: true, cro_veto_on_timeout: "PASS_WITH_WARNING" as const }),
    });
  }

  function introduce(engine: Engine): void {
    engine.setReference(life.tables.reference);
    for (const record of life.tables.envelopes.values()) engine.setEnvelope(compileEnvelope(record));
    for (const symbol of symbols) tellMark(engine, symbol);
    tellNavs(engine);
    engine.setHalts(halts);
    for (const { checked } of seenKeys)
      engine.rememberKey(bytesOfHash(checked.keyHash), bytesOfBody(checked.bodyHash), checked.at);
  }

  function tellMark(engine: Engine, symbol: string): void {
    const { prices: now, deltas } = life.tables;
    engine.setMark(markOf(symbol, now.get(symbol) ?? "1", markedAt.get(symbol) ?? startOfDay, deltas.get(symbol)));
  }

  function tellNavs(engine: Engine): void {
    for (const [fund_id, nav] of life.tables.navs) {
      const currency = fund_id === "gamma" ? "EUR" : "USD";
      engine.setNav({ fund_id, nav, currency, as_of: instant.format(navAt) });
    }
  }

  function step(engines: readonly Engine[]): void {
    life.at = instant.plusMilliseconds(life.at, prng.chance(0.07) ? prng.below(8_000) : prng.below(120));
    const fresh = prng.chance(punctual);
    if (fresh && life.at - (markedAt.get("AAPL") ?? startOfDay) > 4_000_000) markEverything(engines);
    const choice = prng.below(100);
    if (choice < 48) ask(engines);
    else if (choice < 64) fillSomething(engines);
    else if (choice < 77) tellSomething(engines);
    else if (choice < 83) moveMark(engines);
    else if (choice < 86) moveNav(engines);
    else if (choice < 90) changeEnvelope(engines);
    else if (choice < 93) changeHalts(engines);
    else if (choice < 95) changeReference(engines);
    else if (choice < 97) releaseThrottles(engines);
    else concludeOldest(engines);
  }

  function ask(engines: readonly Engine[]): void {
    const order = nextOrder();
    const books = life.books();
    const known = books.open.get(order.order_id)?.order;
    // Whose amendment is asked about may be lowered meanwhile; what is asked about itself is not there to be lowered.
    const isThere = life.asked.every(({ checked }) => checked[0]?.order.idempotency_key !== known?.idempotency_key);
    const lowers = isThere && lowersNaively(books, order);
    const checks = engines.map((engine) => engine.check(order, life.at));
    const [checked] = checks;
    if (checked === undefined) return;
    if (checked.outcome === "ask") {
      const happening: Happening = { kind: "approval", order };
      life.happenings.push(happening);
      life.asked.push({ checked: checks, happening });
      remember(checked);
      return;
    }
    write(order, checks, lowers);
    if (!checked.dryRun && checked.outcome === "approved") life.happenings.push({ kind: "approval", order });
  }

  function nextOrder(): Order {
    if (prng.chance(0.08) && recent.length > 0) return repeated();
    return prng.chance(0.12) ? amendment() : newOrder();
  }

  function remember(checked: Checked): void {
    recent.push(checked.order);
    if (!checked.dryRun && checked.duplicate === "no") seenKeys.push({ checked });
  }

  function write(order: Order, checks: readonly Checked[], lowers: boolean): void {
    const [decision, ...twins] = checks.map((one) => decisionMessage(one, `d${life.decided.length}`));
    const [checked] = checks;
    if (checked === undefined || decision === undefined) return;
    const envelope = life.tables.envelopes.get(order.fund_id);
    const halted = !halts.known || halts.active.some((halt) => covers(halt, order));
    life.decided.push({ order, checked, decision, twins, inputs: inputsOf(checked), envelope, halted, lowers });
    if (checked.dryRun) return;
    life.entries.push({ kind: "decision", order, decision, at: checked.at });
    if (!recent.includes(order)) remember(checked);
  }

  function newOrder(): Order {
    count += 1;
    const [fund_id, strategies] = pick(funds);
    const symbol = pick(traded);
    const coin = symbol === "BTC-USD";
    const orderType = pick(["MARKET", "MARKET", "LIMIT"]);
    // Mostly near the market; now and then where only the collar of exits, or none, lets it.
    const away = prng.chance(0.85) ? 0.97 + prng.below(6) / 100 : 0.5 + prng.below(100) / 100;
    const near = (Number(life.tables.prices.get(symbol)) * away).toFixed(2);
    return orderOf(`o${count}`, {
      fund_id,
      strategy_id: prng.chance(0.97) ? pick(strategies) : "nobody",
      symbol,
      side: pick(liked),
      quantity: coin ? (prng.below(30_000) / 10_000).toFixed(4) : String(prng.below(6) === 0 ? prng.below(2_000) : 50),
      order_type: orderType,
      limit_price: orderType === "LIMIT" ? near : undefined,
      asset_class: coin ? "CRYPTO" : symbol.startsWith("SPY-") ? "OPTION" : "EQUITY",
      reduce_only: prng.chance(0.2) ? true : undefined,
      dry_run: prng.chance(0.05) ? true : undefined,
    });
  }

  function repeated(): Order {
    const order = pick(recent);
    return prng.chance(0.5) ? order : { ...order, quantity: "77" };
  }

  function amendment(): Order {
    const open = [...life.books().open.values()];
    if (open.length === 0) return newOrder();
    const { order } = pick(open);
    count += 1;
    const quantity = order.symbol === "BTC-USD" ? "0.5" : String(1 + prng.below(200));
    const strange = prng.chance(0.1) ? { side: order.side === "BUY" ? "SELL" : "BUY" } : {};
    return { ...order, idempotency_key: `amend-${count}`, quantity, ...changedTerms(order), ...strange };
  }

  /** Mostly none; a price in other digits is none either. */
  function changedTerms(order: Order): Partial<Order> {
    const { limit_price: price } = order;
    if (prng.chance(0.1)) return { tif: "GTC" };
    if (price === undefined || prng.chance(0.7)) return {};
    return { limit_price: prng.chance(0.5) ? `${price}0` : (Number(price) * 1.01).toFixed(2) };
  }

  function fillSomething(engines: readonly Engine[]): void {
    const open = [...life.books().open.values()].filter(({ order }) => !isAsked(order));
    const chosen = open.length > 0 && prng.chance(0.9) ? pick(open) : undefined;
    const order = chosen?.order ?? (recent.length > 0 && prng.chance(0.7) ? pick(recent) : newOrder());
    if (!sides.includes(order.side as (typeof sides)[number]) || isAsked(order)) return;
    const part = chosen === undefined ? 10n ** 18n : (remaining(chosen) * BigInt(1 + prng.below(12))) / 10n;
    count += 1;
    const traded = fillOf(order, text(part > 0n ? part : 10n ** 18n), count);
    const fill = prng.chance(0.5) ? traded : { ...traded, filled_at: instant.format(life.at) };
    life.happenings.push({ kind: "fill", fill });
    life.entries.push({ kind: "fill", fill });
    for (const engine of engines) engine.applyFill(fill);
  }

  function isAsked(order: Order): boolean {
    return life.asked.some(({ checked }) => checked[0]?.order.order_id === order.order_id);
  }

  function tellSomething(engines: readonly Engine[]): void {
    const { open, gone } = life.books();
    const some = prng.chance(0.2) ? [...open.values(), ...gone.values()] : [...open.values()];
    const named = some.filter(({ order }) => !isAsked(order));
    if (named.length === 0) return;
    const chosen = pick(named);
    const at = instant.format(prng.chance(0.9) ? life.at : startOfDay);
    const transition = prng.chance(0.5)
      ? transitionOf(chosen.order, pick(endings), { filled_quantity: text(reported(chosen.filled)), at })
      : transitionOf(chosen.order, prng.chance(0.4) ? "UNKNOWN" : "WORKING", {
          ...(prng.chance(0.5) && { quantity: text(pick([chosen, ...chosen.waiting]).quantity) }),
          filled_quantity: text(reported(chosen.filled)),
          remaining_quantity: text(prng.chance(0.7) ? remaining(chosen) : BigInt(prng.below(60)) * 10n ** 18n),
          at,
        });
    life.happenings.push({ kind: "transition", transition });
    life.entries.push({ kind: "transition", transition });
    for (const engine of engines) engine.applyTransition(transition);
  }

  /** An ending may know of fills that are still on their way. */
  function reported(filled: bigint): bigint {
    return prng.chance(0.3) ? filled + 10n ** 18n : filled;
  }

  function markEverything(engines: readonly Engine[]): void {
    for (const symbol of symbols) {
      markedAt.set(symbol, life.at);
      for (const engine of engines) tellMark(engine, symbol);
    }
    navAt = life.at;
    for (const engine of engines) tellNavs(engine);
  }

  function moveMark(engines: readonly Engine[]): void {
    const symbol = pick(symbols);
    const before = Number(life.tables.prices.get(symbol));
    life.tables.prices.set(symbol, (before * (0.9 + prng.below(21) / 100)).toFixed(2));
    markedAt.set(symbol, life.at);
    const delta = (prng.below(1_000_001) / 1_000_000).toFixed(6).replace(/\.?0+$/, "");
    if (life.tables.deltas.has(symbol)) life.tables.deltas.set(symbol, symbol === "SPY-P400" ? `-${delta}` : delta);
    for (const engine of engines) tellMark(engine, symbol);
  }

  function moveNav(engines: readonly Engine[]): void {
    life.tables.navs.set(pick(funds)[0], String(400_000 + prng.below(1_200_000)));
    navAt = life.at;
    for (const engine of engines) tellNavs(engine);
  }

  function changeEnvelope(engines: readonly Engine[]): void {
    const [fund] = pick(funds);
    const before = life.tables.envelopes.get(fund) ?? envelopeRecord(fund);
    const record: RiskEnvelope = {
      ...before,
      version: before.version + 1,
      max_position_pct: (5 + prng.below(30)) / 100,
      max_gross_exposure_pct: (15 + prng.below(200)) / 100,
      max_net_exposure_pct: (20 + prng.below(150)) / 100,
      sector_limits_pct: prng.chance(0.5) ? { technology: (10 + prng.below(60)) / 100 } : {},
      shorting_enabled: prng.chance(0.7),
      halt_allow_reduce_only: prng.chance(0.8),
      strict_sides: prng.chance(0.5),
      max_notional: prng.chance(0.5) ? 500_000 : 20_000 + prng.below(100_000),
      ...(prng.chance(0.5) && { exit_collar_pct: (1 + prng.below(60)) / 100 }),
    };
    life.tables.envelopes.set(fund, record);
    for (const engine of engines) engine.setEnvelope(compileEnvelope(record));
  }

  function changeHalts(engines: readonly Engine[]): void {
    const epoch = halts.epoch + 1;
    if (prng.chance(0.45)) halts = { known: prng.chance(0.9), epoch, active: [] };
    else {
      const [fund_id, strategies] = pick(funds);
      const severity = pick(["FIRM_HALT", "FUND_HALT", "STRATEGY_HALT"] as const);
      const strategy = severity === "STRATEGY_HALT" ? { strategy_id: pick(strategies) } : {};
      const since = instant.format(life.at);
      const one = {
        severity,
        fund_id,
        ...strategy,
        reason: "drill",
        requested_by: "test",
        halt_id: `h${epoch}`,
        since,
      };
      halts = { known: true, epoch, active: [...halts.active, { ...one, epoch }] };
    }
    for (const engine of engines) engine.setHalts(halts);
  }

  function changeReference(engines: readonly Engine[]): void {
    const rate = (0.9 + prng.below(40) / 100).toFixed(2);
    life.tables.reference = {
      ...life.tables.reference,
      fx: prng.chance(0.9) ? [{ base: "EUR", quote: "USD", rate, as_of: instant.format(life.at) }] : [],
      restricted: prng.chance(0.3) ? [{ symbol: pick(symbols), reason: "earnings" }] : [],
      instruments: reference.instruments.filter(({ symbol }) => symbol !== "XOM" || prng.chance(0.9)),
    };
    for (const engine of engines) engine.setReference(life.tables.reference);
    // A symbol that came back has no price until somebody says one.
    for (const engine of engines) for (const symbol of symbols) tellMark(engine, symbol);
  }

  function releaseThrottles(engines: readonly Engine[]): void {
    const strategyId = pick(pick(funds)[1]);
    const released = engines.map((engine) => engine.releaseThrottle(strategyId));
    if (released[0] === true) life.entries.push({ kind: "release", strategyId });
  }

  function concludeOldest(engines: readonly Engine[]): void {
    const asked = life.asked.shift();
    const [order] = (asked?.checked ?? []).map((checked) => checked.order);
    if (asked === undefined || order === undefined) return;
    const kind = pick(["pass", "pass", "veto", "timeout", "unreadable"] as const);
    const verdict: Verdict = { kind, reason: "so", model: "m", promptHash: "p", costUsd: "0.01", tookMs: 3 };
    life.happenings.splice(life.happenings.indexOf(asked.happening), 1);
    const checks = engines.map((engine, index) => engine.conclude(asked.checked[index] as Checked, verdict, life.at));
    const [checked] = checks;
    if (checked === undefined) return;
    // Who was asked about new risk answered about new risk.
    write(order, checks, false);
    if (checked.outcome === "approved") life.happenings.push({ kind: "approval", order });
  }

  return life;
}

function covers(halt: ActiveHalt, order: Order): boolean {
  if (halt.severity === "FIRM_HALT") return true;
  return halt.severity === "FUND_HALT" ? halt.fund_id === order.fund_id : halt.strategy_id === order.strategy_id;
}

/** The shortest text of so many 10^-18ths. */
export function text(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(19, "0");
  const fraction = digits.slice(-18).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -18)}${fraction === "" ? "" : `.${fraction}`}`;
}
