// Order management on the memory store in virtual time, with a broker and a risk engine that do what a test tells them. It can be killed at
// any moment, as kill -9 does, and started again; world, broker and the engine's memory of keys stay.

import { systemSha256 } from "../adapters/system/hashing.ts";
import { mayPublish } from "../contracts/src/authority.ts";
import { Fault } from "../contracts/src/fault.ts";
import { format, millisecondsBetween, parse, plusMilliseconds } from "../contracts/src/instant.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Order, RiskDecision } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { haltCovers } from "../core/orders/may-send.ts";
import type { Identity } from "../ports/identity.ts";
import type { StoredOrder } from "../ports/oms-records.ts";
import type { RiskChecks } from "../ports/peers.ts";
import type { UnaryHandler } from "../ports/rpc.ts";
import type { Settings } from "../ports/settings.ts";
import { oms } from "../services/oms/oms.ts";
import { paperEnvelopes } from "../services/shared/paper-seeds.ts";
import type { RunningService, ServicePorts } from "../services/shared/service.ts";
import { type FakeBroker, fakeBroker } from "./fake-broker.ts";
import type { MemoryFaults } from "./memory/faults.ts";
import { quietLog } from "./quiet-log.ts";
import { incarnation } from "./virtual/incarnation.ts";
import { openMemoryPlatform, testSettings } from "./virtual/memory-platform.ts";

export interface FakeRisk {
  /** Whether an order is approved; a text is the code of a denial. */
  decide: (order: Order) => true | string;
  /** Whether the answer to this question is lost; the decision stands all the same. */
  losesAnswer: () => boolean;
  /** Whether it is not there at all. */
  isDown: () => boolean;
  validMs: number;
  exitsPassHalts: boolean;
  /** Whether exits are proven to reduce their own strategy's position. */
  reducesStrategy: boolean;
  maxNotional: number;
  /** Every decision that was made, in order. */
  readonly decided: RiskDecision[];
  readonly asked: Order[];
}

export interface OmsLife {
  readonly service: RunningService;
  readonly deaths: Error[];
  call<Answer>(procedure: string, message: object, identity?: Identity): Promise<Answer>;
  kill(): void;
}

export const operator = { kind: "operator", actor: "operator:duty", name: "duty" } as Identity;
export const machine = { kind: "service", actor: "service:research", name: "research" } as Identity;

export type OmsFixture = Awaited<ReturnType<typeof omsFixture>>;

export async function omsFixture(options: { readonly seed: number; readonly faults?: Partial<MemoryFaults> }) {
  const platform = openMemoryPlatform({ ...options, pumps: true });
  const { time, tables } = platform;
  const { clock, timers } = time;
  const broker: FakeBroker = fakeBroker({ clock, timers });
  const lives: OmsLife[] = [];
  const beginning = new Set<() => void>();
  let halts = 0;

  const risk: FakeRisk = {
    decide: () => true,
    losesAnswer: () => false,
    isDown: () => false,
    validMs: 5_000,
    exitsPassHalts: true,
    reducesStrategy: true,
    maxNotional: 250_000,
    decided: [],
    asked: [],
  };
  /** As the engine does: the first decision under a key is the decision. */
  const keys = new Map<string, RiskDecision>();

  function decide(order: Order): RiskDecision {
    const at = clock.now();
    const base = {
      order_id: order.order_id,
      decision_id: `d-${risk.decided.length + 1}`,
      fund_id: order.fund_id,
      halt_epoch: tables.risk.haltEpoch,
      decided_at: format(at),
      checks: [],
      warnings: [],
    };
    const original = keys.get(order.idempotency_key);
    if (original !== undefined && millisecondsBetween(parse(original.decided_at), at) < 300_000) {
      const refusal = {
        approved: false,
        rejecting_gate: "idempotency",
        code: "DUPLICATE_KEY",
        reason: "seen",
      } as const;
      return { ...base, ...refusal, original };
    }
    const isExit = order.reduce_only === true;
    const halted = tables.risk.halts.some((halt) => haltCovers(halt, order)) && !(isExit && risk.exitsPassHalts);
    const verdict = halted ? "FUND_HALTED" : risk.decide(order);
    const decision: RiskDecision =
      verdict === true
        ? {
            ...base,
            approved: true,
            rejecting_gate: "",
            code: "",
            reason: "",
            classification: isExit ? "REDUCE" : "INCREASE",
            ...(isExit && risk.reducesStrategy && { reduces_strategy: true }),
            valid_until: format(plusMilliseconds(at, risk.validMs)),
          }
        : { ...base, approved: false, rejecting_gate: "static", code: verdict, reason: `it is ${verdict}` };
    if (order.dry_run !== true) {
      keys.set(order.idempotency_key, decision);
      risk.decided.push(decision);
    }
    return decision;
  }

  const riskChecks: RiskChecks = {
    async check(order) {
      await timers.sleep(1);
      if (risk.isDown()) throw new Fault("SERVICE_UNAVAILABLE", "the risk engine is not there", { retry: "later" });
      risk.asked.push(order);
      const decision = decide(order);
      await timers.sleep(1);
      if (!risk.losesAnswer()) return structuredClone(decision);
      await timers.sleep(1_000);
      throw new Fault("DEADLINE_EXCEEDED", "the answer was lost", { retry: "later" });
    },
    async envelope(fundId) {
      await timers.sleep(1);
      if (risk.isDown()) throw new Fault("SERVICE_UNAVAILABLE", "the risk engine is not there", { retry: "later" });
      const envelope = paperEnvelopes.find((one) => one.fund_id === fundId);
      if (envelope === undefined) return undefined;
      return { ...envelope, halt_allow_reduce_only: risk.exitsPassHalts, max_notional: risk.maxNotional };
    },
  };

  const { store: outside, bus: outsideBus } = platform.processOf("outside");

  function portsOf(deaths: Error[], differs: Partial<Settings>) {
    const allowed = (subject: string) => mayPublish("oms", subject);
    const { process, clock, timers, random, store, bus, riskStore, referenceData } = platform.processOf("oms", allowed);
    const life = incarnation(
      "oms",
      { clock, timers, random, store, bus, riskStore, referenceData, broker: broker as FakeBroker, riskChecks },
      (defect) => {
        process.kill();
        if (defect !== undefined) deaths.push(defect);
      },
    );
    const { broker: mortalBroker, ...mortal } = life.ports;
    const ports = {
      ...mortal,
      log: quietLog,
      sha256: systemSha256,
      brokers: [mortalBroker],
      settings: { ...testSettings, seedPaperPlatform: false, ...differs },
    } as Partial<ServicePorts> as ServicePorts;
    return { ports, life };
  }

  async function start(differs: Partial<Settings> = {}): Promise<OmsLife> {
    const deaths: Error[] = [];
    const { ports, life } = portsOf(deaths, differs);
    const abandon = (): void => life.end();
    beginning.add(abandon);
    const service = await oms.start(ports);
    beginning.delete(abandon);
    const call = async <Answer>(procedure: string, message: object, identity = machine): Promise<Answer> => {
      const handler = service.rpc[0]?.handlers[procedure] as UnaryHandler;
      return (await handler(message as never, { identity } as never)) as Answer;
    };
    const made: OmsLife = { service, deaths, call, kill: () => life.end() };
    lives.push(made);
    return made;
  }

  await platform.putReference(outside);
  return {
    time,
    tables,
    broker,
    risk,
    outside,
    start,
    lives,
    /** Kills what has not finished starting. */
    killStarting(): void {
      for (const abandon of beginning) abandon();
      beginning.clear();
    },
    /** Latches a halt, as operations does; gives its epoch. */
    async halt(scope: Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">): Promise<ActiveHalt> {
      halts += 1;
      const halt = {
        ...scope,
        halt_id: `halt-${halts}`,
        reason: "drill",
        requested_by: "test",
        since: format(clock.now()),
      };
      return outside.transact("halt", async (unit) => {
        const latched = await unit.risk.latchHalt(halt);
        await unit.events.publish(subjects.riskHaltRequested, latched);
        return latched;
      });
    },
    /** The risk engine says that a fund's losses could not be judged for a minute. */
    unjudged(fundId: string, reason: string): Promise<string> {
      const at = format(clock.now());
      const record = { fund_id: fundId, since: at, reason, at };
      return outside.transact("risk.unjudged", (unit) => unit.events.publish(subjects.lossesUnjudged, record));
    },
    mark(symbol: string, price: string, quoted: { readonly bid?: string; readonly ask?: string } = {}): void {
      const mark = { symbol, price, ...quoted, source: "fixture", at: format(clock.now()) };
      outsideBus.broadcast(subjects.marketMarks, mark);
    },
    order: (orderId: string): Promise<StoredOrder | undefined> =>
      outside.transact("look", (unit) => unit.oms.order(orderId)),
    positions: () => outside.transact("look", (unit) => unit.oms.positions()),
    reported: platform.reported,
    /** Waits in virtual time until it holds. */
    async until(what: string, holds: () => boolean | Promise<boolean>, msMax = 60_000): Promise<void> {
      for (let waited = 0; waited <= msMax; waited += 5) {
        if (await holds()) return;
        await timers.sleep(5);
      }
      throw new Error(`waited ${msMax} ms in vain: ${what}`);
    },
    async close(): Promise<void> {
      for (const abandon of beginning) abandon();
      for (const life of lives) life.kill();
      await platform.close();
    },
  };
}

/** An order that the paper funds may give. */
export function orderOf(orderId: string, differs: Partial<Order> = {}): Order {
  return {
    idempotency_key: `key of ${orderId}`,
    order_id: orderId,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    order_type: "LIMIT",
    limit_price: "230",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "test",
    ...differs,
  };
}
