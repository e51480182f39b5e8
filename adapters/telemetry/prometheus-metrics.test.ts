// Metrics: one instrument per name, a service label everywhere, one merged page for all processes, and no throwing.
import { afterEach, describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { createMetrics, type MetricsRegistry } from "./prometheus-metrics.ts";

const open: MetricsRegistry[] = [];
function metricsOf(service: string, processFigures = false): MetricsRegistry {
  const metrics = createMetrics({ service, processFigures });
  open.push(metrics);
  return metrics;
}
afterEach(() => {
  for (const metrics of open.splice(0)) metrics.close();
});

describe("createMetrics", () => {
  it("gives the same instrument when asked twice", async () => {
    const metrics = metricsOf("oms");
    const first = metrics.counter("portcullis_x_total", "X.", ["kind"]);
    expect(metrics.counter("portcullis_x_total", "X.", ["kind"])).toBe(first);
    first.add(2, { kind: "a" });
    metrics.counter("portcullis_x_total", "X.", ["kind"]).add(3, { kind: "a" });
    expect(await metrics.text()).toContain('portcullis_x_total{kind="a",service="oms"} 5');
  });

  it("calls one name in two shapes a defect", () => {
    const metrics = metricsOf("oms");
    metrics.counter("portcullis_x_total", "X.");
    expect(() => metrics.gauge("portcullis_x_total", "X.")).toThrow(Defect);
    expect(() => metrics.counter("portcullis_x_total", "X.", ["a"])).toThrow(Defect);
    expect(() => metrics.counter("not a name", "X.")).toThrow(Defect);
    metrics.histogram("portcullis_h", "H.", [1, 2]);
    expect(() => metrics.histogram("portcullis_h", "H.", [1, 3])).toThrow(Defect);
  });

  it("counts what it cannot hold instead of throwing", async () => {
    const metrics = metricsOf("oms");
    const counter = metrics.counter("portcullis_x_total", "X.", ["kind"]);
    counter.add(-1, { kind: "a" });
    counter.add(Number.NaN, { kind: "a" });
    counter.add(1, { colour: "red" });
    metrics.histogram("portcullis_h", "H.", [1]).observe(Number.NaN);
    const text = await metrics.text();
    expect(text).toContain('portcullis_metrics_refused_total{metric="portcullis_x_total",service="oms"} 3');
    expect(text).toContain('portcullis_metrics_refused_total{metric="portcullis_h",service="oms"} 1');
    expect(text).not.toContain('colour="red"');
  });

  it("includes the process's own figures", async () => {
    const text = await metricsOf("oms", true).text();
    for (const name of [
      "nodejs_eventloop_lag_seconds",
      "nodejs_gc_duration_seconds",
      "process_resident_memory_bytes",
    ]) {
      expect(text).toContain(`# TYPE ${name}`);
    }
    expect(text).toMatch(/process_start_time_seconds\{service="oms"\} \d+/);
  });
});
