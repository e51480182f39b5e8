// The ports that the HTTP listeners are handed.
import type { TellRefusal } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Verifier } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import type { OncePerKey } from "../records/once-per-key.ts";

export interface HttpPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly crash: Crash;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** Of the listeners' it is asked only who calls; opening and closing it is its maker's business. */
  readonly verifier: Pick<Verifier, "verify">;
  /** Makes requests with an Idempotency-Key one; without it no key is known. */
  readonly oncePerKey?: OncePerKey;
  /** Told of callers who were refused. */
  readonly tellRefusal?: TellRefusal;
}
