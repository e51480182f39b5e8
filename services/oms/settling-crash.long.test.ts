// Options that ended, with the process that settles them killed by kill -9 between their end and their booking: begun anew, it books each once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { eventually } from "../../testkit/platform.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { openPeer } from "../../testkit/postgres-fixture.ts";
import { deaths, holdEnded, rightlySettled, settledBooks } from "../../testkit/settling-worker.ts";

it.each(deaths)(
  "23.8: kill -9 %s the booking: assignment and cash are booked once",
  { timeout: 300_000 },
  async (death) => {
    const { address, drop } = await testDatabase();
    const peer = openPeer(address.app);
    const start = (...more: readonly string[]) =>
      spawn(process.execPath, ["--import", "tsx", "testkit/settling-worker.ts", JSON.stringify(address.app), ...more], {
        stdio: "inherit",
      });
    try {
      await holdEnded(peer.store);
      const [, signal] = await once(start(death), "exit");
      expect(signal).toBe("SIGKILL");
      const { fills } = await settledBooks(peer.store);
      expect(fills.length).toBeGreaterThan(0);
      expect(fills.length).toBeLessThan(rightlySettled.fills.length);
      const again = start();
      await eventually(
        "all are settled",
        async () => (await settledBooks(peer.store)).fills.length >= rightlySettled.fills.length,
        120_000,
      );
      // tidy: sleeps because nothing shows that it has looked again and found nothing to book.
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      again.kill("SIGKILL");
      await once(again, "exit");
      expect(await settledBooks(peer.store)).toEqual(rightlySettled);
    } finally {
      await peer.close();
      await drop();
    }
  },
);
