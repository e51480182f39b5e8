// What comes again and again is reported at once, and then when its minute ends, and nothing of it is lost.
import { expect, it } from "vitest";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { byTheMinute } from "./by-the-minute.ts";

function begin(isFailing: () => boolean = () => false) {
  const time = scheduler({ seed: 1, ties: "fifo" });
  const said: string[] = [];
  const together = byTheMinute<string>({ timers: time.timers, log: quietLog }, async (heard, { count, ids }) => {
    if (isFailing()) throw new Error("the store is away");
    said.push(`${time.elapsedMs()}: ${heard} ${count} (${ids.join(" ")})`);
  });
  return { together, said, until: (untilMs: number) => time.run({ untilMs }) };
}

it("the first is reported at once, what follows when the minute ends, with a count and the first ten ids", async () => {
  const { together, said, until } = begin();
  together.heard("a", "1", "one");
  for (let id = 2; id <= 30; id += 1) together.heard("a", String(id), `newest ${id}`);
  together.heard("a", "2", "again");
  together.heard("b", "1", "other");
  await until(59_999);
  expect(said).toEqual(["0: one 1 (1)", "0: other 1 (1)"]);
  await until(60_000);
  expect(said.slice(2)).toEqual(["60000: again 30 (2 3 4 5 6 7 8 9 10 11)"]);
  together.heard("a", "31", "in the second minute");
  await until(200_000);
  expect(said.slice(3)).toEqual(["120000: in the second minute 1 (31)"]);
  together.heard("a", "32", "anew");
  await until(200_001);
  expect(said.slice(4)).toEqual(["200000: anew 1 (32)"]);
});

it("what could not be reported is reported at the end of its minute, with what came since", async () => {
  let isFailing = true;
  const { together, said, until } = begin(() => isFailing);
  together.heard("a", "1", "one");
  await until(1_000);
  together.heard("a", "2", "two");
  isFailing = false;
  await until(60_000);
  expect(said).toEqual(["60000: two 2 (1 2)"]);
});

it("beyond a thousand streams all are reported under one, and stopping reports what waits", async () => {
  const { together, said, until } = begin();
  for (let n = 0; n < 1_003; n += 1) together.heard(`stream ${n}`, String(n), `heard ${n}`);
  await until(0);
  expect(said).toHaveLength(1_001);
  const stopping = together.stop();
  await until(1);
  await stopping;
  expect(said.at(-1)).toBe("0: heard 1002 2 (1001 1002)");
  await until(120_000);
  expect(said).toHaveLength(1_002);
});
