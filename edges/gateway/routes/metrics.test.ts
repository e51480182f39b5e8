// One page of metrics out of many registries, also when one of them is silent or talks nonsense.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { systemTimers } from "../../../adapters/system/timers.ts";
import type { HttpRequest } from "../../../ports/http.ts";
import type { Log, LogFields } from "../../../ports/log.ts";
import { metricsPage } from "./metrics.ts";

const request: HttpRequest = {
  requestId: "r",
  identity: undefined,
  bearer: () => undefined,
  remoteAddress: "127.0.0.1",
  params: undefined,
  query: undefined,
  body: undefined,
  headers: {},
};

async function registryJson(count: number): Promise<string> {
  const registry = new Registry();
  const options = { registers: [registry], help: "h" };
  new Counter({ ...options, name: "portcullis_handled_total", labelNames: ["subject"] }).inc({ subject: "a" }, count);
  new Gauge({ ...options, name: "portcullis_age_seconds", aggregator: "omit" }).set(count);
  new Gauge({ ...options, name: "portcullis_unknown" }).set(Number.NaN);
  new Histogram({ ...options, name: "portcullis_took_seconds", buckets: [1, 2] }).observe(1.5);
  return JSON.stringify(await registry.getMetricsAsJSON());
}

function logTo(lines: LogFields[]): Log {
  const add = (_message: string, fields: LogFields = {}): void => {
    lines.push(fields);
  };
  const log: Log = { debug: add, info: add, warn: add, error: add, with: () => log };
  return log;
}

async function page(collected: Readonly<Record<string, string | undefined>>, lines: LogFields[] = []) {
  return metricsPage({
    log: logTo(lines),
    timers: systemTimers(),
    expectedServices: ["riskengine", "operations"],
    collectMetrics: async () => collected,
    ownMetrics: () => registryJson(7),
  }).handle(request);
}

describe("metrics", () => {
  it("labels each figure with its service and loses none", async () => {
    const answer = await page({ riskengine: await registryJson(1), operations: await registryJson(2) });
    expect(answer.status).toBe(200);
    expect(answer.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = String(answer.body).split("\n");
    for (const [service, count] of Object.entries({ gateway: 7, riskengine: 1, operations: 2 })) {
      expect(lines).toContain(`portcullis_up{service="${service}"} 1`);
      expect(lines).toContain(`portcullis_handled_total{service="${service}",subject="a"} ${count}`);
      expect(lines).toContain(`portcullis_age_seconds{service="${service}"} ${count}`);
      expect(lines).toContain(`portcullis_unknown{service="${service}"} Nan`);
      expect(lines).toContain(`portcullis_took_seconds_bucket{service="${service}",le="2"} 1`);
      expect(lines).toContain(`portcullis_took_seconds_count{service="${service}"} 1`);
    }
    expect(lines.filter((line) => line === "# TYPE portcullis_took_seconds histogram")).toHaveLength(1);
  });

  it("counts figures once when services share a registry that names itself", async () => {
    const shared = (await registryJson(3))
      .replaceAll('"labels":{', '"labels":{"service":"both",')
      .replaceAll(",}", "}");
    const answer = await page({ riskengine: shared, operations: shared });
    expect(answer.body).toContain('portcullis_handled_total{service="both",subject="a"} 3\n');
    expect(answer.body).toContain('portcullis_up{service="operations"} 1');
  });

  it("shows a service that is down as 0 and still has the others", async () => {
    const answer = await page({ riskengine: undefined, operations: await registryJson(2) });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('portcullis_up{service="riskengine"} 0');
    expect(answer.body).toContain('portcullis_handled_total{service="operations",subject="a"} 2');
  });

  it.each(["{", "[]x", '{"a":1}', '[{"name":1}]'])(
    "takes nonsense (%s) for no answer, and says so",
    async (nonsense) => {
      const lines: LogFields[] = [];
      const answer = await page({ riskengine: nonsense, operations: await registryJson(2) }, lines);
      expect(answer.body).toContain('portcullis_up{service="riskengine"} 0');
      expect(answer.body).toContain('portcullis_up{service="operations"} 1');
      expect(lines).toMatchObject([{ service: "riskengine" }]);
    },
  );
});
