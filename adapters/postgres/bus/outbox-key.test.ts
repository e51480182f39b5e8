// The shared commit keeps its bound: a store that cannot commit must not fill the memory with those who wait for it.
import type pg from "pg";
import { expect, it } from "vitest";
import type { Instant } from "../../../contracts/src/instant.ts";
import { insertBytesMax, insertStatements, type OutboxEntry } from "./outbox-insert.ts";
import { createOutboxLane, waitingBytesMax, waitingMax } from "./outbox-key.ts";

it("refuses what comes when too many wait, and goes on afterwards", async () => {
  let open: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => {
    open = resolve;
  });
  // A pool whose only answer is a connection that breaks once the gate opens.
  const pool = { connect: () => stuck.then(() => Promise.reject(new Error("no connection"))) } as unknown as pg.Pool;
  const lane = createOutboxLane(pool);
  const at = 1 as Instant;
  const entry = { eventId: "e", at, subject: "s", key: "k", source: "t", payload: Buffer.from("{}") };
  const waiting = Array.from({ length: waitingMax + 1 }, () => lane.append([entry]).catch((fault: unknown) => fault));
  await expect(lane.append([entry])).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED", retry: "later" });
  open();
  const ends = await Promise.all(waiting);
  expect(ends.every((end) => end instanceof Error)).toBe(true);
  await expect(lane.append([entry])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

const large = Buffer.alloc(1_000_000, "1");
const largeEntry: OutboxEntry = {
  eventId: "e",
  at: 1 as Instant,
  subject: "s",
  key: "k",
  source: "t",
  payload: large,
};

/** A pool that takes everything after a moment and remembers how many bytes each commit carried. */
function countingPool(): { readonly pool: pg.Pool; readonly commits: number[] } {
  const commits: number[] = [];
  let bytes = 0;
  const query = async (statement: string | pg.QueryConfig) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (statement === "commit") {
      commits.push(bytes);
      bytes = 0;
      return { command: "COMMIT" };
    }
    if (typeof statement === "string") return [{}, { rows: [{ xid: "1" }] }];
    const values: readonly unknown[] = statement.values ?? [];
    bytes += values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
    return { rowCount: 1 };
  };
  const pool = { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool;
  return { pool, commits };
}

it("a shared commit and each statement are bounded in bytes as well as in rows", async () => {
  const { pool, commits } = countingPool();
  const lane = createOutboxLane(pool);
  await Promise.all(Array.from({ length: 40 }, () => lane.append([largeEntry])));
  expect(commits.reduce((sum, bytes) => sum + bytes, 0)).toBe(40_000_000);
  expect(Math.max(...commits)).toBeLessThanOrEqual(insertBytesMax);
  const sizes = insertStatements(Array.from({ length: 20 }, () => largeEntry)).map((one) => (one.values ?? []).length);
  expect(sizes).toEqual([8 * 6, 8 * 6, 4 * 6]);
  expect(insertStatements([]).length).toBe(0);
  const small = Array.from({ length: 1_001 }, () => ({ ...largeEntry, payload: Buffer.from("{}") }));
  expect(insertStatements(small).map((one) => (one.values ?? []).length / 6)).toEqual([500, 500, 1]);
});

it("what waits is bounded in bytes as well", async () => {
  const { pool } = countingPool();
  const lane = createOutboxLane(pool);
  const count = waitingBytesMax / large.length + 50;
  const ends = await Promise.allSettled(Array.from({ length: count }, () => lane.append([largeEntry])));
  const refused = ends.filter((end) => end.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ reason: { code: "RESOURCE_EXHAUSTED", retry: "later" } });
  await expect(lane.append([largeEntry])).resolves.toBeUndefined();
});
