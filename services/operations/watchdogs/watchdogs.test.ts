// How watchdogs run, on virtual time with a watchdog whose readings the test decides: an episode opens once, restricts once, survives a restart, does
// nothing in a dry run or while paused, halts under one name, and ends with what it opened.
import { afterEach, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { WatchdogConfig, WatchdogList } from "../../../contracts/src/generated/svc/v1/watchdogs.ts";
import type { WatchdogAlarm } from "../../../contracts/src/records/operations.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { common, number } from "../../../core/watchdogs/config.ts";
import { type RungEffect, stateOf, type Watchdog, withoutValue } from "../../../core/watchdogs/watchdog.ts";
import type { ChatMessage } from "../../../ports/chat.ts";
import type { DeniedAnswer, UnaryHandler } from "../../../ports/rpc.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import type { AskedHalt } from "../../halts/halt-request.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { assign, type Watched } from "./assigned.ts";
import { openBoard } from "./board.ts";
import { createCarryOut } from "./carry-out.ts";
import { createConfiguration } from "./configuration.ts";
import { watchdogHandlers } from "./control.ts";
import { runWatchdog } from "./run-watchdog.ts";
import { listStatus } from "./status.ts";
import { watchWatchdogs } from "./watch-watchdogs.ts";

interface Reading {
  readonly day: string;
  readonly value: number | null;
  /** Contracts that are still to be closed. */
  readonly hedge?: number;
}

const keys = { ...common(number(1, [0, 10], "z", "Above this it acts."), { persistence: 2 }) };
const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "chat", severity: "warning" } },
  { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor: 0.5 } },
  { rung: 2, effect: { kind: "halt", level: "STRATEGY_HALT" } },
];

const tested: Watchdog<Reading, typeof keys, { readonly count: number }> = {
  name: "drift_monitor",
  watches: "What the test says.",
  per: ["strategy"],
  subject: subjects.watchdogDrift,
  alarm: "WATCHDOG_DRIFT",
  unit: "z",
  config: keys,
  expectedAlertsPerYear: () => 1,
  emptyMemory: { count: 0 },
  judge({ day, value, hedge }, { threshold }, { count }, { at }) {
    const rest = { threshold, unit: "z", sampleCount: count, asOf: at };
    const memory = { count: count + 1 };
    if (value === null) return { memory, judgement: withoutValue("STALE", "NO_INPUT", rest) };
    const rung = value > 2 * threshold ? 2 : value > threshold ? 1 : 0;
    const read = { value, reason: null, observation: day, rung, clears: value < 0.5 };
    const order = { strategyId: "alpha-momentum", symbol: "OPT", side: "BUY", contracts: hedge ?? 0 } as const;
    const again = hedge === undefined ? {} : { again: [{ kind: "hedge", orders: [order] } as const] };
    const state = stateOf(rung, effects);
    return { memory, judgement: { ...rest, ...read, ...again, state, effects, figures: { day } } };
  },
};

const duty = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const scope = { fundId: "alpha", strategyId: "alpha-momentum" };

async function begin(fixture: ServiceFixture = serviceFixture(20_261_117), kept = new Map<string, string>()) {
  const given = fixture.portsOf("operations");
  const failing = { now: false };
  const faster = { now: "" };
  const store: typeof given.store = {
    ...given.store,
    transact(name, work) {
      if (failing.now && name === "watchdogs.change")
        throw new Fault("STORE_UNAVAILABLE", "the store is away", { retry: "later" });
      return given.store.transact(name, work);
    },
  };
  const submitted: Order[] = [];
  const away = { halts: false, feed: false, orders: false };
  const orderManagement = {
    ...({} as typeof given.orderManagement),
    async submit(order: Order) {
      if (away.orders) throw new Fault("SERVICE_UNAVAILABLE", "order management is away", { retry: "later" });
      submitted.push(order);
      return { answer: {} as OrderStatus };
    },
  };
  const ports = { ...given, store, secrets: secretsOn(kept, faster), orderManagement };
  const watched: { now: readonly Watched<Reading>[] } = { now: [] };
  const halts: AskedHalt[] = [];
  const sent: ChatMessage[] = [];
  const assigned = [
    assign(tested, {
      async read({ isDue }) {
        if (away.feed) throw new Fault("SERVICE_UNAVAILABLE", "the feed is away", { retry: "later" });
        return isDue("alpha") ? watched.now : [];
      },
    }),
  ];
  const board = await openBoard(ports);
  const alarms = createWorkerAlarms(ports);
  const configuration = createConfiguration(ports, assigned, alarms, "secret/test");
  const trip = async (halt: AskedHalt) => {
    if (away.halts) throw new Fault("SERVICE_UNAVAILABLE", "the manager is away", { retry: "later" });
    halts.push(halt);
    return { halt_id: halt.halt_id, epoch: 1, since: halt.since, acknowledged: true, audit_id: "a" };
  };
  const carryOut = createCarryOut({
    ports,
    board,
    halts: { trip },
    alarms,
    databaseCare: undefined,
    holdingBroker: async () => "paper",
  });
  const first = assigned[0];
  if (first === undefined) throw new Error("there is one");
  const running = runWatchdog({
    ports,
    assigned: first,
    board,
    configuration,
    carryOut,
    fundIds: () => ["alpha"],
    chat: { name: "test", send: async (message) => void sent.push(message), close: async () => undefined },
  });
  const files: { readonly stale: readonly object[] }[] = [];
  const file = { write: async (content: object) => void files.push(content as { stale: readonly object[] }) };
  const watching = watchWatchdogs({ ports, running: [running], board, configuration, alarms, file });
  ends.push(async () => {
    await watching.stop();
    await running.stop();
  });
  const parts = { ports, assigned, board, configuration, running: [running], fundIds: async () => ["alpha"] };
  const handlers = watchdogHandlers({ ...parts, facts: undefined as never, databaseCare: undefined as never });
  const call = async <Answer>(name: string, request: object): Promise<Answer> =>
    (await (handlers[name] as UnaryHandler)(request as never, { identity: duty } as never)) as Answer;
  return {
    fixture,
    kept,
    configuration,
    halts,
    call,
    sent,
    failing,
    faster,
    away,
    files,
    judge: () => running.judge(),
    /** One judgement of a new observation. */
    async read(day: string, value: number | null, isInjected = false) {
      watched.now = [{ scope, input: { day, value }, isInjected }];
      await running.judge();
    },
    submitted,
    async readAll(readings: readonly Reading[]) {
      watched.now = readings.map((input) => ({ scope, input }));
      await running.judge();
    },
    async gone() {
      watched.now = [];
      await running.judge();
    },
    events: () => fixture.reported(subjects.watchdogDrift).map(({ event }: WatchdogAlarm) => event),
    newest: () => fixture.reported(subjects.watchdogDrift).at(-1) as WatchdogAlarm,
    open: () => ports.store.transact("watchdogs.look", (unit: UnitOfWork) => unit.restrictions.listOpen()),
    status: async () => (await listStatus(parts, {}))[0],
  };
}

/** Values by path, and nothing else. */
/** Once before the next conditional write of that path, somebody else writes it. */
function secretsOn(kept: Map<string, string>, faster: { now: string }): Secrets {
  const versions = new Map<string, number>();
  const write = (path: string, value: string) => {
    kept.set(path, value);
    versions.set(path, (versions.get(path) ?? 0) + 1);
    return of(path);
  };
  const of = (path: string) => ({ path, version: versions.get(path) ?? 1, value: kept.get(path) ?? "" });
  return {
    get: async (path) => (kept.has(path) ? of(path) : undefined),
    async put(path, value, { expectedVersion } = {}) {
      if (faster.now === path) write(path, '{"threshold":9}');
      faster.now = "";
      const newest = kept.has(path) ? of(path).version : 0;
      if (expectedVersion !== undefined && expectedVersion !== newest) {
        throw new Fault("SECRETS_CONFLICT", "somebody was faster", { retry: "now" });
      }
      return write(path, value);
    },
    list: async (prefix) => [...kept.keys()].filter((path) => path.startsWith(`${prefix}/`)).sort(),
    rotate: async (path, next) => write(path, next(undefined)),
    close: async () => undefined,
  };
}

it("25.1: opens after as many observations as persistence says, not looks; acts once however often it is judged; clears with what it opened", async () => {
  const one = await begin();
  await one.read("d1", 1.5);
  await one.read("d1", 1.5);
  expect([one.events(), await one.open()]).toEqual([[], []]);
  await one.read("d2", 1.5);
  for (const day of ["d2", "d3", "d4"]) await one.read(day, 1.5);
  expect(one.events()).toEqual(["OPENED"]);
  expect(await one.open()).toMatchObject([{ kind: "ALLOCATION", ...scope, watchdog: "drift_monitor" }]);
  expect(one.newest()).toMatchObject({ state: "ACTION", restriction_ids: [expect.any(String)], dry_run: false });
  expect(await one.status()).toMatchObject({
    state: "ACTION",
    value: 1.5,
    alerts_30d: 1,
    restriction_ids: [expect.any(String)],
  });
  await one.read("d5", 0.7);
  expect(one.events()).toEqual(["OPENED"]);
  await one.read("d6", 0.1);
  expect([one.events(), await one.open()]).toEqual([["OPENED", "CLEARED"], []]);
  expect(await one.status()).toMatchObject({ state: "OK", restriction_ids: [] });
});

it("25.8: several observations of one round count one by one, and the last memory is kept", async () => {
  const one = await begin();
  await one.readAll([
    { day: "d1", value: 0.7 },
    { day: "d2", value: 0.7 },
  ]);
  await one.readAll([
    { day: "d3", value: 1.5 },
    { day: "d4", value: 1.5 },
    { day: "d5", value: 1.5 },
  ]);
  expect(one.events()).toEqual(["OPENED"]);
  const after = await begin(one.fixture, one.kept);
  expect(await after.status()).toMatchObject({ sample_count: 4, state: "ACTION" });
});

it("25.1: a restart in an open episode repeats and forgets nothing, and its halt keeps its name", async () => {
  const before = await begin();
  await before.read("d1", 1.5);
  await before.read("d2", 1.5);
  const { episode_id: id } = before.newest();
  const after = await begin(before.fixture, before.kept);
  await after.read("d2", 1.5);
  await after.read("d3", 1.5);
  expect(after.events()).toEqual(["OPENED"]);
  await after.read("d4", 2.5);
  await after.read("d5", 2.5);
  expect(after.events()).toEqual(["OPENED", "ESCALATED"]);
  expect(after.newest().episode_id).toBe(id);
  expect(after.halts).toMatchObject([
    {
      halt_id: `${id}-strategy-halt`,
      severity: "STRATEGY_HALT",
      strategy_id: "alpha-momentum",
      requested_by: "drift_monitor",
    },
  ]);
  expect(await after.open()).toHaveLength(1);
  // The memory went on where it was: two before the restart and four after it.
  expect(await after.status()).toMatchObject({ sample_count: 5 });
});

it("25.5 and 25.7: in a dry run and while it is paused nothing is restricted; resumed, it does what it held back", async () => {
  const one = await begin();
  await one.call("SetWatchdogConfig", { watchdog: "drift_monitor", set: { mode: "dry_run" }, reason: "" });
  await one.read("d1", 1.5);
  await one.read("d2", 1.5);
  expect([one.events(), await one.open(), one.newest().dry_run]).toEqual([["OPENED"], [], true]);
  await one.call("PauseWatchdog", { watchdog: "drift_monitor", reason: "" });
  await one.call("SetWatchdogConfig", { watchdog: "drift_monitor", set: { mode: null }, reason: "" });
  await one.read("d3", 1.5);
  expect(await one.open()).toEqual([]);
  expect((await one.call<WatchdogList>("ListWatchdogs", {})).watchdogs).toMatchObject([
    { state: "ACTION", mode: "act", paused: { by: "operator:duty" } },
  ]);
  await expect(one.call("ResumeWatchdog", { watchdog: "drift_monitor", reason: "" })).rejects.toThrow(Fault);
  await one.call("ResumeWatchdog", { watchdog: "drift_monitor", reason: "over" });
  await one.read("d4", 1.5);
  expect(await one.open()).toHaveLength(1);
});

it("25.5: a value out of range is refused and changes nothing; one in the store leaves the last good one in force and alarms", async () => {
  const one = await begin();
  const path = "secret/test/watchdogs/alpha/drift_monitor";
  const set = (threshold: number) =>
    one.call<WatchdogConfig>("SetWatchdogConfig", {
      watchdog: "drift_monitor",
      fund_id: "alpha",
      threshold,
      reason: "",
    });
  await set(3);
  await expect(set(11)).rejects.toThrow("threshold is 11; it may be 0 to 10 z.");
  expect(one.kept.get(path)).toBe('{"threshold":3}');
  one.kept.set(path, '{"threshold":"many"}');
  await one.configuration.refresh();
  expect(one.configuration.of("drift_monitor", "alpha").threshold).toBe(3);
  expect(one.fixture.reported(subjects.alarmRaised)).toMatchObject([{ code: "WATCHDOG_CONFIG_INVALID" }]);
  one.kept.set(path, '{"threshold":4}');
  await one.configuration.refresh();
  expect(one.configuration.of("drift_monitor", "alpha").threshold).toBe(4);
  expect(one.configuration.of("drift_monitor", undefined).threshold).toBe(1);
});

it("26.5: a configuration is changed on top of the version that was read, or not at all", async () => {
  const one = await begin();
  const path = "secret/test/watchdogs/alpha/drift_monitor";
  const set = (threshold: number, expected_version?: number, fund_id: string | undefined = "alpha") =>
    one.call<WatchdogConfig & DeniedAnswer>("SetWatchdogConfig", {
      watchdog: "drift_monitor",
      ...(fund_id === "" ? {} : { fund_id }),
      threshold,
      reason: "",
      ...(expected_version === undefined ? {} : { expected_version }),
    });
  const read = () => one.call<WatchdogConfig>("GetWatchdogConfig", { watchdog: "drift_monitor", fund_id: "alpha" });
  expect((await read()).version).toBe(0);
  expect((await set(3, 0)).version).toBe(1);
  expect((await set(4, 1)).version).toBe(2);
  const stale = await set(5, 1);
  expect(stale.denial).toMatchObject({ code: "WATCHDOG_VERSION_CONFLICT" });
  expect(stale.denial?.reason).toContain("is at version 2 and not 1");
  expect([one.kept.get(path), (await read()).version]).toEqual(['{"threshold":4}', 2]);
  // Somebody is faster between the look and the write.
  one.faster.now = path;
  expect((await set(6, 2)).denial).toMatchObject({ code: "WATCHDOG_VERSION_CONFLICT" });
  expect(one.kept.get(path)).toBe('{"threshold":9}');
  await expect(set(5, 1, "")).rejects.toThrow("name the fund");
});

it("25.3: when the store does not take a change, people are notified at once, and the event comes when it does", async () => {
  const one = await begin();
  await one.read("d1", 1.5);
  one.failing.now = true;
  await expect(one.read("d2", 1.5)).rejects.toThrow("the store is away");
  expect([one.events(), one.sent.map(({ title }) => title)]).toEqual([
    [],
    ["drift_monitor: alpha-momentum opened, not recorded yet"],
  ]);
  one.failing.now = false;
  await one.read("d2", 1.5);
  expect([one.events(), (await one.open()).length]).toEqual([["OPENED"], 1]);
});

it("25.3: what opened while the store was away is an event though it is over when the store is back", async () => {
  const one = await begin();
  await one.read("d1", 1.5);
  one.failing.now = true;
  await expect(one.read("d2", 1.5)).rejects.toThrow("the store is away");
  await one.read("d3", 0.2);
  expect(one.events(), "nothing else is judged about it meanwhile").toEqual([]);
  one.failing.now = false;
  await one.read("d4", 0.2);
  expect([one.events(), await one.open(), (await one.status())?.state]).toEqual([["OPENED", "CLEARED"], [], "OK"]);
  expect(one.sent).toHaveLength(1);
});

it("25.8: what rests on injected observations ends with them, and what is not watched any more clears and is forgotten", async () => {
  const one = await begin();
  await one.read("d1", 1.5, true);
  await one.read("d2", 1.5, true);
  expect(one.newest()).toMatchObject({ event: "OPENED", injected: true });
  await one.read("d2", null);
  expect([one.events(), await one.open()]).toEqual([["OPENED", "CLEARED"], []]);
  await one.read("d3", 1.5);
  await one.read("d4", 1.5);
  expect(await one.open()).toHaveLength(1);
  await one.gone();
  expect(one.events()).toEqual(["OPENED", "CLEARED", "OPENED", "CLEARED"]);
  expect(await one.open()).toEqual([]);
  expect(await one.status()).toMatchObject({ state: "WARMUP", reason: "NOTHING_TO_WATCH", sample_count: 0 });
});

it("25.9: a watchdog that could never judge anything alarms and stands in the file", async () => {
  const one = await begin();
  one.away.feed = true;
  await one.fixture.time.timers.sleep(240_000);
  expect(one.files.at(-1)?.stale).toEqual([{ watchdog: "drift_monitor", about: "everything", reason: "NOT_JUDGED" }]);
  expect(one.fixture.reported(subjects.alarmRaised)).toContainEqual(
    expect.objectContaining({ code: "WATCHDOG_STALE" }),
  );
  one.away.feed = false;
  await one.fixture.time.timers.sleep(70_000);
  expect(one.files.at(-1)?.stale).toEqual([]);
});

it("25.1: a halt that is owed does not wait for a feed that is away", async () => {
  const one = await begin();
  one.away.halts = true;
  await one.read("d1", 2.5);
  await one.read("d2", 2.5);
  expect(one.halts).toEqual([]);
  one.away.halts = false;
  one.away.feed = true;
  await expect(one.judge()).rejects.toThrow("the feed is away");
  expect(one.halts).toHaveLength(1);
});

it("hedges again what an open episode still wants, under the next name, and never while an order of it is owed", async () => {
  const { readAll, submitted, away, status } = await begin();
  const wanting = (day: string, hedge?: number) =>
    readAll([{ day, value: 1.5, ...(hedge === undefined ? {} : { hedge }) }]);
  await wanting("1", 5);
  expect(submitted, "no episode is open yet").toEqual([]);
  await wanting("2");
  const { episode_id: id } = (await status()) ?? {};
  await wanting("3", 2);
  away.orders = true;
  await wanting("4", 3);
  await wanting("5", 3);
  away.orders = false;
  await wanting("6");
  expect(submitted.map(({ order_id, quantity, broker }) => [order_id, quantity, broker])).toEqual([
    [`${id}-hedge-1`, "2", "paper"],
    [`${id}-hedge-2`, "3", "paper"],
  ]);
});

it("hedges nothing again while it is paused", async () => {
  const { readAll, submitted, call } = await begin();
  await readAll([{ day: "1", value: 1.5 }]);
  await readAll([{ day: "2", value: 1.5 }]);
  await call("PauseWatchdog", { watchdog: "drift_monitor", reason: "trial" });
  await readAll([{ day: "3", value: 1.5, hedge: 2 }]);
  await readAll([{ day: "3", value: 1.5 }]);
  await call("ResumeWatchdog", { watchdog: "drift_monitor", reason: "over" });
  expect(submitted).toEqual([]);
  await readAll([{ day: "4", value: 1.5, hedge: 2 }]);
  expect(submitted).toHaveLength(1);
});

it("is listed though it watches nothing, with the reason, so that nobody reads its absence as OK", async () => {
  const { gone, read, status, away, fixture, judge } = await begin();
  expect(await status()).toMatchObject({ watchdog: "drift_monitor", state: "WARMUP", reason: "NOT_JUDGED" });
  expect(await status()).not.toHaveProperty("judged_at");
  await gone();
  expect(await status()).toMatchObject({ state: "WARMUP", reason: "NOTHING_TO_WATCH" });
  expect(await status()).toHaveProperty("judged_at");
  away.feed = true;
  await fixture.time.timers.sleep(200_000);
  expect(await status()).toMatchObject({ state: "STALE", reason: "NOT_JUDGED" });
  away.feed = false;
  await read("1", 0.2);
  await judge();
  expect(await status()).toMatchObject({ state: "OK", value: 0.2 });
});
