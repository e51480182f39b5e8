// The shared commit keeps its bound: a store that cannot commit must not fill the memory with those who wait for it.
import type pg from "pg";
import { expect, it } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import { createOutboxLane, waitingMax } from "./outbox-lane.ts";

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
