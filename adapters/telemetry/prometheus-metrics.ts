// Prometheus metrics: one registry per process, every series labelled with its service, the process's own figures (event
// loop lag, garbage collection, memory) included. The gateway gathers the JSON form of every process and merges it into
// one page. A measuring device must not break what it measures: a figure that Prometheus cannot hold is counted and
// dropped. Registering one name in two shapes is a Defect, which shows at start.
import {
  collectDefaultMetrics,
  Counter as PrometheusCounter,
  Gauge as PrometheusGauge,
  Histogram as PrometheusHistogram,
  Registry,
} from "prom-client";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { Counter, Gauge, Histogram, Labels, Metrics } from "../../ports/metrics.ts";

/** A registry as plain data, fit to travel between processes as JSON. */
type MetricsJson = readonly unknown[];

export interface MetricsRegistry extends Metrics {
  /** The Prometheus text page of this process alone. */
  text(): Promise<string>;
  json(): Promise<MetricsJson>;
  /** Forgets every instrument; for tests and for the end of a composition in one process. */
  close(): void;
}

interface MetricsOptions {
  /** The value of the label `service` on every series. */
  readonly service: string;
  /** The figures of the Node process itself; default yes. Only one registry of a process needs them. */
  readonly processFigures?: boolean;
}

type Kind = "counter" | "gauge" | "histogram";

export function createMetrics(options: MetricsOptions): MetricsRegistry {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.service });
  if (options.processFigures ?? true) collectDefaultMetrics({ register: registry });
  const known = new Map<string, { readonly shape: string; readonly instrument: Counter | Gauge | Histogram }>();

  const refused = new PrometheusCounter({
    name: "portcullis_metrics_refused_total",
    help: "Figures that were not recorded because Prometheus could not hold them.",
    labelNames: ["metric"],
    registers: [registry],
  });
  const guarded = (name: string, record: () => void): void => {
    try {
      record();
    } catch {
      // A wrong label or value is a mistake of the caller's, but not one to stop an order for: it is counted.
      refused.inc({ metric: name });
    }
  };

  function once<T extends Counter | Gauge | Histogram>(kind: Kind, name: string, shape: unknown, make: () => T): T {
    const wanted = `${kind} ${JSON.stringify(shape)}`;
    const existing = known.get(name);
    if (existing !== undefined) {
      if (existing.shape === wanted) return existing.instrument as T;
      throw new Defect(`The metric ${name} is registered as ${existing.shape} and asked for as ${wanted}.`);
    }
    try {
      const instrument = make();
      known.set(name, { shape: wanted, instrument });
      return instrument;
    } catch (thrown) {
      throw new Defect(`The metric ${name} cannot be registered: ${messageOf(thrown)}`, { cause: thrown });
    }
  }

  return {
    counter: (name, help, labelNames = []) =>
      once("counter", name, { labelNames }, () => {
        const inner = new PrometheusCounter({ name, help, labelNames: [...labelNames], registers: [registry] });
        return { add: (count, labels) => guarded(name, () => inner.inc({ ...labels }, finite(count))) };
      }),
    gauge: (name, help, labelNames = []) =>
      once("gauge", name, { labelNames }, () => {
        const inner = new PrometheusGauge({ name, help, labelNames: [...labelNames], registers: [registry] });
        return { set: (value, labels) => guarded(name, () => inner.set({ ...labels }, value)) };
      }),
    histogram: (name, help, buckets, labelNames = []) =>
      once("histogram", name, { labelNames, buckets }, () => {
        const inner = new PrometheusHistogram({
          name,
          help,
          buckets: [...buckets],
          labelNames: [...labelNames],
          registers: [registry],
        });
        const observe = (value: number, labels?: Labels): void =>
          guarded(name, () => inner.observe({ ...labels }, finite(value)));
        return { observe };
      }),
    text: () => registry.metrics(),
    json: async () => (await registry.getMetricsAsJSON()) as unknown as MetricsJson,
    close: () => registry.clear(),
  };
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`);
  return value;
}
