// The shape of a service: a name, one human sentence, whom it needs, and one function that takes its ports and starts it.
// A service is a shell: it takes a message, asks the core, commits, answers. It never reaches for the world by itself.
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Crash } from "../ports/crash.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Random } from "../ports/random.ts";
import type { RpcService } from "../ports/rpc.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Store } from "../ports/store.ts";
import type { Timers } from "../ports/timers.ts";
import type { Tracer } from "../ports/tracer.ts";

export type ServiceName = "riskengine" | "operations" | "oms" | "treasury" | "research";

export interface ServicePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly crash: Crash;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly store: Store;
  readonly bus: Bus;
  readonly secrets: Secrets;
}

export interface RunningService {
  /** The remote procedures that it answers. */
  readonly rpc: readonly RpcService[];
  /** Whether it can do its own work right now; store and bus are judged by whoever runs it. */
  health(): Health;
  /** Finishes what is in hand and lets go; called once. */
  stop(): Promise<void>;
}

export interface Service {
  readonly name: ServiceName;
  readonly sentence: string;
  /** Services that are started before this one and stopped after it. */
  readonly needs: readonly ServiceName[];
  start(ports: ServicePorts): Promise<RunningService>;
}
