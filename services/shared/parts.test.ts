// Parts of a service: the order in which they end, and what is said of one that does not.
import { describe, expect, it } from "vitest";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { type Parts, startParts } from "./parts.ts";

function openFixture() {
  const time = scheduler({ seed: 6 });
  const ended: string[] = [];
  const logged: string[] = [];
  const write = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write, with: () => log };
  const start = <Running extends object>(begin: (parts: Parts) => Promise<Running>) =>
    startParts({ timers: time.timers, log }, begin);
  const part = (name: string, ms = 0) => ({
    stop: async () => {
      await time.timers.sleep(ms);
      ended.push(name);
    },
  });
  return { time, ended, logged, start, part };
}

describe("parts", () => {
  it("end last first, each after the one that stands on it, and once", async () => {
    const { time, ended, start, part } = openFixture();
    const running = await start(async (parts) => {
      parts.add("first", part("first"));
      parts.add("second", { close: part("second", 50).stop });
      expect(parts.add("third", { ...part("third", 100), name: "given back" }).name).toBe("given back");
      return { answer: 42 };
    });
    expect(running.answer).toBe(42);
    await time.finish("stop", running.stop());
    await time.finish("again", running.stop());
    expect(ended).toEqual(["third", "second", "first"]);
  });

  it("that had started end when a later one does not start", async () => {
    const { time, ended, start, part } = openFixture();
    const starting = start(async (parts) => {
      parts.add("first", part("first"));
      parts.add("second", part("second"));
      throw new Error("no third");
    });
    await expect(time.finish("start", starting)).rejects.toThrow("no third");
    expect(ended).toEqual(["second", "first"]);
  });

  it("that fail to end are named and keep no other from ending", async () => {
    const { time, ended, logged, start, part } = openFixture();
    const running = await start(async (parts) => {
      parts.add("first", part("first"));
      parts.add("second", { stop: () => Promise.reject(new Error("stuck")) });
      return {};
    });
    await expect(time.finish("stop", running.stop())).rejects.toThrow("stuck");
    expect(ended).toEqual(["first"]);
    expect(logged).toEqual(['a part did not end {"part":"second","error":"stuck"}']);
  });

  it("that take long are named while they do", async () => {
    const { time, logged, start, part } = openFixture();
    const running = await start(async (parts) => {
      parts.add("quick", part("quick", 2_000));
      parts.add("slow", part("slow", 5_000));
      return {};
    });
    await time.finish("stop", running.stop());
    expect(logged).toEqual(['a part has not ended yet {"part":"slow"}']);
  });
});
