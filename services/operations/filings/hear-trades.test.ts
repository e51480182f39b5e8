// The trades that are recorded by themselves: a report for each, a cancellation for each that is taken back, and nothing before it is accepted.
import { afterEach, describe, expect, it } from "vitest";
import { format, parse } from "../../../contracts/src/instant.ts";
import type { MifidSettings } from "../../../contracts/src/records/filing.ts";
import type { Fill, OrderCreated, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { JournalRow } from "../../../ports/risk-store.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { memoryFilingFiles } from "../../../testkit/memory/filing-files.ts";
import { openMemoryPlatform, testSettings } from "../../../testkit/virtual/memory-platform.ts";
import { startFilings } from "./filings.ts";

const lei = "5493001KJTIIGC8Y1R12";
const mifid: MifidSettings = {
  lei,
  submitterLei: lei,
  fundLei: "529900T8BM49AURSDO55",
  country: "FR",
  venues: { paper: { mic: "XNAS" } },
};
const startAt = parse("2026-11-13T15:00:00.000000Z");
const eventsFile = "mifid-ii/alpha/2026-11-13/events.ndjson";

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
  const journal: JournalRow[] = [];
  const oms = platform.processOf("oms");
  await platform.finish(platform.putReference(platform.processOf("treasury").store));
  const start = (funds: readonly string[] = enabled) => {
    const filings = { funds: Object.fromEntries(funds.map((fundId) => [fundId, { mifid }])) };
    const ports = platform.portsOf("operations", { settings: { ...testSettings, filings }, filingFiles: files });
    const riskStore = {
      ...ports.riskStore,
      askers: async () => [],
      entriesOfOrder: async (orderId: string) =>
        journal.filter((row) => row.orderId === orderId && row.kind === "fill"),
      entries: async (after: bigint, countMax: number) => journal.filter(({ id }) => id > after).slice(0, countMax),
    };
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
  /** The risk engine has booked it, with these blocks right before it. */
  const book = (fillId: string, ...blockIds: readonly string[]): void => {
    const entry = { at: startAt, fundId: "alpha", orderId: "o-1" };
    const encoder = new TextEncoder();
    for (const block_id of blockIds) {
      const fill = { fill_id: fillId, order_id: "o-1", price: "1", is_exit: false };
      const block = {
        block_id,
        cause: "FILL_OUTSIDE_COLLAR",
        fund_id: "alpha",
        fill,
        reason: "far",
        at: format(startAt),
      };
      const payload = encoder.encode(JSON.stringify(block));
      journal.push({ ...entry, id: BigInt(journal.length + 1), kind: "block", payload });
    }
    journal.push({ ...entry, id: BigInt(journal.length + 1), kind: "fill", fillId, payload: new Uint8Array() });
  };
  const fill = (fillId: string, differs: Partial<Fill> = {}) => {
    const { order_id, fund_id, strategy_id, symbol, side } = created;
    const at = format(platform.time.clock.now());
    const traded = { fill_id: fillId, quantity: "100", price: "190.25", filled_at: at };
    const ids = { order_id, fund_id, strategy_id, symbol, side };
    return publish((unit) => unit.events.publish(subjects.fillsCreated, { ...ids, ...traded, ...differs }));
  };
  const bust = (fillId: string) => {
    const { order_id, fund_id, strategy_id, symbol } = created;
    const at = format(platform.time.clock.now());
    const busted = {
      bust_id: `b-${fillId}`,
      fill_id: fillId,
      order_id,
      fund_id,
      strategy_id,
      symbol,
      reason: "error",
      at,
    };
    return publish((unit) => unit.events.publish(subjects.fillsBusted, busted));
  };
  const accept = async (blockId: string): Promise<void> => {
    const at = format(platform.time.clock.now());
    const ended = {
      block_id: blockId,
      cause: "FILL_OUTSIDE_COLLAR",
      fund_id: "alpha",
      ended_by: "duty",
      reason: "right",
      at,
    };
    const engine = platform.processOf("riskengine");
    const work = (unit: UnitOfWork) => unit.events.publish(subjects.blockEnded, ended as never);
    await platform.finish(engine.store.transact("oms.submit", work));
    await platform.pass(1_000);
  };
  const lines = (): readonly Record<string, never>[] =>
    (files.contents.get(eventsFile) ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  const statuses = (): readonly string[] =>
    platform.reported(subjects.filingRecorded).map(({ type, status, code = "" }) => `${type} ${status} ${code}`.trim());
  const types = (): readonly string[] => platform.reported(subjects.filingRecorded).map(({ type }) => type);
  return { platform, files, start, create, move, types, book, fill, bust, accept, lines, statuses };
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

describe("a trade of an enabled fund", () => {
  it("is a report of its own, with the instrument's isin and the strategy, and no order is", async () => {
    const { create, move, fill, book, lines, types } = await opened();
    await create({ submitted_by: "service:alpha-momentum" });
    for (const to of ["ACCEPTED", "ROUTED", "WORKING"] as const) await move(to);
    expect(types()).toEqual([]);
    book("f-1");
    await fill("f-1");
    expect(types()).toEqual(["New"]);
    expect(lines()[0]).toMatchObject({
      New: {
        FinInstrm: { Id: "US0378331005" },
        Tx: { Qty: { Unit: "100" }, TradVn: "XNAS" },
        ExctgPrsn: { Algo: "ALPHAMOMENTUM" },
      },
    });
  });

  it("of an operator's order names the operator", async () => {
    const { create, move, fill, book, lines } = await opened();
    await create({ submitted_by: "operator:duty" });
    await move("ACCEPTED");
    book("f-1");
    await fill("f-1");
    expect(lines()[0]).toMatchObject({ New: { ExctgPrsn: { Prsn: { "@person": "duty" } } } });
    expect(lines()[0]).not.toHaveProperty("claimed");
  });

  it("is cancelled under its id when it is taken back, and a cross is none", async () => {
    const { create, move, fill, bust, book, lines, types } = await opened();
    await create();
    await move("ACCEPTED");
    await fill("x-1", { kind: "CROSS" });
    book("f-1");
    await fill("f-1");
    await bust("f-1");
    expect(types()).toEqual(["New", "Cxl"]);
    const [first, second] = lines() as unknown as readonly [{ New: { TxId: string } }, { Cxl: { TxId: string } }];
    expect(second.Cxl.TxId).toBe(first.New.TxId);
  });

  it("that waits to be accepted is put aside, and judged by itself when the last of its blocks has ended", async () => {
    const { create, move, fill, book, accept, statuses } = await opened();
    await create();
    await move("ACCEPTED");
    book("f-1", "block-1", "block-2");
    await fill("f-1");
    expect(statuses()).toEqual(["New QUARANTINED FILL_NOT_ACCEPTED"]);
    await accept("block-1");
    expect(statuses()).toHaveLength(1);
    await accept("block-2");
    expect(statuses()).toEqual(["New QUARANTINED FILL_NOT_ACCEPTED", "New WRITTEN"]);
  });

  it("that is taken back before it is accepted is dropped", async () => {
    const { create, move, fill, bust, book, accept, statuses } = await opened();
    await create();
    await move("ACCEPTED");
    book("f-1", "block-1");
    await fill("f-1");
    await bust("f-1");
    await accept("block-1");
    expect(statuses()).toEqual(["New QUARANTINED FILL_NOT_ACCEPTED"]);
  });
});
