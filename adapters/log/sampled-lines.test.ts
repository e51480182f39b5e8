// What of a flood of lines is written: the first of every second, and how many more there were.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { sampledLines } from "./sampled-lines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("writes ten a second in full and the rest as one figure, and is silent when all is", () => {
  const { ports, lines } = testPorts();
  const write = sampledLines(ports.log, ports.timers, "more of them");
  for (let count = 0; count < 1_000; count += 1) write("info", "refused", { count });
  expect(lines.map(({ fields }) => fields["count"])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  vi.advanceTimersByTime(1_000);
  expect(lines.slice(10)).toEqual([{ level: "warn", message: "more of them", fields: { count: 990 } }]);
  write("error", "refused again", {});
  vi.advanceTimersByTime(5_000);
  expect(lines.slice(11)).toEqual([{ level: "error", message: "refused again", fields: {} }]);
  expect(ports.timers.pendingCount()).toBe(0);
});
