// Filings on a platform in memory: order management publishes what a test says, an audit log hears it, and what operations made of it can be asked.
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { CatSettings, FundFilings } from "../../contracts/src/records/filing.ts";
import type { OrderCreated, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Bus, BusEvent } from "../../ports/bus.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { startFilings } from "../../services/operations/filings/filings.ts";
import { ordersSubscription } from "../../services/operations/filings/hear-orders.ts";
import { memoryFilingFiles } from "../memory/filing-files.ts";
import { openMemoryPlatform, testSettings } from "../virtual/memory-platform.ts";
import { heardAuditLog } from "./heard-audit-log.ts";

export const testCat: CatSettings = {
  imid: "ABCD",
  crd: "123",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: { paper: { type: "F", id: "456:EFGH" } },
};

export const testOrder: OrderCreated = {
  idempotency_key: "k-1",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "desk",
};

const subjectOf: Partial<Record<OrderTransition["to"], "ordersAccepted" | "ordersRejected" | "ordersCancelled">> = {
  ACCEPTED: "ordersAccepted",
  REJECTED: "ordersRejected",
  CANCELLED: "ordersCancelled",
};

export type FilingsFixture = Awaited<ReturnType<typeof openFilings>>;

// tidy: long because it is a list of what tests do with filings.
export async function openFilings({ startAt, fund = { cat: testCat } }: { startAt: Instant; fund?: FundFilings }) {
  const platform = openMemoryPlatform({ seed: 48, startAt });
  const files = memoryFilingFiles();
  const oms = platform.processOf("oms");
  const { now } = platform.time.clock;
  await platform.finish(platform.putReference(platform.processOf("treasury").store));
  const log = await platform.finish(heardAuditLog(platform.processOf("audit").bus, now));
  let loses = (_event: BusEvent): boolean => false;
  let running: Awaited<ReturnType<typeof startFilings>> | undefined;

  const losing = (bus: Bus): Bus => ({
    ...bus,
    subscribe: (options, handler) =>
      bus.subscribe(options, async (event) => {
        if (options.name !== ordersSubscription || !loses(event)) await handler(event);
      }),
  });
  const start = async (funds: Readonly<Record<string, FundFilings>> = { alpha: fund }): Promise<void> => {
    const ports = platform.portsOf("operations", {
      settings: { ...testSettings, filings: { funds } },
      filingFiles: files,
      auditLog: log.auditLog,
    });
    const riskStore = { ...ports.riskStore, askers: async () => [] };
    const riskQueries = { ...ports.riskQueries, decisionsOf: async () => [] };
    running = await platform.finish(startFilings({ ...ports, bus: losing(ports.bus), riskStore, riskQueries }));
  };
  const stop = async (): Promise<void> => {
    if (running !== undefined) await platform.finish(running.stop());
    running = undefined;
  };
  async function live(orderId: string, thenMs?: number): Promise<void> {
    await create({ order_id: orderId, idempotency_key: `k-${orderId}` }, thenMs);
    for (const to of ["ACCEPTED", "ROUTED", "WORKING", "CANCELLED"] as const) {
      await move(to, { order_id: orderId }, thenMs);
    }
  }
  const publish = async (work: (unit: UnitOfWork) => Promise<unknown>, thenMs = 1_000): Promise<void> => {
    await platform.finish(oms.store.transact("oms.submit", work));
    if (thenMs > 0) await platform.pass(thenMs);
  };
  const create = (differs: Partial<OrderCreated> = {}, thenMs?: number): Promise<void> =>
    publish((unit) => unit.events.publish(subjects.ordersCreated, { ...testOrder, ...differs }), thenMs);
  const move = (to: OrderTransition["to"], differs: Partial<OrderTransition> = {}, thenMs?: number): Promise<void> => {
    const { order_id, fund_id, strategy_id, symbol } = testOrder;
    const ids = { order_id, fund_id, strategy_id, symbol };
    const rest = { from: "PENDING_CHECK", filled_quantity: "0", remaining_quantity: "0" } as const;
    const moved = { ...ids, ...rest, to, at: format(now()), ...differs };
    return publish((unit) => unit.events.publish(subjects[subjectOf[to] ?? "ordersUpdated"], moved), thenMs);
  };
  const identity = { kind: "operator", name: "duty", actor: "operator:duty" };
  const call = { identity, signal: new AbortController().signal } as unknown as RpcCall;
  return {
    platform,
    files,
    log,
    start,
    stop,
    publish,
    /** From now on the subscription loses these. */
    lose(which: (event: BusEvent) => boolean) {
      loses = which;
    },
    create,
    move,
    /** Created, accepted, routed, working and cancelled. */
    live,
    ask<Answer>(name: string, request: object): Promise<Answer> {
      const handler = running?.queries.flatMap(({ handlers }) => handlers[name] ?? [])[0];
      return platform.finish(handler?.(request as never, call) as Promise<Answer>);
    },
    call(event: object, source = "my-oms"): Promise<unknown> {
      const own = { identity: { kind: "service", name: source, actor: `service:${source}` } } as RpcCall;
      const handler = running?.handlers["ReportRegulatoryEvent"];
      return platform.finish(handler?.(event as never, own) as Promise<unknown>);
    },
    async close(): Promise<void> {
      await stop();
      await platform.close();
    },
  };
}
