// The life of a run and of a delivery under arbitrary ends of their attempts: what ended stays ended, attempts have an end and lie apart.
import { expect, test } from "vitest";
import { fromUnixMs, type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import {
  backOffMs,
  type DeliveryState,
  deliveryBegun,
  deliveryRefused,
  deliveryTaken,
  givenUpMs,
  isOverdue,
  overdueMs,
  type RunState,
  runBegun,
  runFailed,
  runMade,
  runPutBack,
  runSuperseded,
} from "./run-steps.ts";

const start = fromUnixMs(1_800_000_000_000);
const due: RunState = { status: "DUE", createdAt: start, attempts: 0, nextAt: start };
const pending: DeliveryState = { status: "PENDING", createdAt: start, attempts: 0, nextAt: start };
const after = (ms: number): Instant => plusMilliseconds(start, ms);

/** When a step is made: at its turn, or some time later. */
const turn = (nextAt: Instant, now: Instant, byte: number): Instant =>
  plusMilliseconds(nextAt > now ? nextAt : now, byte * 1_000);

test("runs: 60 lives, seeded; each ends, once, and its attempts lie a back-off apart", () => {
  const seed = 7;
  const random = prng(seed);
  for (let life = 0; life < 60; life += 1) {
    let [run, now, last]: [RunState, Instant, Instant | undefined] = [due, start, undefined];
    for (let step = 0; run.endedAt === undefined; step += 1) {
      if (step > 400) expect.fail(`seed ${seed}, life ${life} does not end`);
      const [what = 0, wait = 0] = random.bytes(2);
      now = turn(run.nextAt, now, wait);
      if (what < 8) {
        run = runSuperseded(run, now);
        break;
      }
      if (last !== undefined) expect(millisecondsBetween(last, now)).toBeGreaterThanOrEqual(5_000);
      run = runBegun(run);
      last = now;
      run = what < 30 ? runMade(run, now) : what < 60 ? runPutBack(run, now) : runFailed(run, "It died.", now);
    }
    expect(["MADE", "FAILED", "MISSED"]).toContain(run.status);
    expect(run.attempts).toBeLessThan(60);
    if (run.status === "FAILED") expect(isOverdue(run, now)).toBe(true);
    for (const next of [runBegun, (one: RunState) => runMade(one, now), (one: RunState) => runSuperseded(one, now)])
      expect(() => next(run)).toThrow("goes on like this");
  }
});

test("deliveries: 60 lives, seeded; each is delivered once or given up after a week", () => {
  const seed = 8;
  const random = prng(seed);
  for (let life = 0; life < 60; life += 1) {
    let [delivery, now]: [DeliveryState, Instant] = [pending, start];
    // Some targets answer sometimes, some never.
    const [mood = 0] = random.bytes(1);
    for (let step = 0; delivery.endedAt === undefined; step += 1) {
      if (step > 400) expect.fail(`seed ${seed}, life ${life} does not end`);
      const [what = 0, wait = 0] = random.bytes(2);
      now = turn(delivery.nextAt, now, wait);
      const before = delivery.attempts;
      delivery = deliveryBegun(delivery, now);
      expect(delivery.attempts).toBe(before + 1);
      expect(millisecondsBetween(now, delivery.nextAt)).toBeGreaterThanOrEqual(5_000);
      // Whoever dies here finds it pending, with its attempt counted.
      expect(delivery.status).toBe("PENDING");
      if (what > 250) continue;
      const takes = mood < 128 && what < 40;
      delivery = takes
        ? deliveryTaken(delivery, now)
        : deliveryRefused(delivery, { detail: "away", isFinal: false }, now);
    }
    if (delivery.status === "UNDELIVERED") expect(millisecondsBetween(start, now)).toBeGreaterThanOrEqual(givenUpMs);
    else expect(delivery.detail).toBeUndefined();
    expect(() => deliveryTaken(delivery, now)).toThrow("goes on like this");
  }
});

test("the back-off doubles from five seconds to an hour; a day is overdue; what cannot help is given up at once", () => {
  expect([1, 2, 3, 10, 11, 1_000].map(backOffMs)).toEqual([5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000]);
  expect([isOverdue(due, after(overdueMs - 1)), isOverdue(due, after(overdueMs))]).toEqual([false, true]);
  const begun = deliveryBegun(pending, start);
  expect(deliveryRefused(begun, { detail: "no such bucket", isFinal: true }, start).status).toBe("UNDELIVERED");
  expect(runFailed(runBegun(due), "x".repeat(9_999), start).detail?.length).toBe(500);
});
