// Counters, gauges and histograms. Names are Prometheus names (`portcullis_bus_handled_total`); asking twice for one name
// gives the same instrument.
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(count: number, labels?: Labels): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  counter(name: string, help: string, labelNames?: readonly string[]): Counter;
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge;
  histogram(name: string, help: string, buckets: readonly number[], labelNames?: readonly string[]): Histogram;
}
