// Whose processor time is whose: processes of the platform by service, those of its database by session, and of who ended what was used in between.
import { expect, it } from "vitest";
import { namesOf, type UsedByPid, usedByName, usedByPid, usedByTree } from "./processes.ts";

const used = (times: Readonly<Record<number, readonly [parent: number, ms: number]>>): UsedByPid =>
  new Map(Object.entries(times).map(([pid, [parent, ms]]) => [Number(pid), { parent, ms }]));
const run = { pid: 10, processes: { oms: 11 }, database: { embedded: true, host: "/s", port: 1, name: "p", pid: 20 } };

it("names processes, leaves strangers out, and counts who came and who ended for what they used in between", () => {
  const before = used({
    1: [0, 5_000],
    10: [1, 100],
    11: [10, 200],
    20: [10, 50],
    21: [20, 70],
    22: [20, 900],
    99: [1, 9],
  });
  // 22 has ended and left its 950 with its parent, 23 has come, 12 is a helper.
  const after = used({
    1: [0, 6_000],
    10: [1, 110],
    11: [10, 260],
    12: [10, 4],
    20: [10, 1_003],
    21: [20, 75],
    23: [20, 8],
    99: [1, 99],
  });
  const sessions = new Map([
    [21, "portcullis oms"],
    [23, "portcullis oms"],
  ]);
  expect(usedByName(namesOf(run, after, sessions), before, after)).toEqual({
    supervisor: 10,
    oms: 60,
    other: 4,
    "postgres: server": 53,
    "postgres: portcullis oms": 13,
  });
});

it("reads what this process has used, and that of its children with it", () => {
  const now = usedByPid();
  expect(now.get(process.pid)?.ms).toBeGreaterThan(0);
  expect(usedByTree(process.pid, now)).toBeGreaterThanOrEqual(now.get(process.pid)?.ms ?? 0);
});
