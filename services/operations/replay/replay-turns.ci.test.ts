// Whoever looks at the past lets others have their turn: beside a verification, a timeline and moments, all asked at once, a halt that is latched in this process
// waits for no more than a slice of each. Counted in pieces of work, each of which takes a millisecond of the stopwatch, so that no machine's speed is in it.
import { expect, it } from "vitest";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { pastStart, verifyFixture } from "../../../testkit/replay/verify-fixture.ts";
import { createSlices } from "./slices.ts";

const sliceMs = 20;
const none = new AbortController().signal;

/** Time passes by looking at it: a piece of work looks once. */
function countedTime() {
  let us = 0;
  return {
    stopwatch: () => {
      us += 1_000;
      return us;
    },
    piecesSince(beforeUs: number): number {
      return (us - beforeUs) / 1_000;
    },
    nowUs: () => us,
  };
}

it("a halt waits for one slice at most while three thousand decisions are judged by three people", async () => {
  const time = countedTime();
  const people = ["operator:duty", "operator:relief", "operator:viewer"];
  const { verify } = verifyFixture({
    count: 3_000,
    secondOf: (number) => number / 100,
    ports: { timers: systemTimers(), stopwatch: time.stopwatch },
  });
  let isOver = false;
  const to = format(plusMilliseconds(pastStart, 100_000));
  const judging = Promise.all(people.map((who) => verify({ to }, who))).finally(() => {
    isOver = true;
  });
  let [turns, most] = [0, 0];
  while (!isOver) {
    const before = time.nowUs();
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
    most = Math.max(most, time.piecesSince(before));
  }
  const verdicts = await judging;
  expect(verdicts.map(({ decisions, different }) => [decisions, different])).toEqual(people.map(() => [3_000, 0]));
  // A slice of each of them may lie between two turns, with the look that began it and the one that ended it.
  expect(most).toBeLessThanOrEqual(people.length * (sliceMs + 2));
  expect(turns).toBeGreaterThan(3_000 / (sliceMs + 2));
});

it("a slice ends when its time is over, and with whoever waited", async () => {
  const time = countedTime();
  let turns = 0;
  const timers = {
    soon: (run: () => void): void => {
      turns += 1;
      run();
    },
  };
  const slices = createSlices({ timers, stopwatch: time.stopwatch } as never, none);
  for (let piece = 0; piece < 100; piece += 1) await slices.next();
  expect(turns).toBeGreaterThanOrEqual(Math.floor(100 / (sliceMs + 2)));
  const gone = AbortSignal.abort();
  await expect(createSlices({ timers, stopwatch: time.stopwatch } as never, gone).next()).rejects.toMatchObject({
    code: "CANCELLED",
  });
});
