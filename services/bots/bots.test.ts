// The worker of the repository bot on a store in memory: a delivery becomes one run, a run ends once, what a dead process left is taken up with its intents, and
// two runs never share the last cent.
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { unauditedChange } from "../../adapters/records/state-changes.ts";
import { publishAuthority } from "../../adapters/transport/publish-authority.ts";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { nanoOf } from "../../core/bots/budget.ts";
import type { BotDelivery, BotInstallation, BotRun } from "../../ports/bot-records.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import type { BotPorts } from "./bot-ports.ts";
import { startBots } from "./bots.ts";
import { budgetOf } from "./budget.ts";
import type { Job, JobEnd, RunJob } from "./job.ts";
import { runQueue } from "./run-queue.ts";
import { runStoreOf } from "./run-store.ts";
import { sweep } from "./sweep.ts";
import { takeDeliveries } from "./take-deliveries.ts";

const begin = parse("2026-11-19T12:00:00Z");
const installation: BotInstallation = {
  isInstalled: true,
  org: "acme",
  appId: 4_711,
  appSlug: "portcullis-test",
  installationId: 99,
  webhookUrl: "https://hooks.example/githubbot/webhook",
  permissions: {},
  missing: [],
  by: "operator:duty",
  at: begin,
};
const person = { login: "mia", type: "User" };

const delivery = (deliveryId: string, more: Partial<BotDelivery> = {}): BotDelivery => ({
  deliveryId,
  bodySha256: deliveryId.padEnd(64, "0"),
  event: "issues",
  repository: "acme/desk",
  receivedAt: begin,
  status: "ACCEPTED",
  facts: { action: "opened", sender: person, issue: { number: 7, user: person } },
  ...more,
});

const done: JobEnd = {
  status: "DONE",
  code: undefined,
  reason: "It asked for steps.",
  byWriter: false,
  model: undefined,
  promptSha256: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
  costNano: 0n,
  isolation: "process",
  plan: { labels: ["bug"] },
  calls: [{ method: "POST", path: "/repos/acme/desk/issues/7/comments", status: 201 }],
};

function fixture(more: Partial<BotPorts> = {}) {
  const time = scheduler({ seed: 49, startAt: begin });
  const tables = memoryTables();
  const base = { clock: time.clock, timers: time.timers, random: time.prng };
  onTestFinished(time.pump());
  const storeOf = (services: readonly string[]): Store =>
    memoryStore({ ...base, process: tables.process("bots"), mayPublish: publishAuthority(services), unauditedChange });
  const store = storeOf(["bots", "gateway"]);
  const silence = (): undefined => undefined;
  const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };
  const ports: BotPorts = {
    ...base,
    store,
    log,
    crash: {
      die: (thrown: unknown) => {
        throw thrown;
      },
    } as never,
    holder: () => "bots-1",
    caps: { dailyNano: nanoOf("5"), perRepositoryNano: nanoOf("1") },
    askForKey: async () => "key",
    open: async () => ({
      hook: { deliveries: async () => ({ rows: [], next: undefined }), redeliver: async () => undefined },
      runJob: async () => done,
    }),
    ...more,
  };
  const bots = <T>(work: (records: Parameters<Parameters<Store["transact"]>[1]>[0]["bots"]) => Promise<T>) =>
    store.transact("bots.take", (unit) => work(unit.bots));
  return { ports, store, bots };
}

const runs = (given: ReturnType<typeof fixture>) => given.bots((records) => records.runs({ countMax: 50 }));

describe("a delivery", () => {
  it("becomes one run, also when it is taken up twice, and nothing is said of it twice", async () => {
    const given = fixture();
    await given.bots((records) => records.insertDelivery(delivery("d-1")));
    expect(await given.bots((records) => records.insertDelivery(delivery("d-1")))).toBe(false);
    await takeDeliveries(given.ports, installation);
    await takeDeliveries(given.ports, installation);
    // Reopened and delivered anew: the issue was opened once.
    await given.bots((records) => records.insertDelivery(delivery("d-2")));
    await takeDeliveries(given.ports, installation);
    expect(await runs(given)).toMatchObject([{ persona: "triager", number: 7, status: "QUEUED", requestedBy: "mia" }]);
    expect((await given.bots((records) => records.delivery("d-1")))?.status).toBe("HANDLED");
  });

  it("by a bot, an app, or for an event of nobody's becomes none", async () => {
    const given = fixture();
    const bot = { login: "x[bot]", type: "Bot" };
    const byApp = { number: 7, user: person, performed_via_github_app: { id: 1 } };
    for (const [index, facts] of [
      { action: "opened", sender: bot, issue: { number: 7, user: bot } },
      { action: "opened", sender: person, issue: byApp },
      { action: "closed", sender: person, issue: { number: 7, user: person } },
      { action: "labeled", sender: person, issue: { number: 7, user: person }, label: { name: "bug" } },
    ].entries()) {
      await given.bots((records) => records.insertDelivery(delivery(`d-${index}`, { facts })));
    }
    await takeDeliveries(given.ports, installation);
    expect(await runs(given)).toEqual([]);
  });
});

const queueOn = async (given: ReturnType<typeof fixture>, runJob: RunJob) => {
  const queue = runQueue(given.ports, () => undefined);
  const github = { ...(await given.ports.open(installation, "key")), runJob };
  await queue.look(installation, github);
  return { queue, github };
};

describe("a run", () => {
  async function queued(given: ReturnType<typeof fixture>, count = 1): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      const facts = { action: "opened", sender: person, issue: { number, user: person } };
      await given.bots((records) => records.insertDelivery(delivery(`d-${number}`, { facts })));
    }
    await takeDeliveries(given.ports, installation);
  }

  it("ends once, with its plan, its calls and its reason", async () => {
    const given = fixture();
    await queued(given);
    const { queue } = await queueOn(given, async () => done);
    await queue.stop();
    const [run] = await runs(given);
    expect(run).toMatchObject({ status: "DONE", reason: done.reason, plan: done.plan, calls: done.calls, attempts: 1 });
    expect(run?.holder).toBeUndefined();
  });

  it("of a process that died is taken up with its intents", async () => {
    const given = fixture();
    await queued(given);
    const [run] = await runs(given);
    const held = async (holder: string): Promise<BotRun | undefined> => {
      const [now] = await runs(given);
      return given.bots((records) => records.updateRun({ ...(now as BotRun), status: "RUNNING", holder, attempts: 1 }));
    };
    await held("bots-0");
    const before = runStoreOf(given.ports, run as BotRun);
    await before.intend("comment", "marker-1");
    const jobs: Job[] = [];
    const { queue } = await queueOn(given, async (job) => {
      jobs.push(job);
      return done;
    });
    await queue.stop();
    expect(jobs).toMatchObject([{ attempt: 2, intents: [{ name: "comment", marker: "marker-1", result: undefined }] }]);
  });

  it("whose forge is away is tried again later, and given up after twenty attempts", async () => {
    const given = fixture();
    await queued(given);
    const later = async (): Promise<JobEnd> => ({ ...done, status: "LATER", reason: "GitHub is away." });
    const settled = (status: string, attempts: number) =>
      vi.waitFor(async () => expect((await runs(given))[0]).toMatchObject({ status, attempts }));
    await queueOn(given, later);
    await settled("QUEUED", 1);
    const [run] = await runs(given);
    expect(run).toMatchObject({ status: "QUEUED", attempts: 1, reason: "GitHub is away." });
    expect(run?.nextAt).toBeGreaterThanOrEqual(plusMilliseconds(begin, 5_000));
    await given.bots((records) => records.updateRun({ ...(run as BotRun), attempts: 19, nextAt: begin }));
    await queueOn(given, later);
    await settled("FAILED", 20);
    expect((await runs(given))[0]).toMatchObject({
      status: "FAILED",
      reason: expect.stringContaining("Given up after 20"),
    });
  });

  it("may not write while it is paused: everywhere, in its repository, in its thread, or taken away", async () => {
    const given = fixture();
    await queued(given);
    const [run] = await runs(given);
    const may = () => runStoreOf(given.ports, run as BotRun).mayWrite();
    const pause = (repository: string, isPaused: boolean) =>
      given.bots((records) =>
        records.addPause({ repository, isPaused, by: "operator:duty", reason: "noise", at: begin }),
      );
    expect(await may()).toMatchObject({ code: "BOT_PAUSED" });
    await given.bots((records) => records.addInstallation(installation));
    expect(await may()).toBe(true);
    for (const repository of ["*", "ACME/desk"]) {
      await pause(repository, true);
      expect(await may()).toMatchObject({ code: "BOT_PAUSED", reason: expect.stringContaining("noise") });
      await pause(repository, false);
      expect(await may()).toBe(true);
    }
    await runStoreOf(given.ports, run as BotRun).pauseThread(true);
    expect(await may()).toMatchObject({ reason: "Paused in this thread." });
    expect(await runStoreOf({ ...given.ports, holder: () => undefined }, run as BotRun).mayWrite()).toMatchObject({
      code: "BOT_PAUSED",
    });
  });

  it("writes down an intent once, and gives the first marker again", async () => {
    const given = fixture();
    await queued(given);
    const [run] = await runs(given);
    const store = runStoreOf(given.ports, run as BotRun);
    expect(await store.intend("comment", "one")).toEqual({ name: "comment", marker: "one", result: undefined });
    await store.done("comment", "42");
    expect(await store.intend("comment", "two")).toEqual({ name: "comment", marker: "one", result: "42" });
    expect([await store.skipNoticeOnce(), await store.skipNoticeOnce()]).toEqual([true, false]);
  });
});

describe("a budget", () => {
  const asking = (
    given: ReturnType<typeof fixture>,
    index: number,
    nano: bigint,
    byWriter = true,
    requestedBy = "mia",
  ) => budgetOf(given.ports, { runId: `r-${index}`, repository: "acme/desk", requestedBy }).reserve({ byWriter, nano });

  it("has room for five fixes in one repository; the sixth is refused, and another repository is served", async () => {
    const given = fixture();
    const kinds = [];
    for (let index = 0; index < 6; index += 1) kinds.push((await asking(given, index, nanoOf("0.20"))).kind);
    expect(kinds).toEqual(["reserved", "reserved", "reserved", "reserved", "reserved", "refused"]);
    const other = budgetOf(given.ports, { runId: "r-9", repository: "acme/other", requestedBy: "mia" });
    expect((await other.reserve({ byWriter: true, nano: nanoOf("0.20") })).kind).toBe("reserved");
  });

  it("of which 0.20 is left is had by one of twenty at once", async () => {
    const given = fixture({ caps: { dailyNano: nanoOf("5"), perRepositoryNano: nanoOf("0.20") } });
    const kinds = await Promise.all(Array.from({ length: 20 }, (_, index) => asking(given, index, nanoOf("0.20"))));
    expect(kinds.filter(({ kind }) => kind === "reserved")).toHaveLength(1);
  });

  it("counts what was never settled in full, what was settled as it was, and a second attempt on top", async () => {
    const given = fixture();
    const used = async () =>
      (await given.bots((records) => records.spends("2026-11-19"))).map(
        ({ settledNano, reservedNano }) => settledNano ?? reservedNano,
      );
    await asking(given, 1, nanoOf("0.20"));
    expect(await used()).toEqual([String(nanoOf("0.20"))]);
    await asking(given, 1, nanoOf("0.20"));
    expect(await used()).toEqual([String(nanoOf("0.40"))]);
    await budgetOf(given.ports, { runId: "r-1", repository: "acme/desk", requestedBy: "mia" }).settle({
      nano: nanoOf("0.05"),
    });
    expect(await used()).toEqual([String(nanoOf("0.25"))]);
  });

  it("lets people without write use half of it, and twenty runs a person", async () => {
    const given = fixture();
    expect(await asking(given, 1, nanoOf("0.60"), false)).toMatchObject({ kind: "refused", which: "strangers" });
    for (let index = 10; index < 30; index += 1) expect((await asking(given, index, 0n, false)).kind).toBe("reserved");
    expect(await asking(given, 31, 0n, false)).toMatchObject({ kind: "refused", which: "person" });
    expect((await asking(given, 32, 0n, false, "ben")).kind).toBe("reserved");
  });
});

describe("the sweep", () => {
  const row = (id: number, guid: string, statusCode: number, minutes = -5) => ({
    id,
    guid,
    statusCode,
    deliveredAt: new Date(Date.UTC(2026, 10, 19, 12, minutes)).toISOString(),
  });

  it("asks again for what had no answer, 5xx, and 401 since the install; not for what came, and three times at most", async () => {
    const given = fixture();
    await given.bots((records) => records.insertDelivery(delivery("g-here")));
    const asked: number[] = [];
    const rows = [
      row(1, "g-silent", 0),
      row(2, "g-500", 503),
      row(3, "g-401", 401),
      row(4, "g-401-new", 401, 5),
      row(5, "g-here", 500),
      row(6, "g-late", 200),
      row(7, "g-late", 500),
      row(8, "g-400", 400),
      row(9, "g-old", 500, -5 * 24 * 60),
    ];
    const hook = {
      deliveries: async () => ({ rows, next: undefined }),
      redeliver: async (id: number) => void asked.push(id),
    };
    for (let times = 0; times < 5; times += 1) await sweep(given.ports, installation, hook);
    expect(asked).toEqual([1, 2, 4, 1, 2, 4, 1, 2, 4]);
  });
});

it("the whole process takes up what stands in the store, and ends what waits once it is taken away", async () => {
  const given = fixture();
  await given.bots((records) => records.addInstallation(installation));
  await given.bots((records) => records.insertDelivery(delivery("d-1")));
  const bots = startBots(given.ports);
  onTestFinished(() => bots.stop());
  await vi.waitFor(async () => expect(await runs(given)).toMatchObject([{ status: "DONE" }]));
  await given.bots((records) =>
    records.insertDelivery(
      delivery("d-2", { facts: { action: "opened", sender: person, issue: { number: 8, user: person } } }),
    ),
  );
  await takeDeliveries({ ...given.ports, holder: () => undefined }, installation);
  await given.bots((records) => records.addInstallation({ ...installation, isInstalled: false }));
  await bots.stop();
  expect((await runs(given)).find(({ number }) => number === 8)?.status).toMatch(/DONE|SKIPPED/);
});
