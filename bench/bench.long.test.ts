// The bus bench in small: it must keep running and keep its keys. Its figures mean nothing at this size, so none is judged here.
import { expect, test } from "vitest";
import { runBus } from "./bus/bus.ts";

test("the bus bench measures all four contenders and loses no event of ours", { timeout: 30_000 }, async () => {
  const said: string[] = [];
  const small = { windows: 1, throughputMs: 100, pacedMs: 100, writers: 4, ratePerS: 200 };
  const { figures, table, shortfalls } = await runBus(small, (line) => said.push(line));
  const figure = { messages_per_s: expect.any(Number), p99_ms: expect.any(Number) };
  expect(figures).toMatchObject({
    postgres: figure,
    postgres_raw: figure,
    nats: figure,
    nats_raw: figure,
    ratios: { postgres: figure, nats: figure },
    lost: { postgres: 0, nats: 0 },
    fsync: "on",
    synchronous_commit: "on",
    writers: 4,
  });
  for (const name of ["postgres", "postgres_raw", "nats", "nats_raw"]) {
    const { messages_per_s, p99_ms } =
      (figures as Record<string, { messages_per_s: number; p99_ms: number }>)[name] ?? {};
    expect(messages_per_s, name).toBeGreaterThan(0);
    expect(p99_ms, name).toBeGreaterThan(0);
    expect(table).toContain(name);
  }
  expect(shortfalls.filter((each) => each.includes("lost"))).toEqual([]);
  expect(said.join("\n")).toContain("window 1 of 1");
  expect(process.listenerCount("SIGHUP")).toBe(0);
});
