// The suite that every store passes with what the repository bot remembers: ports/bot-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { BotDelivery, BotRecords, BotRun, BotSpend } from "../../ports/bot-records.ts";
import type { Store } from "../../ports/store.ts";
import { transactPatiently } from "./waiting.ts";

interface BotFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const second = (count: number) => fromMicroseconds(1_700_000_000_000_000 + count * 1_000_000);

const delivery = (id: string, at: number, more: Partial<BotDelivery> = {}): BotDelivery => ({
  deliveryId: id,
  bodySha256: id.padEnd(64, "0"),
  event: "issues",
  repository: "acme/desk",
  receivedAt: second(at),
  status: "ACCEPTED",
  facts: { action: "opened" },
  ...more,
});

const run = (runId: string, more: Partial<BotRun> = {}): BotRun => ({
  runId,
  key: `acme/desk 7 triager ${runId}`,
  deliveryId: "d-1",
  repository: "acme/desk",
  number: 7,
  persona: "triager",
  trigger: "opened",
  requestedBy: "mia",
  status: "QUEUED",
  attempts: 0,
  createdAt: second(1),
  nextAt: second(1),
  version: 1,
  ...more,
});

type Doing = <T>(work: (bots: BotRecords) => Promise<T>) => Promise<T>;

export function botConformance(name: string, open: () => Promise<BotFixture>): void {
  it(`what the repository bot remembers, ${name}: once by id and body, one run a key, changed once, and one who reserves`, async () => {
    const { store, close } = await open();
    const doing: Doing = (work) => transactPatiently(store, "conformance.bots", (unit) => work(unit.bots));
    try {
      await standing(doing);
      await onceDelivered(doing);
      await oneRunAKey(doing);
      await remembered(doing);
      await oneWhoReserves(doing);
    } finally {
      await close();
    }
  });
}

async function standing(doing: Doing): Promise<void> {
  const made = {
    isInstalled: true,
    org: "acme",
    appId: 1,
    appSlug: "bot",
    installationId: 2,
    webhookUrl: "https://x",
    permissions: {},
    missing: [],
    by: "operator:duty",
    at: second(1),
  };
  expect(await doing((bots) => bots.installation())).toBeUndefined();
  await doing((bots) => bots.addInstallation(made));
  await doing((bots) => bots.addInstallation({ ...made, isInstalled: false, at: second(2) }));
  expect(await doing((bots) => bots.installation())).toEqual({ ...made, isInstalled: false, at: second(2) });
  const pause = { repository: "acme/desk", isPaused: true, by: "operator:duty", reason: "noise", at: second(1) };
  await doing((bots) => bots.addPause(pause));
  await doing((bots) => bots.addPause({ ...pause, repository: "*" }));
  await doing((bots) => bots.addPause({ ...pause, isPaused: false }));
  expect(await doing((bots) => bots.pauses())).toEqual([{ ...pause, repository: "*" }]);
}

async function onceDelivered(doing: Doing): Promise<void> {
  const insert = (one: BotDelivery) => doing((bots) => bots.insertDelivery(one));
  const taken = await Promise.all(["d-1", "d-1", "d-1"].map((id) => insert(delivery(id, 1))));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await insert(delivery("d-2", 2, { bodySha256: "d-1".padEnd(64, "0") }))).toBe(false);
  for (const [id, at] of [
    ["d-3", 3],
    ["d-4", 4],
    ["d-5", 5],
  ] as const)
    expect(await insert(delivery(id, at))).toBe(true);
  await doing((bots) => bots.updateDelivery(delivery("d-1", 1, { status: "HANDLED", endedAt: second(6) })));
  expect((await doing((bots) => bots.openDeliveries(2))).map(({ deliveryId }) => deliveryId)).toEqual(["d-3", "d-4"]);
  const list = (after?: string) => doing((bots) => bots.deliveries({ countMax: 2, after }));
  expect((await list()).map(({ deliveryId }) => deliveryId)).toEqual(["d-5", "d-4"]);
  expect((await list("d-4")).map(({ deliveryId }) => deliveryId)).toEqual(["d-3", "d-1"]);
  // What waits to be taken up is never forgotten.
  expect(await doing((bots) => bots.forgetDeliveries(second(5), 10))).toBe(1);
  expect(await doing((bots) => bots.delivery("d-1"))).toBeUndefined();
  expect((await doing((bots) => bots.delivery("d-3")))?.facts).toEqual({ action: "opened" });
}

async function oneRunAKey(doing: Doing): Promise<void> {
  const taken = await Promise.all(["r-1", "r-2"].map((id) => doing((bots) => bots.insertRun(run(id, { key: "one" })))));
  expect(taken.filter(Boolean)).toHaveLength(1);
  const [first] = await doing((bots) => bots.openRuns(5));
  if (first === undefined) throw new Error("no run is open");
  const changes = await Promise.all(
    ["bots-1", "bots-2"].map((holder) => doing((bots) => bots.updateRun({ ...first, status: "RUNNING", holder }))),
  );
  expect(changes.filter((one) => one !== undefined)).toHaveLength(1);
  await doing((bots) => bots.insertRun(run("r-3", { repository: "acme/other", status: "DONE" })));
  await doing((bots) => bots.insertRun(run("r-4")));
  const ids = (rows: readonly BotRun[]) => rows.map(({ runId }) => runId);
  expect(ids(await doing((bots) => bots.runs({ countMax: 5 })))).toEqual(["r-4", "r-3", first.runId]);
  expect(ids(await doing((bots) => bots.runs({ countMax: 5, after: "r-4", repository: "acme/desk" })))).toEqual([
    first.runId,
  ]);
  expect(ids(await doing((bots) => bots.runs({ countMax: 5, status: "DONE" })))).toEqual(["r-3"]);
  expect(ids(await doing((bots) => bots.openRuns(5)))).toEqual([first.runId, "r-4"]);
}

async function remembered(doing: Doing): Promise<void> {
  await doing((bots) => bots.putIntent("r-4", { name: "comment", marker: "m" }));
  await doing((bots) => bots.putIntent("r-4", { name: "comment", marker: "m", result: "42" }));
  await doing((bots) => bots.putIntent("r-4", { name: "branch", marker: "b" }));
  expect(await doing((bots) => bots.intents("r-4"))).toEqual([
    { name: "branch", marker: "b" },
    { name: "comment", marker: "m", result: "42" },
  ]);
  const thread = { repository: "acme/desk", number: 7, commentId: 42 };
  await doing((bots) => bots.putThread({ ...thread, isPaused: true }));
  await doing((bots) => bots.putThread(thread));
  expect(await doing((bots) => bots.thread("acme/desk", 7))).toEqual(thread);
  await doing((bots) => bots.putRedelivery({ guid: "d-3", asked: 1, at: second(1) }));
  await doing((bots) => bots.putRedelivery({ guid: "d-9", asked: 2, at: second(9) }));
  expect((await doing((bots) => bots.failedDeliveries())).map(({ guid }) => guid)).toEqual(["d-9"]);
  expect(await doing((bots) => bots.forgetRedeliveries(second(5)))).toBe(1);
  expect(await doing((bots) => bots.redelivery("d-9"))).toMatchObject({ asked: 2 });
}

async function oneWhoReserves(doing: Doing): Promise<void> {
  const reserve = (runId: string): Promise<boolean> =>
    doing(async (bots) => {
      await bots.lockDay("2026-11-19");
      if ((await bots.spends("2026-11-19")).length > 0) return false;
      const spend: BotSpend = {
        runId,
        day: "2026-11-19",
        repository: "acme/desk",
        requestedBy: "mia",
        byWriter: true,
        reservedNano: "200000000",
      };
      await bots.putSpend(spend);
      return true;
    });
  const reserved = await Promise.all(["r-1", "r-2", "r-3", "r-4"].map(reserve));
  expect(reserved.filter(Boolean)).toHaveLength(1);
  const [spend] = await doing((bots) => bots.spends("2026-11-19"));
  await doing((bots) => bots.putSpend({ ...(spend as BotSpend), settledNano: "1" }));
  expect(await doing((bots) => bots.spend(spend?.runId ?? ""))).toMatchObject({ settledNano: "1" });
  expect(await doing((bots) => bots.spends("2026-11-20"))).toEqual([]);
}
