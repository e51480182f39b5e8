// Spans to an OpenTelemetry collector when an endpoint is configured. Without one the work simply runs: the OpenTelemetry
// packages are not even loaded. The span that is open travels along asynchronous calls in this tracer's own storage, so
// nothing global is registered and two tracers in one process do not meet.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, Tracer as OpenTelemetryTracer, Span } from "@opentelemetry/api";
import type { ReadableSpan, SpanExporter, TracerConfig } from "@opentelemetry/sdk-trace-node";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import { redactText } from "../log/log-redaction.ts";
import { systemTimers } from "../system/timers.ts";

interface TracerOptions {
  readonly service: string;
  /** The collector's base address, as OTEL_EXPORTER_OTLP_ENDPOINT has it: spans go to `<endpoint>/v1/traces`. */
  readonly endpoint?: string | undefined;
  /** Hears once when the collector goes out of reach, and once when it is back. */
  readonly log?: Log;
  readonly timers?: Timers;
  /** How long the end may wait for the last spans to leave; default 2,000. */
  readonly shutdownMsMax?: number;
}

interface ClosableTracer extends Tracer {
  /** Sends what is waiting, for a bounded time. Never rejects. */
  close(): Promise<void>;
}

const idleTracer: ClosableTracer = {
  span: (_name, _fields, work) => work(),
  close: () => Promise.resolve(),
};

export async function createTracer(options: TracerOptions): Promise<ClosableTracer> {
  if (options.endpoint === undefined || options.endpoint === "") return idleTracer;
  const [api, sdk, otlp] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-node"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const exporter = telling(new otlp.OTLPTraceExporter({ url: tracesUrl(options.endpoint) }), options.log);
  const provider = new sdk.NodeTracerProvider({
    resource: resourceOf({ "service.name": options.service, "service.namespace": "portcullis" }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter, { exportTimeoutMillis: 10_000 })],
  });
  const timers = options.timers ?? systemTimers();
  return {
    span: spanRunner(api, provider.getTracer("portcullis")),
    async close() {
      const late = new AbortController();
      const ended = provider.shutdown().catch((thrown: unknown) => {
        options.log?.debug("The last spans were not sent.", { reason: messageOf(thrown) });
      });
      await Promise.race([ended, timers.sleep(options.shutdownMsMax ?? 2_000, late.signal)]);
      late.abort();
    },
  };
}

function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`;
}

type Resource = NonNullable<TracerConfig["resource"]>;

/** Who sends the spans. Written out here because the package that makes resources is not a dependency of ours. */
function resourceOf(attributes: Readonly<Record<string, string>>): Resource {
  return {
    attributes,
    merge: (other) => resourceOf({ ...attributes, ...(other?.attributes as Record<string, string> | undefined) }),
    getRawAttributes: () => Object.entries(attributes),
  };
}

type Api = typeof import("@opentelemetry/api");

function spanRunner(api: Api, tracer: OpenTelemetryTracer): Tracer["span"] {
  const open = new AsyncLocalStorage<Context>();
  return async (name, fields, work) => {
    const above = open.getStore() ?? api.ROOT_CONTEXT;
    const span = tracer.startSpan(name, { attributes: { ...fields } }, above);
    try {
      return await open.run(api.trace.setSpan(above, span), work);
    } catch (thrown) {
      recordFailure(api, span, thrown);
      throw thrown;
    } finally {
      span.end();
    }
  };
}

function recordFailure(api: Api, span: Span, thrown: unknown): void {
  const message = redactText(messageOf(thrown));
  const type = thrown instanceof Error ? thrown.name : typeof thrown;
  const code = thrown instanceof Error && "code" in thrown ? { code: String(thrown.code) } : {};
  span.recordException({ name: type, message, ...code });
  span.setStatus({ code: api.SpanStatusCode.ERROR, message });
}

/** The exporter, telling the log when the collector goes out of reach and when it is back, not once per batch. */
function telling(exporter: SpanExporter, log: Log | undefined): SpanExporter {
  let reachable = true;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const succeeded = result.code === 0;
        if (reachable && !succeeded) {
          log?.warn("The trace collector does not take spans.", { reason: messageOf(result.error ?? "unknown") });
        }
        if (!reachable && succeeded) log?.info("The trace collector takes spans again.");
        reachable = succeeded;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
