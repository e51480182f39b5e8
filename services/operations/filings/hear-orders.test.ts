// What is recorded by itself, from what order management publishes.
import { afterEach, describe, expect, it } from "vitest";
import { format, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { CatSettings } from "../../../contracts/src/records/filing.ts";
import type { OrderCreated, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { memoryFilingFiles } from "../../../testkit/memory/filing-files.ts";
import { openMemoryPlatform, testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { startFilings } from "./filings.ts";

const cat: CatSettings = {
  imid: "ABCD",
  crd: "123",
  fdid: "FUND1",
  accountHolderType: "A",
  deptType: "A",
  destinations: { paper: { type: "F", id: "456:EFGH" } },
};
const startAt = parse("2026-11-13T15:00:00.000000Z");
const eventsFile = "cat/alpha/2026-11-13/events.ndjson";

const created: OrderCreated = {
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

async function begin(enabled: readonly string[] = ["alpha"]) {
  const platform = openMemoryPlatform({ seed: 48, startAt });
  const files = memoryFilingFiles();
  const oms = platform.processOf("oms");
  await platform.finish(platform.putReference(platform.processOf("treasury").store));
  const start = (funds: readonly string[] = enabled) => {
    const filings = { funds: Object.fromEntries(funds.map((fundId) => [fundId, { cat }])) };
    const ports = platform.portsOf("operations", { settings: { ...testSettings, filings }, filingFiles: files });
    const riskStore = { ...ports.riskStore, askers: async () => [] };
    return platform.finish(startFilings({ ...ports, riskStore }));
  };
  const publish = async (work: (unit: UnitOfWork) => Promise<unknown>): Promise<void> => {
    await platform.finish(oms.store.transact("oms.submit", work));
    await platform.pass(1_000);
  };
  const create = (differs: Partial<OrderCreated> = {}) =>
    publish((unit) => unit.events.publish(subjects.ordersCreated, { ...created, ...differs }));
  const move = (to: OrderTransition["to"], differs: Partial<OrderTransition> = {}) => {
    const names = { ACCEPTED: "ordersAccepted", REJECTED: "ordersRejected", CANCELLED: "ordersCancelled" } as const;
    const key = to === "ACCEPTED" || to === "REJECTED" || to === "CANCELLED" ? names[to] : "ordersUpdated";
    const { order_id, fund_id, strategy_id, symbol } = created;
    const ids = { order_id, fund_id, strategy_id, symbol };
    const rest = { from: "PENDING_CHECK", filled_quantity: "0", remaining_quantity: "0" } as const;
    const at = format(platform.time.clock.now());
    return publish((unit) => unit.events.publish(subjects[key], { ...ids, ...rest, to, at, ...differs }));
  };
  const types = (): readonly string[] => platform.reported(subjects.filingRecorded).map(({ type }) => type);
  return { platform, files, start, create, move, types, publish };
}

let open: Awaited<ReturnType<typeof begin>> | undefined;
let running: Awaited<ReturnType<Awaited<ReturnType<typeof begin>>["start"]>> | undefined;
async function opened(enabled?: readonly string[]) {
  open = await begin(enabled);
  running = await open.start();
  return open;
}
afterEach(async () => {
  if (running !== undefined) await open?.platform.finish(running.stop());
  await open?.platform.close();
  [open, running] = [undefined, undefined];
});

describe("an order of an enabled fund", () => {
  it("is recorded step by step, and its lines are in the file soon after", async () => {
    const { create, move, types, files } = await opened();
    await create();
    expect(types()).toEqual([]);
    for (const to of ["ACCEPTED", "ROUTED", "WORKING"] as const) await move(to);
    await move("WORKING", { quantity: "400", limit_price: "190.25" });
    await move("CANCELLED");
    expect(types()).toEqual(["MENO", "MEOR", "MEOM", "MEMR", "MECR", "MEOC"]);
    const lines = (files.contents.get(eventsFile) ?? "").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(types());
    const keys = lines.map((line) => (JSON.parse(line) as { orderKeyDate: string }).orderKeyDate);
    expect(new Set(keys)).toEqual(new Set(["20261113T100000.000000"]));
  });

  it("that was denied leaves no record, and what comes twice none more", async () => {
    const { create, move, types, platform } = await opened();
    await create();
    await move("REJECTED", { code: "POSITION_LIMIT_EXCEEDED" });
    expect(types()).toEqual([]);
    await create({ order_id: "o-2", idempotency_key: "k-2" });
    await move("ACCEPTED", { order_id: "o-2" });
    const again = await open?.start();
    await platform.pass(60_000);
    expect(types()).toEqual(["MENO"]);
    if (again !== undefined) await platform.finish(again.stop());
  });

  it("that goes out in slices is new with the first of them, and they are its children", async () => {
    const { create, move, types, platform } = await opened();
    await create();
    await move("WORKING");
    await create({ order_id: "o-1/1", idempotency_key: "k-2", quantity: "200" });
    const slice = { order_id: "o-1/1", parent_order_id: "o-1" };
    for (const to of ["ACCEPTED", "ROUTED", "WORKING"] as const) await move(to, slice);
    await move("CANCELLED", slice);
    expect(types()).toEqual(["MENO", "MECO", "MEOR", "MECR", "MECOC"]);
    expect(platform.reported(subjects.filingRecorded).every(({ status }) => status === "WRITTEN")).toBe(true);
  });

  it("cannot be reported by call as well", async () => {
    const { create, move, platform } = await opened();
    await create();
    await move("ACCEPTED");
    const call = { identity: { kind: "service", name: "oms", actor: "service:oms" } } as RpcCall;
    const wire = { event_type: "order_cancelled", order: created, venue: "", actor: "" };
    const answer = running?.handlers["ReportRegulatoryEvent"]?.(wire as never, call);
    expect(await platform.finish(answer as Promise<unknown>)).toMatchObject({
      denial: { code: "FILING_ORDER_ELSEWHERE" },
    });
  });
});

describe("a fund", () => {
  it("that is not enabled leaves nothing, also not a subscription", async () => {
    const { create, move, types, files, platform } = await opened([]);
    await create();
    await move("ACCEPTED");
    expect(types()).toEqual([]);
    expect([files.contents.size, platform.tables.filings.size, platform.tables.filingSteps.steps.size]).toEqual([
      0, 0, 0,
    ]);
    expect(platform.reported(subjects.filingSwitched)).toEqual([]);
  });

  it("whose orders are heard from the beginning of the outbox on has none of those that began before it was enabled", async () => {
    const { create, move, types, start, platform } = await opened([]);
    await create();
    running = await start(["alpha"]);
    await platform.pass(1_000);
    await move("ACCEPTED");
    expect(types()).toEqual([]);
    expect(platform.tables.filingSteps.steps.size).toBe(2);
  });

  it("that is enabled later has no record of an order that began before, and each switch is told once", async () => {
    const { create, move, types, platform, start } = await opened(["beta"]);
    await create();
    if (running !== undefined) await platform.finish(running.stop());
    await platform.pass(1_000);
    running = await start(["alpha", "beta"]);
    await move("ACCEPTED");
    await create({ order_id: "o-2", idempotency_key: "k-2", created_at: format(plusMilliseconds(startAt, -60_000)) });
    await move("ACCEPTED", { order_id: "o-2" });
    expect(types()).toEqual(["MENO"]);
    expect(platform.reported(subjects.filingRecorded).map(({ order_id }) => order_id)).toEqual(["o-2"]);
    await platform.finish(running.stop());
    running = await start([]);
    await create({ order_id: "o-3", idempotency_key: "k-3" });
    await move("ACCEPTED", { order_id: "o-3" });
    expect(types()).toEqual(["MENO"]);
    const switched = platform.reported(subjects.filingSwitched).map(({ fund_id, enabled }) => [fund_id, enabled]);
    expect(switched).toEqual([
      ["beta", true],
      ["alpha", true],
      ["alpha", false],
      ["beta", false],
    ]);
  });
});
