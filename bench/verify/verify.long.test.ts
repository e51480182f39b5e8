// The bench in small: it must keep running, keep its keys and leave nothing behind; its figures mean nothing at this size.
import { expect, test } from "vitest";
import { runVerify } from "./verify.ts";

test("the verify bench measures every check and every call", { timeout: 30_000 }, async () => {
  const said: string[] = [];
  const small = {
    checkWindows: 1,
    slowCount: 5,
    quickCount: 50,
    callWindows: 1,
    windowMs: 30,
    inFlight: [1, 3],
  };
  const { figures, table } = await runVerify(small, (line) => said.push(line));
  const above = expect.toSatisfy((value: unknown) => typeof value === "number" && value > 0);
  const call = { calls_per_s: above, p99_ms: above };
  const level = {
    check_us: { by_hand: above, cached: above, service: above, by_hand_cold: above, cold: above },
    check_ratios: { cached: above, service: above, cold: above },
    calls: { identity: call, no_check: call, bare: call, by_hand: call },
    call_ratios: { no_check: call, bare: call, by_hand: call },
  };
  expect(figures).toMatchObject({ in_flight_1: level, in_flight_3: level, fsync: "on" });
  for (const name of ["cached", "service", "cold", "identity", "no_check", "bare", "by_hand"]) {
    expect(table).toContain(name);
  }
  expect(said.join("\n")).toContain("window 1 of 1, 3 at once");
  expect(process.listenerCount("SIGHUP")).toBe(0);
});
