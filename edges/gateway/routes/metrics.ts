// Every process's metrics on one page, each figure labelled with its service. A service that does not answer is a figure too
// (portcullis_up 0): a page that fails because one part is down would hide the other parts just when they matter.

import { AggregatorRegistry, Registry } from "prom-client";
import { z } from "zod";
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";

type MetricsParts = Pick<GatewayParts, "log" | "timers" | "expectedServices" | "collectMetrics" | "ownMetrics">;

/** What a registry writes as JSON. A figure that is not a number (JSON has no NaN) arrives as null. */
const metricsJson = z.array(
  z.object({
    name: z.string(),
    help: z.string(),
    type: z.string(),
    values: z.array(
      z.object({
        value: z.number().nullable(),
        labels: z.record(z.string(), z.union([z.string(), z.number()])),
        metricName: z.string().optional(),
      }),
    ),
  }),
);

type MetricsJson = z.infer<typeof metricsJson>;

export function metricsPage(parts: MetricsParts): Route {
  return defineRoute({
    id: "getMetrics",
    method: "GET",
    path: "/metrics",
    listeners: ["operator"],
    sentence: "The figures of every process, in the text form that Prometheus reads.",
    operation: "ReadMetrics",
    answers: { 200: "text" },
    handle: async () => {
      const [own, services] = await Promise.all([parts.ownMetrics(), parts.collectMetrics()]);
      const read = new Map<string, MetricsJson | undefined>([["gateway", parse("gateway", own, parts)]]);
      for (const name of parts.expectedServices) {
        await turnOfOthers(parts);
        read.set(name, parse(name, services[name], parts));
      }
      await turnOfOthers(parts);
      return { status: 200, body: await merge(read), contentType: Registry.PROMETHEUS_CONTENT_TYPE };
    },
  });
}

/** One process's figures are a few milliseconds of work; whoever halts does not wait for all of them. */
const turnOfOthers = ({ timers }: MetricsParts): Promise<void> => new Promise((resolve) => timers.soon(resolve));

function parse(service: string, json: string | undefined, parts: MetricsParts): MetricsJson | undefined {
  if (json === undefined) return undefined;
  try {
    return metricsJson.parse(parseJson(json));
  } catch (thrown) {
    parts.log.warn("A service's metrics cannot be read", { service, complaint: messageOf(thrown) });
    return undefined;
  }
}

async function merge(read: ReadonlyMap<string, MetricsJson | undefined>): Promise<string> {
  const up = {
    name: "portcullis_up",
    help: "1 when the service answered this scrape, else 0.",
    type: "gauge",
    aggregator: "first",
    values: [...read].map(([service, metrics]) => ({ value: metrics === undefined ? 0 : 1, labels: { service } })),
  };
  const labelled = [...read].map(([service, metrics]) => (metrics ?? []).map((metric) => label(metric, service)));
  return AggregatorRegistry.aggregate([[up], ...labelled]).metrics();
}

/**
 * With the service in its labels a figure comes once. When several services share one process and its registry, each of them
 * brings the same figures, and the first is as good as any: adding them up would count everything several times.
 */
function label(metric: MetricsJson[number], service: string): object {
  return {
    ...metric,
    aggregator: "first",
    values: metric.values.map((one) => ({
      ...one,
      value: one.value ?? Number.NaN,
      labels: { service, ...one.labels },
    })),
  };
}
