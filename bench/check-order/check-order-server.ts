// The server under test, a process of its own: the risk engine's shell behind the product's gRPC server, with PostgreSQL or with a store
// that forgets; or an echo behind the same server. Everything that would come over the bus (prices, the ends of orders) is handed in here,
// so that nothing else runs on this event loop.

import { serveGrpc } from "../../adapters/grpc/server.ts";
import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { createPostgresReferenceData } from "../../adapters/postgres/queries/reference-store.ts";
import { createUnauditedChanges } from "../../adapters/postgres/queries/unaudited-changes.ts";
import { createRiskQueries } from "../../adapters/postgres/risk/risk-queries.ts";
import { createPostgresRiskStore } from "../../adapters/postgres/risk/risk-store.ts";
import { openStore } from "../../adapters/records/open-store.ts";
import { systemBlake3, systemSha256 } from "../../adapters/system/hashing.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import { type Order, Order as OrderMessage, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Bus, BusEvent, Handler } from "../../ports/bus.ts";
import type { Verifier } from "../../ports/identity.ts";
import type { RpcCall, UnaryHandler } from "../../ports/rpc.ts";
import type { RiskSettings } from "../../ports/settings.ts";
import { riskengine } from "../../services/riskengine/riskengine.ts";
import type { RunningService, ServicePorts } from "../../services/shared/service.ts";
import { memoryDisk } from "../../testkit/memory/disk-space.ts";
import { benchTools } from "../bus/ticket.ts";
import { orderIdOf, orderKinds, positionsPerFund, stampNumber, symbolOf } from "./orders.ts";

export type Variant = "floor" | "async" | "durable";

export interface ServerStart {
  readonly variant: Variant;
  readonly database: DatabaseAddress;
}

export type ServerCommand = { readonly start: ServerStart } | { readonly command: "reset" | "counts" };

export interface ServerCounts {
  readonly approved: number;
  readonly denied: number;
}

/** Orders that h2load sends all carry this number, and are given one of their own. */
const stampedFirst = 500_000_000_000;

interface Running {
  readonly port: number;
  reset(): Promise<void>;
  counts(): ServerCounts;
}

export const everybody: Verifier = {
  verify: () =>
    Promise.resolve({
      kind: "service",
      subject: "service:bench",
      name: "bench",
      actor: "service:bench",
      tokenId: "platform:bench",
      roles: ["service"],
      issuer: "bench",
      issuedAt: instant.fromMicroseconds(0),
      expiresAt: instant.fromMicroseconds(Number.MAX_SAFE_INTEGER),
    } as never),
  close: async () => undefined,
} as never;

async function start({ variant, database }: ServerStart): Promise<Running> {
  const tools = benchTools();
  const metrics = createMetrics({ service: "bench" });
  const hands = heldBus();
  const service = variant === "floor" ? undefined : await startEngine(variant, database, hands.bus, metrics);
  const tally: Tally = { approved: 0, denied: 0, open: [] };
  const [rpc] = service?.rpc ?? [];
  const check = rpc === undefined ? echo() : counted(rpc.handlers["CheckOrder"], tally);
  const server = await serveGrpc({
    ...tools,
    crash: { die: (defect) => dieOf(defect) },
    metrics,
    verifier: everybody,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the bench's server",
    environmentVariable: "NONE",
    services: [{ name: "RiskEngine", handlers: { CheckOrder: check, CheckOrders: check } }],
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
  if (service !== undefined) keepPricesFresh(hands);
  if (!("port" in server.address)) throw new Error("the bench's server has no port");
  return {
    port: server.address.port,
    counts: () => ({ approved: tally.approved, denied: tally.denied }),
    reset: () => endOrders(hands, tally.open.splice(0)),
  };
}

const dayMs = 86_400_000;
/** Nobody keeps the log here: the engine alone is measured, and has a day until it would deny for want of it. */
const noAudit = { signingKeyPath: "", verifyEveryMs: dayMs, verifyFirstAfterMs: dayMs, behindMaxMs: dayMs };

export function dieOf(defect: Error): never {
  process.stderr.write(`${defect.stack ?? defect.message}\n`);
  process.exit(1);
}

/** Decides nothing: always the same answer, with no field but the two that it cannot do without. */
function echo(): UnaryHandler {
  const encoded = RiskDecision.encode({
    ...RiskDecision.decode(new Uint8Array()),
    approved: true,
    order_id: orderIdOf(0),
  }).finish();
  return async () => ({ encoded });
}

/** Other services ask the engine here; it asks none. */
const notAsked = {
  riskBooks: undefined as never,
  withdrawals: undefined as never,
  limitPreviews: undefined as never,
};

/** Old enough that no run is denied for its fixed inputs. */
const risk: RiskSettings = {
  markAgeMsMax: 60_000,
  navAgeMsMax: 86_400_000,
  lossValueAgeMsMax: 86_400_000,
  fxAgeMsMax: 86_400_000,
  borrowAgeMsMax: 86_400_000,
  approvalValidMs: 5_000,
  undecidedMax: 4_096,
  openOrdersPerFundMax: 1_000_000,
  haltPollMs: 250,
  haltUnknownMs: 2_000,
  lossConfirmations: 2,
  lossConfirmMs: 5_000,
  valueUnexplainedMax: 0.05,
  priceJumpMax: 0.25,
  snapshotEveryEntries: 1_000_000_000,
};

export async function startEngine(
  variant: Variant,
  database: DatabaseAddress,
  bus: Bus,
  metrics: ReturnType<typeof createMetrics>,
): Promise<RunningService> {
  const tools = { ...benchTools(), metrics };
  const opened = openStore({ ...tools, database: database.app, source: "riskengine", services: ["riskengine"] });
  const store = createPostgresRiskStore({ ...tools, ...opened });
  const forgetful = { ...store, append: async () => undefined };
  const ports: ServicePorts = {
    ...tools,
    crash: { die: dieOf },
    store: opened.store,
    bus,
    secrets: undefined as never,
    sha256: systemSha256,
    blake3: systemBlake3,
    stopwatch: () => performance.now() * 1_000,
    diskSpace: memoryDisk(),
    unauditedChanges: createUnauditedChanges(opened.pool),
    riskStore: variant === "async" ? forgetful : store,
    riskQueries: createRiskQueries(opened.pool),
    brokers: [],
    omsQueries: undefined as never,
    riskChecks: undefined as never,
    orderManagement: undefined as never,
    haltsConfirmer: undefined as never,
    oneTimeCodes: undefined as never,
    treasuryQueries: undefined as never,
    booksQueries: undefined as never,
    databaseCare: undefined,
    watchdogFile: undefined,
    filingFiles: undefined as never,
    filingWork: undefined as never,
    upstreams: [],
    ...notAsked,
    referenceData: createPostgresReferenceData(opened.pool),
    quotes: undefined as never,
    marketHistory: undefined as never,
    auditLog: undefined as never,
    signing: undefined as never,
    subjectKeys: undefined as never,
    cipher: undefined as never,
    sha256OfBytes: undefined as never,
    witnesses: undefined,
    anchors: [],
    stepUps: { redeem: async () => undefined },
    languageModel: undefined,
    chat: { name: "nobody", send: async () => undefined, close: async () => undefined },
    settings: {
      audit: noAudit,
      disk: { warnMb: 0, newRiskMb: 0 },
      research: undefined as never,
      reconcile: undefined as never,
      stops: undefined as never,
      drills: undefined as never,
      seedPaperPlatform: false,
      seedPaperHistory: false,
      market: { seed: 1, quoteEveryMs: 1_000 },
      risk,
    },
  };
  return riskengine.start(ports);
}

interface Tally {
  approved: number;
  denied: number;
  /** As numbers, because ten thousand orders that are kept alive would be the garbage collector's work and not the engine's. */
  readonly open: number[];
}

/** The order's number and, in its last digit, which of the kinds it is. */
function openOrderOf({ order_id, symbol }: Order): number {
  return Number(order_id.slice(1)) * 10 + kindSymbols.indexOf(symbol);
}

const kindOrders = orderKinds.map(({ template }) => OrderMessage.decode(template));
const kindSymbols = kindOrders.map(({ symbol }) => symbol);

/** Counts what was decided, remembers what is open, and numbers what h2load sends. */
function counted(handler: UnaryHandler | undefined, tally: Tally): UnaryHandler {
  if (handler === undefined) throw new Error("the risk engine has no CheckOrder");
  const ask = handler as unknown as (order: Order, call: RpcCall) => Promise<{ readonly encoded: Uint8Array }>;
  let stamped = stampedFirst;
  return (async (order: Order, call: RpcCall) => {
    let asked = order;
    let asking = call;
    if (order.order_id === orderIdOf(0)) {
      stamped += 1;
      const requestBytes = call.requestBytes.slice();
      const text = Buffer.from(requestBytes.buffer, requestBytes.byteOffset, requestBytes.length);
      stampNumber(requestBytes, text.indexOf("k0", 0, "latin1") + 1, stamped);
      stampNumber(requestBytes, text.indexOf("o0", 0, "latin1") + 1, stamped);
      asked = { ...order, idempotency_key: `k${stamped}`, order_id: `o${stamped}` };
      asking = new StampedCall(call, requestBytes);
    }
    const answer = await ask(asked, asking);
    if (answer.encoded[0] === 0x08 && answer.encoded[1] === 0x01) {
      tally.approved += 1;
      tally.open.push(openOrderOf(asked));
    } else tally.denied += 1;
    return answer;
  }) as unknown as UnaryHandler;
}

/** Not a spread of the call, which would look at its signal and so make one; and not made from it as from a prototype, which gives each a shape of its own. */
class StampedCall implements RpcCall {
  readonly requestBytes: Uint8Array;
  private readonly call: RpcCall;

  constructor(call: RpcCall, requestBytes: Uint8Array) {
    this.call = call;
    this.requestBytes = requestBytes;
  }

  get requestId(): string {
    return this.call.requestId;
  }

  get identity(): RpcCall["identity"] {
    return this.call.identity;
  }

  get signal(): AbortSignal {
    return this.call.signal;
  }

  isGone(): boolean {
    return this.call.isGone();
  }
}

interface Hands {
  readonly bus: Bus;
  /** Hands an event to whoever subscribed to its subject. */
  tell(subject: { readonly name: string }, payload: object, id: string): Promise<void>;
}

/** A bus whose only publisher is this bench. */
function heldBus(): Hands {
  const handlers: { readonly subjects: readonly string[]; readonly handle: Handler }[] = [];
  const subscription = {
    handledCount: () => 0,
    droppedCount: () => 0,
    caughtUpAt: () => undefined,
    close: async () => undefined,
  };
  const subscribe = async ({ subjects: wanted }: { readonly subjects: readonly string[] }, handle: Handler) => {
    handlers.push({ subjects: wanted, handle });
    return subscription;
  };
  const bus: Bus = {
    subscribe,
    listen: subscribe,
    broadcast: () => undefined,
    forget: async () => undefined,
    health: () => ({ connected: true }),
    close: async () => undefined,
  };
  const clock = benchTools().clock;
  return {
    bus,
    async tell({ name }, payload, id) {
      const event: BusEvent = { id, subject: name, key: id, at: clock.now(), source: "bench", payload };
      for (const { subjects: wanted, handle } of handlers) if (wanted.includes(name)) await handle(event);
    },
  };
}

function keepPricesFresh(hands: Hands): void {
  let round = 0;
  const tell = (): void => {
    round += 1;
    for (let index = 0; index < positionsPerFund; index += 1) {
      const mark = {
        symbol: symbolOf(index),
        price: "100",
        bid: "99.99",
        ask: "100.01",
        source: "bench",
        at: instant.format(benchTools().clock.now()),
      };
      void hands.tell(subjects.marketMarks, mark, `mark-${round}-${index}`);
    }
  };
  tell();
  setInterval(tell, 5_000).unref();
}

/** Order management says that these are over, so that no window inherits the open orders of another. */
async function endOrders(hands: Hands, orders: readonly number[]): Promise<void> {
  const at = instant.format(benchTools().clock.now());
  for (let from = 0; from < orders.length; from += 500) {
    await Promise.all(
      orders.slice(from, from + 500).map((open) => {
        const order_id = orderIdOf(Math.floor(open / 10));
        const kind = kindOrders[open % 10];
        return hands.tell(
          subjects.ordersCancelled,
          {
            order_id,
            fund_id: kind?.fund_id ?? "",
            strategy_id: kind?.strategy_id ?? "",
            symbol: kind?.symbol ?? "",
            from: "WORKING",
            to: "CANCELLED",
            filled_quantity: "0",
            remaining_quantity: "0",
            at,
          },
          `end-${order_id}`,
        );
      }),
    );
  }
}

if (process.send !== undefined && process.argv[2] === "server") {
  let running: Running | undefined;
  const obey = async (message: ServerCommand): Promise<unknown> => {
    if ("start" in message) {
      running = await start(message.start);
      return { port: running.port };
    }
    if (running === undefined) throw new Error("the server was not started");
    if (message.command === "reset") await running.reset();
    return running.counts();
  };
  process.on("message", (message: ServerCommand) => {
    void obey(message).then(
      (result) => process.send?.({ result }),
      (thrown: unknown) =>
        process.send?.({ error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}
