// Metrics and traces that go nowhere, for tests that are about something else.
import type { Metrics } from "../ports/metrics.ts";
import type { Tracer } from "../ports/tracer.ts";

export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};

export const noTracer: Tracer = { span: (_name, _fields, work) => work() };
