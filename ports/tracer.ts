// Spans for OpenTelemetry when an endpoint is configured; otherwise the work simply runs.
type SpanFields = Readonly<Record<string, string | number | boolean>>;

export interface Tracer {
  /** Runs the work inside a span that ends with it and records its failure. */
  span<T>(name: string, fields: SpanFields, work: () => Promise<T>): Promise<T>;
}
