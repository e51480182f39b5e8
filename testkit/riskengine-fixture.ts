// The risk engine's shell on the memory store, in virtual time: it can be killed and started again, its commits can be made to fail or to
// lose their answer, and everything that it published can be read.

import { memoryBus } from "../adapters/memory/bus.ts";
import { type CommitFate, noFaults } from "../adapters/memory/faults.ts";
import { type CodeTables, enrol, memoryOneTimeCodes } from "../adapters/memory/one-time-codes.ts";
import { memoryReferenceData } from "../adapters/memory/reference-data.ts";
import { memoryRiskStore } from "../adapters/memory/risk-store.ts";
import { memoryStore } from "../adapters/memory/store.ts";
import { type MemoryProcess, memoryTables } from "../adapters/memory/tables.ts";
import { systemBlake3, systemSha256 } from "../adapters/system/hashing.ts";
import { Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { format, type Instant } from "../contracts/src/instant.ts";
import type { ReferenceKind } from "../contracts/src/records/reference.ts";
import type { Subject } from "../contracts/src/subject.ts";
import { subjectByName, subjects } from "../contracts/src/subjects.ts";
import type { Identity } from "../ports/identity.ts";
import type { Log } from "../ports/log.ts";
import type { EncodedAnswer, RpcCall, UnaryHandler } from "../ports/rpc.ts";
import type { RiskSettings } from "../ports/settings.ts";
import { type AskRiskOfficer, nobodyToAsk } from "../services/riskengine/officer.ts";
import { startRiskEngine } from "../services/riskengine/riskengine.ts";
import { paperReference } from "../services/shared/paper-seeds.ts";
import type { RunningService, ServicePorts } from "../services/shared/service.ts";
import { unauditedInPlatform } from "./audited-changes.ts";
import { type Scheduler, scheduler } from "./virtual/scheduler.ts";
import { testSettings } from "./virtual/service-fixture.ts";

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
  snapshotEveryEntries: 1_000_000,
};

export interface RiskEngineFixtureOptions {
  readonly seed: number;
  readonly settings?: Partial<RiskSettings>;
  readonly askRiskOfficer?: AskRiskOfficer;
  /** When paper instruments trade: around the clock when absent. */
  readonly sessions?: "always" | "real";
  /** When it begins, where that matters. */
  readonly startAt?: Instant;
}

/** One life of the engine. */
export interface EngineLife {
  readonly service: RunningService;
  readonly process: MemoryProcess;
  readonly deaths: Error[];
  readonly ports: ServicePorts;
  /** The whole answer; it moves on only while time does. */
  check(order: Partial<Order>): Promise<RiskDecision>;
  call(procedure: string, message: object, identity?: Identity, stepUpProof?: string): Promise<unknown>;
}

const person = (name: string): Identity =>
  ({ kind: "operator", actor: `operator:${name}`, name, subject: name, roles: ["operator"] }) as unknown as Identity;

export const operator = person("duty");
export const relief = person("relief");
export const machine = {
  kind: "service",
  actor: "service:oms",
  name: "oms",
  subject: "oms",
  roles: ["service"],
} as unknown as Identity;

const silence = (): undefined => undefined;
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };

export type RiskEngineFixture = Awaited<ReturnType<typeof riskEngineFixture>>;

export async function riskEngineFixture(options: RiskEngineFixtureOptions) {
  const time: Scheduler = scheduler({
    seed: options.seed,
    ...(options.startAt !== undefined && { startAt: options.startAt }),
  });
  /** Fates of the next commits of that name; "risk.append" is the journal's. */
  const fates = new Map<string, CommitFate[]>();
  const delays = { commitMs: 1, answerMs: 0 };
  const tables = memoryTables({
    ...noFaults,
    commit: (name) => fates.get(name)?.shift() ?? "committed",
    commitDelayMs: () => delays.commitMs,
    answerDelayMs: () => delays.answerMs,
  });
  const finish = <Value>(promise: Promise<Value>): Promise<Value> => time.finish("the fixture", promise, 1_000_000);
  let lives = 0;
  const codes: CodeTables = new Map();
  for (const { subject } of [operator, relief]) enrol(codes, subject);

  function portsOf(process: MemoryProcess, deaths: Error[]): ServicePorts {
    const basic = {
      process,
      clock: time.clock,
      timers: time.timers,
      random: time.prng.fork(`${process.name} ${lives}`),
    };
    const unused = {} as never;
    const { navAgeMsMax = settingsDefault.navAgeMsMax } = options.settings ?? {};
    const store = memoryStore({ ...basic, unauditedChange: unauditedInPlatform });
    return {
      ...basic,
      crash: { die: (defect) => deaths.push(defect) as never },
      log,
      metrics: {
        counter: () => ({ add: silence }),
        gauge: () => ({ set: silence }),
        histogram: () => ({ observe: silence }),
      },
      tracer: { span: (_name, _fields, work) => work() },
      store,
      oneTimeCodes: memoryOneTimeCodes({ codes, clock: time.clock, store }),
      haltsConfirmer: unused,
      bus: memoryBus({ ...basic, subjectByName }),
      secrets: unused,
      sha256: systemSha256,
      blake3: systemBlake3,
      stopwatch: () => time.elapsedMs() * 1_000,
      riskStore: memoryRiskStore(basic),
      riskQueries: unused,
      treasuryQueries: unused,
      booksQueries: undefined,
      databaseCare: undefined,
      watchdogFile: undefined,
      upstreams: [],
      riskBooks: unused,
      withdrawals: unused,
      brokers: [],
      omsQueries: unused,
      riskChecks: unused,
      orderManagement: unused,
      referenceData: memoryReferenceData(process),
      quotes: unused,
      marketHistory: unused,
      auditLog: unused,
      signing: unused,
      sha256OfBytes: unused,
      subjectKeys: unused,
      cipher: unused,
      witnesses: undefined,
      anchors: [],
      stepUps: { redeem: async () => undefined },
      languageModel: undefined,
      chat: { name: "nobody", send: async () => undefined, close: async () => undefined },
      settings: {
        ...testSettings,
        risk: { ...settingsDefault, lossValueAgeMsMax: navAgeMsMax, ...options.settings },
        market: {
          seed: 1,
          quoteEveryMs: 500,
          ...(options.sessions !== undefined && { sessions: options.sessions }),
        },
        seedPaperPlatform: true,
      },
    };
  }

  const outside = portsOf(tables.process("oms"), []);
  const publish = <Payload>(subject: Subject<Payload>, payload: Payload): Promise<string> =>
    outside.store.transact("outside", (unit) => unit.events.publish(subject, payload));

  async function putReference(): Promise<void> {
    const reference = paperReference(format(time.clock.now()));
    await outside.store.transact("reference", async (unit) => {
      for (const kind of Object.keys(reference) as ReferenceKind[]) {
        const setAt: Instant = time.clock.now();
        await unit.reference.put({
          kind,
          version: 1,
          content: reference[kind],
          setBy: "x",
          setAt,
          reason: "",
          hash: "",
        });
      }
    });
  }

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

  /** With values and prices reported at once, unless it is asked to begin in silence. */
  async function start({ inSilence = false }: { readonly inSilence?: boolean } = {}): Promise<EngineLife> {
    lives += 1;
    const process = tables.process("riskengine");
    const deaths: Error[] = [];
    const ports = portsOf(process, deaths);
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
      check: async (order) => {
        const answer = (await call("CheckOrder", orderOf(order), machine)) as EncodedAnswer;
        return RiskDecision.decode(answer.encoded);
      },
    };
  }

  await finish(putReference());
  return {
    time,
    tables,
    fates,
    delays,
    finish,
    publish: <Payload>(subject: Subject<Payload>, payload: Payload) => finish(publish(subject, payload)),
    outside,
    start,
    putPrices: () => finish(putPrices()),
    /** What was published under a subject, oldest first. */
    published: <Payload>(subject: Subject<Payload>): Payload[] =>
      tables.log
        .filter((event) => event.subject === subject.name)
        .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload),
    decisions: () => tables.risk.journal.filter(({ kind }) => kind === "decision"),
    pass: (ms: number) => time.run({ untilMs: time.elapsedMs() + ms }),
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
