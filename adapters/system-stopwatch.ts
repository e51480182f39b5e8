// Microseconds of the process's own monotonic clock.
import type { Stopwatch } from "../ports/stopwatch.ts";

export const systemStopwatch: Stopwatch = () => performance.now() * 1_000;
