// Microseconds of the process's own monotonic clock.
import { performance } from "node:perf_hooks";
import type { Stopwatch } from "../../ports/stopwatch.ts";

export const systemStopwatch: Stopwatch = () => performance.now() * 1_000;
