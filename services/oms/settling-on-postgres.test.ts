// Options that ended, settled on the database: assignment and cash, once, also by two workers at a time and by one that is cut off in the middle.
import { afterEach, expect, it } from "vitest";
import { eventually } from "../../testkit/platform.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../testkit/postgres-fixture.ts";
import { holdEnded, rightlySettled, settledBooks, settlingWorker } from "../../testkit/settling-worker.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function opened(): Promise<PostgresPeer> {
  const { address, drop } = await testDatabase();
  const peer = openPeer(address.app);
  ends.push(drop, () => peer.close());
  await holdEnded(peer.store);
  return peer;
}

it("23.8: options that ended are assigned or paid in cash once, whoever settles with whom", async () => {
  const { store, openStore } = await opened();
  expect((await settledBooks(store)).fills).toEqual([]);
  // One that fails in the middle of its transaction leaves nothing of it.
  const failing = settlingWorker(store, "inside", () => {
    throw new Error("cut off");
  });
  await eventually("one is settled", async () => (await settledBooks(store)).fills.length > 0);
  await failing();
  for (const stop of [settlingWorker(store), settlingWorker(openStore()), settlingWorker(store)]) ends.push(stop);
  await eventually(
    "all are settled",
    async () => (await settledBooks(store)).fills.length >= rightlySettled.fills.length,
  );
  for (const stop of ends.splice(2)) await stop();
  expect(await settledBooks(store)).toEqual(rightlySettled);
});
