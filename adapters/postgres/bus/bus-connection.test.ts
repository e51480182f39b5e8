// A kept connection comes back as often as it is lost, without leaving anything behind each time, and says when it is over.
import { EventEmitter, getEventListeners } from "node:events";
import type pg from "pg";
import { expect, it, vi } from "vitest";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { keepConnection } from "./bus-connection.ts";

class StubClient extends EventEmitter {
  query(): Promise<void> {
    return Promise.resolve();
  }

  async end(): Promise<void> {
    this.emit("end");
  }
}

it("leaves no listener behind at a reconnect", async () => {
  let opened = 0;
  let latest: StubClient | undefined;
  const signals = new Set<AbortSignal>();
  const connection = keepConnection({
    title: "a connection that is lost again and again",
    log: quietLog,
    random: systemRandom(),
    // Waits for nothing and listens to nothing, so that every listener that is counted is the connection's own.
    timers: {
      sleep: (ms, signal) => {
        if (signal !== undefined) signals.add(signal);
        return new Promise((resolve) => (ms < 2_000 ? setImmediate(resolve) : setTimeout(resolve, 50)));
      },
      after: () => () => undefined,
      soon: () => undefined,
    },
    open: async () => {
      opened += 1;
      latest = new StubClient();
      return latest as unknown as pg.Client;
    },
    prepare: async () => undefined,
  });
  try {
    for (let round = 1; round <= 30; round += 1) {
      await vi.waitFor(() => expect(connection.current()).toBe(latest), { interval: 1, timeout: 20_000 });
      latest?.emit("error", new Error("planned"));
      await vi.waitFor(() => expect(opened).toBe(round + 1), { interval: 1, timeout: 20_000 });
    }
    expect(signals.size).toBeGreaterThan(0);
    for (const signal of signals) expect(getEventListeners(signal, "abort").length).toBeLessThan(5);
  } finally {
    await connection.close();
  }
});

it("tells a connection that was closed from one that is not open yet", async () => {
  const connection = keepConnection({
    title: "a connection that never opens",
    log: quietLog,
    random: systemRandom(),
    timers: systemTimers(),
    open: () => Promise.reject(new Error("planned")),
    prepare: async () => undefined,
  });
  const impatient = new AbortController();
  const first = connection.opened(impatient.signal);
  impatient.abort();
  expect(await first).toBe("aborted");
  expect(await connection.opened(impatient.signal)).toBe("aborted");
  const second = connection.opened(new AbortController().signal);
  await connection.close();
  expect(await second).toBe("closed");
  expect(await connection.opened(new AbortController().signal)).toBe("closed");
});
