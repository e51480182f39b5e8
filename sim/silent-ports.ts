// Ports that say nothing and ports that are not there: what a simulated service logs and measures is nobody's, and lists and histories that only a
// database answers are never asked for.
import type { Chat } from "../ports/chat.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Tracer } from "../ports/tracer.ts";

const silence = (): undefined => undefined;

export const silentLog: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => silentLog };

export const silentMetrics: Metrics = {
  counter: () => ({ add: silence }),
  gauge: () => ({ set: silence }),
  histogram: () => ({ observe: silence }),
};

export const silentTracer: Tracer = { span: (_name, _fields, work) => work() };

export const silentChat: Chat = { name: "silent", send: async () => undefined, close: async () => undefined };

export function notHere<Port extends object>(name: string): Port {
  return new Proxy({} as Port, {
    get: (_target, property) => () => {
      throw new Error(`the simulator has no ${name}, and ${String(property)} was called`);
    },
  });
}
