// Spans reach a collector with their nesting and their failures; without an endpoint nothing is loaded; the end is bounded.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Log } from "../../ports/log.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { createTracer } from "./otel-tracer.ts";

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events: readonly { readonly attributes: readonly { readonly key: string; readonly value: unknown }[] }[];
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

/** A collector that keeps what it is sent, one that refuses it, or one that takes connections and never answers. */
async function collector(kind: "answering" | "refusing" | "stuck") {
  const bodies: { path: string; body: string }[] = [];
  const stuck: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (kind === "stuck") {
      stuck.push(request);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push({ path: request.url ?? "", body: Buffer.concat(chunks).toString() });
      if (kind === "refusing") response.statusCode = 400;
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resources = () => bodies.flatMap(({ body }) => JSON.parse(body).resourceSpans);
  const spans = (): SentSpan[] =>
    resources().flatMap((resource) => resource.scopeSpans.flatMap((scope: { spans: SentSpan[] }) => scope.spans));
  return { endpoint, bodies, stuck, resources, spans };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("createTracer with an endpoint", () => {
  it("sends nested spans with their fields, also when several run at once", async () => {
    const { endpoint, bodies, resources, spans } = await collector("answering");
    const tracer = await createTracer({ service: "oms", endpoint: `${endpoint}/` });
    const family = (name: string) =>
      tracer.span(`parent ${name}`, { fund_id: name, tries: 2, ok: true }, async () => {
        await pause(5);
        await tracer.span(`child ${name}`, {}, () => pause(5));
        return name;
      });
    expect(await Promise.all([family("a"), family("b")])).toEqual(["a", "b"]);
    await tracer.close();
    expect(bodies[0]?.path).toBe("/v1/traces");
    expect(spans()).toHaveLength(4);
    for (const name of ["a", "b"]) {
      const parent = spans().find((span) => span.name === `parent ${name}`);
      const child = spans().find((span) => span.name === `child ${name}`);
      expect(child?.parentSpanId).toBe(parent?.spanId);
      expect(child?.traceId).toBe(parent?.traceId);
      expect(parent?.parentSpanId ?? "").toBe("");
      expect(parent?.attributes).toContainEqual({ key: "fund_id", value: { stringValue: name } });
    }
    expect(new Set(spans().map((span) => span.traceId)).size).toBe(2);
    expect(resources()[0].resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "oms" } });
  });

  it("records a failure, without its credentials, and hands it on", async () => {
    const { endpoint, spans } = await collector("answering");
    const tracer = await createTracer({ service: "oms", endpoint });
    const failure = new Error("cannot reach postgres://u:hunter2@db/x");
    await expect(tracer.span("work", {}, () => Promise.reject(failure))).rejects.toBe(failure);
    const thrower = (): Promise<void> => {
      throw failure;
    };
    await expect(tracer.span("sync", {}, thrower)).rejects.toBe(failure);
    await tracer.close();
    expect(spans().map((span) => span.status.code)).toEqual([2, 2]);
    expect(spans()[0]?.events).toHaveLength(1);
    expect(JSON.stringify(spans())).not.toContain("hunter2");
  });

  it("ends in bounded time when the collector does not answer", async () => {
    const { endpoint, stuck } = await collector("stuck");
    const timers = seenTimers();
    const tracer = await createTracer({ service: "oms", endpoint, shutdownMsMax: 200, timers });
    await tracer.span("work", {}, () => Promise.resolve());
    const closed = tracer.close();
    await expect.poll(() => stuck.length).toBe(1);
    timers.fire(200);
    await closed;
    // The library goes on asking for ten seconds.
    expect(stuck.map(({ destroyed }) => destroyed)).toEqual([false]);
  });

  it("tells the log once when the collector refuses, and the work does not notice", async () => {
    const { endpoint } = await collector("refusing");
    const said: string[] = [];
    const log = { warn: (message: string) => said.push(message), debug: () => undefined } as unknown as Log;
    const tracer = await createTracer({ service: "oms", endpoint, log });
    expect(await tracer.span("work", {}, () => Promise.resolve(7))).toBe(7);
    await tracer.close();
    expect(said).toEqual(["The trace collector does not take spans."]);
  });
});

describe("createTracer without an endpoint", () => {
  it("runs the work and loads nothing of OpenTelemetry", async () => {
    const module = JSON.stringify(fileURLToPath(new URL("./otel-tracer.ts", import.meta.url)));
    const program = `
      import { createRequire } from "node:module";
      import { createTracer } from ${module};
      const tracer = await createTracer({ service: "oms", endpoint: process.env.ENDPOINT });
      const answer = await tracer.span("x", {}, async () => 7);
      const cache = Object.keys(createRequire(import.meta.url).cache);
      console.log(answer, cache.filter((path) => path.includes("@opentelemetry")).length > 0);`;
    const run = (endpoint: string) =>
      spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
        encoding: "utf8",
        env: { ...process.env, ENDPOINT: endpoint },
      }).stdout;
    expect(run("")).toBe("7 false\n");
    expect(run("http://127.0.0.1:9")).toBe("7 true\n");
  });
});
