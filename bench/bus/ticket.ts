// What every contender publishes, and the tools that ours are handed: a clock that is real, and a log and metrics that cost
// nothing, since the work by hand has none.
import { z } from "zod";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Tracer } from "../../ports/tracer.ts";

const schema = z.object({
  n: z.number(),
  symbol: z.string(),
  quantity: z.string(),
  price: z.string(),
  note: z.string(),
});
export type Ticket = z.infer<typeof schema>;

export const ticketWritten: Subject<Ticket> = {
  name: everySubject.replace(">", "bench.ticket"),
  sentence: "Published by the benchmark only.",
  delivery: "durable",
  schema,
  key: (ticket) => ticket.symbol,
};

export function ticket(n: number): Ticket {
  return { n, symbol: `S${n % 8}`, quantity: "100", price: "187.2500", note: "x".repeat(120) };
}

export function lookupTicket(name: string): Subject<unknown> | undefined {
  return name === ticketWritten.name ? (ticketWritten as Subject<unknown>) : undefined;
}

export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quietLog,
};

const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};

const noTracer: Tracer = { span: (_name, _fields, work) => work() };

export function benchTools() {
  return {
    clock: systemClock(),
    random: systemRandom(),
    timers: systemTimers(),
    log: quietLog,
    metrics: noMetrics,
    tracer: noTracer,
    source: "bench",
  };
}
