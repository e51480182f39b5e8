// What was put aside, as people deal with it, on virtual time: listed, tried again with the truth about it, discarded with a reason, and an alarm that
// stands until nothing is left. The numbers are those of parked.ts.
import { afterEach, describe, expect, it } from "vitest";
import type { ParkedEvent, ParkedEvents, ParkedRetry } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent, Subscription } from "../../../ports/bus.ts";
import type { DeniedAnswer, UnaryHandler } from "../../../ports/rpc.ts";
import type { Store } from "../../../ports/store.ts";
import { encode } from "../../../testkit/memory/codec.ts";
import { giveProof } from "../../../testkit/memory/units/step-up.ts";
import { exampleFill } from "../../../testkit/record-examples.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { fundLane } from "../../shared/fund-lane.ts";
import { discardAction, type RunningParked, startParked } from "./parked.ts";

const seed = 20_261_117;
const duty = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function begin(fixture: ServiceFixture = serviceFixture(seed)) {
  const running: RunningParked = startParked(fixture.portsOf("operations"));
  ends.push(() => running.stop());
  const call = async <Answer>(name: string, request: object): Promise<Answer & Partial<DeniedAnswer>> => {
    const from = { identity: duty, signal: new AbortController().signal };
    return (await (running.handlers[name] as UnaryHandler)(request as never, from as never)) as Answer & DeniedAnswer;
  };
  return {
    fixture,
    running,
    list: async () => (await call<ParkedEvents>("ListParked", { count_max: 0 })).events,
    retry: (event: Pick<ParkedEvent, "subscription" | "event_id">, reason = "mended") =>
      call<ParkedRetry>("RetryParked", { ...event, reason }),
    discard: (event: Pick<ParkedEvent, "subscription" | "event_id">, differs: object = {}) =>
      call<ParkedEvent>("DiscardParked", { ...event, reason: "rubbish", step_up_proof: "", ...differs }),
    alarms: () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "EVENT_PARKED"),
    sleep: (ms: number) => fixture.time.timers.sleep(ms),
  };
}

/** A subscription to fills whose handler does what it is told. */
async function subscribe(
  fixture: ServiceFixture,
  handle: (event: BusEvent) => Promise<void>,
  options: object = {},
): Promise<Subscription> {
  const wanted = { name: "test.fills", subjects: [subjects.fillsCreated.name], attemptsMax: 2, ...options };
  const subscription = await fixture.portsOf("treasury").bus.subscribe(wanted, handle);
  ends.push(() => subscription.close());
  return subscription;
}

/** One for each world: its ids must not come again. */
const publishers = new WeakMap<ServiceFixture, Store>();

async function publish(fixture: ServiceFixture, ...fills: readonly (string | Partial<Fill>)[]): Promise<void> {
  const store = publishers.get(fixture) ?? fixture.portsOf("oms").store;
  publishers.set(fixture, store);
  await store.transact("fill", async (unit) => {
    for (const fill of fills) {
      const differs = typeof fill === "string" ? { fill_id: fill } : fill;
      await unit.events.publish(subjects.fillsCreated, { ...exampleFill, ...differs });
    }
  });
}

function inject(fixture: ServiceFixture, payload: unknown): void {
  const event = { id: fixture.time.prng.uuid(), subject: subjects.fillsCreated.name, key: "k", source: "foreign" };
  const at = fixture.time.clock.now();
  fixture.tables.append([{ ...event, at, bytes: encode(payload), sequence: fixture.tables.nextSequence() }]);
}

const failing = (isMended: () => boolean) => async () => {
  if (!isMended()) throw new Error("planned: not yet mended");
};

describe("23.5: events that were put aside", () => {
  it("are listed with who could not handle them, why, and since when; an alarm stands from the first until none is left, over a restart", async () => {
    const { fixture, running, list, alarms, discard, sleep } = begin();
    await sleep(6_000);
    expect(await list()).toEqual([]);
    expect(alarms()).toEqual([]);
    await subscribe(
      fixture,
      failing(() => false),
    );
    await publish(fixture, "f-1");
    await sleep(6_000);
    const [event] = await list();
    expect(event).toMatchObject({
      subscription: "test.fills",
      subject: subjects.fillsCreated.name,
      state: "PARKED",
      lane: "",
      attempts: 2,
      error: "planned: not yet mended",
      published_by: "oms",
    });
    expect(event?.first_tried_at.localeCompare(event.last_tried_at)).toBeLessThanOrEqual(0);
    expect(alarms()).toMatchObject([
      { level: "critical", facts: { subscription: "test.fills", count: 1, since: event?.since } },
    ]);
    await sleep(30_000);
    expect(alarms()).toHaveLength(1);
    await running.stop();
    const again = begin(fixture);
    await again.sleep(6_000);
    expect(alarms()).toHaveLength(2);
    expect(alarms()[1]?.facts).toMatchObject({ since: event?.since });
    if (event === undefined) throw new Error("nothing is parked");
    expect((await discard(event)).event_id).toBe(event.event_id);
    await sleep(6_000);
    await publish(fixture, "f-2");
    await sleep(6_000);
    expect(alarms()).toHaveLength(3);
  });

  it("1: are tried again by their own subscription, and the answer is what came of it", async () => {
    const { fixture, list, retry, sleep } = begin();
    let isMended = false;
    const subscription = await subscribe(
      fixture,
      failing(() => isMended),
    );
    await publish(fixture, "f-1");
    await sleep(2_000);
    const [event] = await list();
    if (event === undefined) throw new Error("nothing is parked");
    expect(await retry(event)).toMatchObject({ outcome: "FAILED", error: "planned: not yet mended" });
    expect((await list())[0]).toMatchObject({ attempts: 3 });
    isMended = true;
    expect(await retry(event)).toMatchObject({ outcome: "DONE", error: "" });
    expect(await list()).toEqual([]);
    await expect(retry(event)).rejects.toMatchObject({ code: "NOT_FOUND" });
    const asked = fixture.reported(subjects.operatorAttempted).filter(({ verb }) => verb === "RetryParked");
    expect(asked.map(({ operator, reason }) => [operator, reason])).toEqual([
      ["operator:duty", "mended"],
      ["operator:duty", "mended"],
    ]);
    isMended = false;
    await publish(fixture, "f-2");
    await sleep(2_000);
    await subscription.close();
    const [left] = await list();
    if (left === undefined) throw new Error("nothing is parked");
    isMended = true;
    // Nobody runs it any more: that is said, and nothing happens later by surprise.
    expect(await retry(left)).toMatchObject({ outcome: "NOT_TAKEN" });
    await subscribe(
      fixture,
      failing(() => true),
    );
    await sleep(5_000);
    expect(await list()).toHaveLength(1);
  });

  it("1: a try that hangs is said to be running, and is done when it is", async () => {
    const { fixture, list, retry, sleep } = begin();
    let isMended = false;
    await subscribe(fixture, async () => {
      if (!isMended) throw new Error("planned");
      await fixture.time.timers.sleep(20_000);
    });
    await publish(fixture, "f-1");
    await sleep(2_000);
    const [event] = await list();
    if (event === undefined) throw new Error("nothing is parked");
    isMended = true;
    expect(await retry(event)).toMatchObject({ outcome: "RUNNING" });
    expect(await list()).toHaveLength(1);
    await sleep(20_000);
    expect(await list()).toEqual([]);
  });

  it("2: are tried in their order: of one key the oldest first", async () => {
    const { fixture, list, retry, sleep } = begin();
    const seen: string[] = [];
    let isMended = false;
    await subscribe(fixture, async ({ payload }) => {
      if (!isMended) throw new Error("planned");
      seen.push((payload as { fill_id: string }).fill_id);
    });
    await publish(fixture, "f-1", "f-2");
    await sleep(2_000);
    const [first, second] = await list();
    if (first === undefined || second === undefined) throw new Error("two are parked");
    isMended = true;
    expect((await retry(second)).denial?.code).toBe("PARKED_BEHIND_ANOTHER");
    expect((await retry(first)).outcome).toBe("DONE");
    expect((await retry(second)).outcome).toBe("DONE");
    expect(seen).toEqual(["f-1", "f-2"]);
  });

  it("3: money that can be read is never discarded, and what cannot be only by its head, with a reason and a second factor", async () => {
    const { fixture, list, discard, sleep } = begin();
    let isMended = false;
    const money = { parks: false, lane: fundLane };
    const seen: string[] = [];
    await subscribe(
      fixture,
      async (event) => {
        const { fill_id: id, fund_id: fundId } = event.payload as { fill_id: string; fund_id: string };
        if (fundId === "alpha" && !isMended) throw new Error("planned");
        seen.push(id);
      },
      money,
    );
    await publish(fixture, "f-1");
    inject(fixture, { fund_id: "beta", fill_id: 7 });
    await publish(fixture, { fund_id: "beta", fill_id: "b-2" }, { fund_id: "gamma", fill_id: "g-1" });
    await sleep(3_000);
    const [readable, broken, behind] = await list();
    if (readable === undefined || broken === undefined || behind === undefined) throw new Error("three are held");
    expect(seen).toEqual(["g-1"]);
    expect([readable, broken, behind].map(({ state, lane }) => `${state} ${lane}`)).toEqual([
      "HELD fund alpha",
      "HELD fund beta",
      "HELD fund beta",
    ]);
    expect((await discard(readable)).denial?.code).toBe("PARKED_MONEY");
    expect((await discard(behind)).denial?.code).toBe("PARKED_BEHIND_ANOTHER");
    expect((await discard(broken)).denial?.code).toBe("STEP_UP_REQUIRED");
    expect((await discard(broken, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const { subscription, event_id } = broken;
    const named = discardAction(subscription, event_id, "rubbish");
    const step_up_proof = giveProof(fixture.tables.stepUps, { identity: duty, named, at: fixture.time.clock.now() });
    expect((await discard(broken, { step_up_proof })).event_id).toBe(event_id);
    expect(fixture.reported(subjects.busDiscarded)).toMatchObject([
      {
        event_id,
        state: "HELD",
        discarded_by: "operator:duty",
        reason: "rubbish",
        payload_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    await sleep(5_000);
    expect(seen).toEqual(["g-1", "b-2"]);
    isMended = true;
    await sleep(40_000);
    expect(seen).toEqual(["g-1", "b-2", "f-1"]);
    expect(await list()).toEqual([]);
  });

  it("3: that a fill was refused is no money, and is discarded like what cannot be read", async () => {
    const { fixture, list, discard, sleep } = begin();
    const money = { parks: false, lane: fundLane, subjects: [subjects.foreignHeld.name] };
    await subscribe(
      fixture,
      failing(() => false),
      money,
    );
    const { store } = fixture.portsOf("operations");
    await store.transact("foreign.publish", (unit) =>
      unit.events.publish(subjects.foreignHeld, {
        source: "desk",
        event_id: "e-1",
        subject: subjects.fillsCreated.name,
        kind: "fills",
        fund_id: "alpha",
        number_used: true,
        code: "EVENT_ID_REUSED",
        reason: "used before",
        payload: "{}",
        at: "2026-11-16T14:30:00Z",
      }),
    );
    await sleep(3_000);
    const [held] = await list();
    if (held === undefined) throw new Error("nothing is held");
    expect(held).toMatchObject({ state: "HELD", lane: "fund alpha" });
    const named = discardAction(held.subscription, held.event_id, "rubbish");
    const step_up_proof = giveProof(fixture.tables.stepUps, { identity: duty, named, at: fixture.time.clock.now() });
    expect((await discard(held, { step_up_proof })).event_id).toBe(held.event_id);
    await sleep(3_000);
    expect(await list()).toEqual([]);
  });

  it("refuse what makes no sense", async () => {
    const { list, retry, discard } = begin();
    await expect(retry({ subscription: "test.fills", event_id: "no such" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(discard({ subscription: "", event_id: "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await discard({ subscription: "x", event_id: "y" }, { reason: "" })).denial?.code).toBe("REASON_MISSING");
    expect(await list()).toEqual([]);
  });
});
