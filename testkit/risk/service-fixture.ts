// The risk engine's shell on the memory store, in virtual time: it can be killed and started again, its commits can be made to fail or to
// lose their answer, and everything that it published can be looked at.

import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { ShownGap } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { EncodedAnswer, RpcCall, UnaryHandler } from "../../ports/rpc.ts";
import type { RiskSettings } from "../../ports/settings.ts";
import { acceptAction } from "../../services/riskengine/blocks/accept-block.ts";
import { type AskRiskOfficer, nobodyToAsk } from "../../services/riskengine/officer.ts";
import { startRiskEngine } from "../../services/riskengine/riskengine.ts";
import type { RunningService, ServicePorts } from "../../services/shared/service.ts";
import type { MemoryProcess } from "../memory/tables.ts";
import { giveProof } from "../memory/units/step-up.ts";
import { type DifferentReference, openMemoryPlatform, testSettings } from "../virtual/memory-platform.ts";

/** Ages that no test reaches by accident: the memory store's time flies. */
const dayMs = 86_400_000;
const settingsDefault: RiskSettings = {
  markAgeMsMax: 365 * dayMs,
  navAgeMsMax: 365 * dayMs,
  lossValueAgeMsMax: 365 * dayMs,
  fxAgeMsMax: 365 * dayMs,
  borrowAgeMsMax: 365 * dayMs,
  approvalValidMs: 5_000,
  undecidedMax: 4_096,
  openOrdersPerFundMax: 10_000,
  haltPollMs: 250,
  haltUnknownMs: 2_000,
  lossConfirmations: 2,
  lossConfirmMs: 5_000,
  valueUnexplainedMax: 0.05,
  priceJumpMax: 0.25,
  snapshotEveryEntries: 1_000_000,
};

export interface RiskEngineFixtureOptions {
  readonly seed: number;
  readonly settings?: Partial<RiskSettings>;
  readonly askRiskOfficer?: AskRiskOfficer;
  /** When paper instruments trade: around the clock when absent. */
  readonly sessions?: "always" | "real";
  /** What it has otherwise than the paper platform. */
  readonly reference?: DifferentReference;
  /** When it begins, where that matters. */
  readonly startAt?: Instant;
  /** What is built in beside the engine: its ports as it is to have them, in each of its lives. */
  readonly plant?: (ports: ServicePorts) => ServicePorts;
}

/** One life of the engine. */
export interface EngineLife {
  readonly service: RunningService;
  readonly process: MemoryProcess;
  readonly deaths: Error[];
  readonly ports: ServicePorts;
  /** The whole answer; it moves on only while time does. */
  check(order: Partial<Order>, identity?: Identity): Promise<RiskDecision>;
  call(procedure: string, message: object, identity?: Identity, stepUpProof?: string): Promise<unknown>;
}

const person = (name: string): Identity =>
  ({ kind: "operator", actor: `operator:${name}`, name, subject: name, roles: ["operator"] }) as unknown as Identity;

export const operator = person("duty");
export const relief = person("relief");
/** A machine's, by the name of its token. */
export const machineOf = (name: string): Identity =>
  ({ kind: "service", actor: `service:${name}`, name, subject: name, roles: ["service"] }) as unknown as Identity;
export const machine = machineOf("oms");
/** An order management outside. */
export const desk = machineOf("desk");

export type RiskEngineFixture = Awaited<ReturnType<typeof riskEngineFixture>>;

export async function riskEngineFixture(options: RiskEngineFixtureOptions) {
  const platform = openMemoryPlatform(options);
  const { time, tables, fates, delays, finish } = platform;
  delays.commitMs = 1;
  const { navAgeMsMax = settingsDefault.navAgeMsMax } = options.settings ?? {};
  const settings = {
    ...testSettings,
    risk: { ...settingsDefault, lossValueAgeMsMax: navAgeMsMax, ...options.settings },
    market: { ...testSettings.market, ...(options.sessions !== undefined && { sessions: options.sessions }) },
  };

  const outside = platform.processOf("oms");
  const publish = <Payload>(subject: Subject<Payload>, payload: Payload): Promise<string> =>
    outside.store.transact("outside", (unit) => unit.events.publish(subject, payload));

  /** As a program that publishes straight onto NATS. */
  const publishForeign = <Payload>(subject: Subject<Payload>, payload: Payload): Promise<string> =>
    platform.processOf("foreign").store.transact("outside", (unit) => unit.events.publish(subject, payload));

  /** As the gRPC door does it, in the name of a token. */
  const publishFor = <Payload>(source: string, subject: Subject<Payload>, payload: Payload): Promise<string> =>
    platform
      .processOf("operations")
      .store.transact("outside", (unit) => unit.events.publishFor(source, subject, payload));

  /** Values and prices of everything that the paper funds trade. */
  async function putPrices(): Promise<void> {
    const at = format(time.clock.now());
    for (const [fund_id, nav] of [
      ["alpha", "10000000"],
      ["beta", "2000000"],
      ["gamma", "5000000"],
    ] as const) {
      await publish(subjects.navUpdated, { fund_id, nav, currency: "USD", strategy_pnl: {}, as_of: at });
    }
    for (const [symbol, price] of [
      ["AAPL", "232.5"],
      ["MSFT", "428"],
      ["BTC-USD", "91000"],
      ["SPY", "592.4"],
    ] as const) {
      outside.bus.broadcast(subjects.marketMarks, { symbol, price, source: "fixture", at });
    }
    const option_risk = { delta: "0.25", stressed_up: "90", stressed_down: "1", at };
    const option = { symbol: "SPY 281215C00650000", price: "12.5", source: "fixture", option_risk, at };
    outside.bus.broadcast(subjects.marketMarks, option);
    await time.timers.sleep(200);
  }

  /** With values and prices told at once, unless it is to begin in silence. */
  async function start({ inSilence = false }: { readonly inSilence?: boolean } = {}): Promise<EngineLife> {
    const deaths: Error[] = [];
    const own = platform.processOf("riskengine");
    const { process } = own;
    const differs: Partial<ServicePorts> = {
      crash: { die: (defect) => deaths.push(defect) as never },
      stopwatch: () => time.elapsedMs() * 1_000,
      settings,
    };
    const real = platform.portsOf("riskengine", differs, own);
    const ports = options.plant?.(real) ?? real;
    const starting = startRiskEngine(ports, options.askRiskOfficer ?? nobodyToAsk);
    const service = await finish(starting);
    if (!inSilence) await finish(putPrices());
    const call = (
      procedure: string,
      message: object,
      identity: Identity = operator,
      stepUpProof?: string,
    ): Promise<unknown> => {
      const handler = service.rpc[0]?.handlers[procedure] as UnaryHandler;
      const requestBytes = procedure.startsWith("CheckOrder")
        ? Order.encode(message as Order).finish()
        : new Uint8Array();
      const rpcCall: RpcCall = {
        requestId: "r",
        identity,
        signal: new AbortController().signal,
        isGone: () => false,
        stepUpProof,
        requestBytes,
      };
      // What was lent is taken back as soon as it may be.
      return handler(message as never, rpcCall).finally(() => requestBytes.fill(0xff));
    };
    return {
      service,
      process,
      deaths,
      ports,
      call,
      check: async (order, identity = machine) => {
        const answer = (await call("CheckOrder", orderOf(order), identity)) as EncodedAnswer;
        return RiskDecision.decode(answer.encoded);
      },
    };
  }

  await finish(platform.putReference(outside.store, options.reference));
  return {
    time,
    tables,
    fates,
    delays,
    finish,
    publish: <Payload>(subject: Subject<Payload>, payload: Payload) => finish(publish(subject, payload)),
    publishForeign: <Payload>(subject: Subject<Payload>, payload: Payload) => finish(publishForeign(subject, payload)),
    publishFor: <Payload>(source: string, subject: Subject<Payload>, payload: Payload) =>
      finish(publishFor(source, subject, payload)),
    outside,
    platform,
    start,
    /** As the duty operator accepts blocks, with the second factor. */
    accept: (life: EngineLife, blockIds: readonly string[], reason: string, gaps?: ShownGap[]): Promise<unknown> => {
      const [block_id = "", ...more_block_ids] = blockIds;
      const named = acceptAction(blockIds, reason, gaps);
      const step_up_proof = giveProof(tables.stepUps, { identity: operator, named, at: time.clock.now() });
      return finish(life.call("AcceptBlock", { block_id, more_block_ids, reason, step_up_proof, gaps }));
    },
    putPrices: () => finish(putPrices()),
    /** What was published under a subject, oldest first. */
    published: platform.published,
    decisions: () => tables.risk.journal.filter(({ kind }) => kind === "decision"),
    pass: platform.pass,
  };
}

let orders = 0;

/** An ordinary small order that passes, with an id and a key of its own. */
export function orderOf(different: Partial<Order>): Order {
  orders += 1;
  return {
    ...Order.decode(new Uint8Array()),
    idempotency_key: `key-${orders}`,
    order_id: `order-${orders}`,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    order_type: "LIMIT",
    limit_price: "232.5",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "fixture",
    ...different,
  };
}
