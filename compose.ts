// The composition root: starts any subset of the parts in this process and stops it again. The only file in which ports meet adapters.
// `npm start` runs one part per process through part.ts; `--single-process` and tests run several at once.
import { hostname } from "node:os";
import { join } from "node:path";
import type { Configuration } from "./adapters/configuration/schema.ts";
import { createHealthDirectory } from "./adapters/grpc/health-directory.ts";
import type { GrpcAddress } from "./adapters/grpc/listener.ts";
import { type GrpcServer, serveGrpc } from "./adapters/grpc/server.ts";
import { serveHttp } from "./adapters/http/server.ts";
import { openSecrets } from "./adapters/open-secrets.ts";
import { openTransport } from "./adapters/open-transport.ts";
import { createTracer } from "./adapters/otel-tracer.ts";
import { createLog } from "./adapters/pino-log.ts";
import type { DatabaseAddress } from "./adapters/postgres/connection.ts";
import { processCrash } from "./adapters/process-crash.ts";
import { createMetrics, type MetricsRegistry } from "./adapters/prometheus-metrics.ts";
import { systemClock } from "./adapters/system-clock.ts";
import { systemRandom } from "./adapters/system-random.ts";
import { systemTimers } from "./adapters/system-timers.ts";
import { messageOf } from "./contracts/src/fault.ts";
import { gatewayRoutes } from "./edges/gateway/index.ts";
import type { Health } from "./ports/health.ts";
import type { Log } from "./ports/log.ts";
import { services } from "./services/index.ts";
import { takeLease } from "./services/lease.ts";
import { watchReadiness } from "./services/readiness.ts";
import type { RunningService, Service, ServiceName, ServicePorts } from "./services/service.ts";

export type PartName = ServiceName | "gateway";

/** Everything a part needs to know; plain data, because it travels to child processes. */
export interface PartInput {
  readonly configuration: Configuration;
  readonly parts: readonly PartName[];
  readonly database: DatabaseAddress;
  readonly dataFolder: string;
  readonly runtimeFolder: string;
  /** Addresses that are known already: of parts that run elsewhere, and of our own after a restart on port 0. */
  readonly addresses: Readonly<Record<string, string>>;
}

export interface Composition {
  /** Where each part answers, for example "riskengine" -> "127.0.0.1:50051" or "oms" -> "unix:/…/oms.sock". */
  readonly addresses: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The parts and whom each needs, in start order; the gateway comes last because it speaks for all of them. */
export const plans: readonly { readonly name: PartName; readonly needs: readonly PartName[] }[] = [
  ...services.map(({ name, needs }) => ({ name, needs })),
  { name: "gateway", needs: services.map((service) => service.name) },
];

export function logFor(configuration: Configuration): Log {
  const { level, format } = configuration.log;
  const terminal = process.stdout.isTTY === true;
  const pretty = format === "pretty" || (format === "auto" && terminal);
  return createLog({ level, pretty, colour: terminal && process.env["NO_COLOR"] === undefined });
}

export async function compose(input: PartInput): Promise<Composition> {
  const log = logFor(input.configuration);
  const stops: (() => Promise<void>)[] = [];
  const addresses: Record<string, string> = { ...input.addresses };
  const composition: Composition = {
    addresses,
    stop: async () => {
      // In reverse, each in its turn; one that fails to stop must not keep the others from stopping.
      for (const stop of stops.splice(0).reverse()) {
        await stop().catch((error: unknown) => log.error("a part did not stop cleanly", { error: messageOf(error) }));
      }
    },
  };
  try {
    const chosen = services.filter((service) => input.parts.includes(service.name));
    if (chosen.length > 0) await startServices(chosen, input, log, addresses, stops);
    if (input.parts.includes("gateway")) await startGateway(input, log, addresses, stops);
    return composition;
  } catch (error) {
    await composition.stop();
    throw error;
  }
}

type Stops = (() => Promise<void>)[];

async function startServices(
  chosen: readonly Service[],
  input: PartInput,
  log: Log,
  addresses: Record<string, string>,
  stops: Stops,
): Promise<void> {
  const name = chosen.map((service) => service.name).join("+");
  const base = await basePorts(name, input, log.with({ service: name }));
  stops.push(base.close);
  const { configuration } = input;
  const transport = await openTransport({
    ...base.ports,
    configuration,
    database: input.database.app,
    source: name,
    housekeeping: chosen.some(isOperations),
  });
  stops.push(transport.close);
  const secrets = await openSecrets({ ...base.ports, configuration, dataFolder: input.dataFolder });
  stops.push(() => secrets.close());
  const { store, bus } = transport;
  const readiness = watchReadiness({ ...base.ports, store, bus });
  stops.push(() => readiness.stop());
  for (const service of chosen) {
    const ports: ServicePorts = { ...base.ports, log: log.with({ service: service.name }), store, bus, secrets };
    await startService(service, ports, base.metrics, readiness.health, input, addresses, stops);
  }
}

const isOperations = (service: Service): boolean => service.name === "operations";

async function startService(
  service: Service,
  ports: ServicePorts,
  metrics: MetricsRegistry,
  shared: () => Health,
  input: PartInput,
  addresses: Record<string, string>,
  stops: Stops,
): Promise<void> {
  const running = await service.start(ports);
  stops.push(() => running.stop());
  const lease = await takeLease(service.name, { host: hostname(), pid: process.pid }, ports);
  stops.push(() => lease.retire());
  const server = await serveService(
    service,
    running,
    ports,
    metrics,
    () => worst([shared(), lease.health(), running.health()]),
    input,
  );
  stops.push(async () => void (await server.drain(drainMs(input))));
  addresses[service.name] = addressText(server.address);
  ports.log.info("ready", { address: addresses[service.name] });
}

async function serveService(
  service: Service,
  running: RunningService,
  ports: ServicePorts,
  metrics: MetricsRegistry,
  health: () => Health,
  input: PartInput,
): Promise<GrpcServer> {
  const { address, environmentVariable } = listenAddress(service.name, input);
  return serveGrpc({
    ...ports,
    address,
    environmentVariable,
    purpose: `${service.name}'s gRPC server`,
    services: running.rpc,
    health,
    metricsJson: async () => JSON.stringify(await metrics.json()),
  });
}

function listenAddress(name: ServiceName, input: PartInput): { address: GrpcAddress; environmentVariable: string } {
  const { grpc, rpc } = input.configuration;
  const pinned = pinnedPort(input.addresses, name);
  const configured = rpc[name];
  if (configured !== undefined) {
    const colon = configured.lastIndexOf(":");
    const host = configured.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    const port = pinned ?? Number(configured.slice(colon + 1));
    return { address: { host, port }, environmentVariable: `PORTCULLIS_RPC_${name.toUpperCase()}` };
  }
  if (name === "riskengine") {
    return { address: { host: grpc.host, port: pinned ?? grpc.port }, environmentVariable: "PORTCULLIS_GRPC_PORT" };
  }
  if (name === "operations") {
    const port = pinned ?? grpc.operations_port;
    return { address: { host: grpc.host, port }, environmentVariable: "PORTCULLIS_OPERATIONS_GRPC_PORT" };
  }
  return { address: { path: join(input.runtimeFolder, `${name}.sock`) }, environmentVariable: "PORTCULLIS_DATA_DIR" };
}

async function startGateway(
  input: PartInput,
  log: Log,
  addresses: Record<string, string>,
  stops: Stops,
): Promise<void> {
  const base = await basePorts("gateway", input, log.with({ service: "gateway" }));
  stops.push(base.close);
  const targets = serviceTargets(input, addresses);
  const expectedServices = Object.keys(targets);
  const directory = createHealthDirectory({ ...base.ports, targets });
  stops.push(async () => directory.close());
  const { http } = input.configuration;
  const server = await serveHttp({
    ...base.ports,
    listeners: {
      operator: {
        host: http.host,
        port: pinnedPort(addresses, "gateway") ?? http.port,
        environmentVariable: "PORTCULLIS_HTTP_PORT",
      },
      public: {
        host: http.host,
        port: pinnedPort(addresses, "gateway.public") ?? http.public_port,
        environmentVariable: "PORTCULLIS_PUBLIC_PORT",
      },
    },
    routes: gatewayRoutes({
      log: base.ports.log,
      expectedServices,
      directory,
      ownHealth: () => (expectedServices.length > 0 ? { status: "ok" } : knowsNobody),
      collectMetrics: () => directory.collectMetrics(),
      ownMetrics: async () => JSON.stringify(await base.metrics.json()),
    }),
  });
  stops.push(async () => void (await server.drain(drainMs(input))));
  addresses["gateway"] = addressText(server.addresses.operator);
  addresses["gateway.public"] = addressText(server.addresses.public);
}

const knowsNobody: Health = {
  status: "failing",
  complaint: "no service runs here and none is named: set PORTCULLIS_RPC_RISKENGINE and so on",
};

/** Where the gateway finds each service: those that run beside it, and those whose address is configured. */
function serviceTargets(
  input: PartInput,
  addresses: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const configured: Readonly<Record<string, string | undefined>> = input.configuration.rpc;
  return Object.fromEntries(
    services.flatMap(({ name }) => {
      const target = addresses[name] ?? configured[name];
      return target === undefined ? [] : [[name, target]];
    }),
  );
}

/** The port of an address that was taken before a restart, so that port 0 stays where it was. */
function pinnedPort(addresses: Readonly<Record<string, string>>, name: string): number | undefined {
  const address = addresses[name];
  return address === undefined || address.startsWith("unix:") ? undefined : Number(address.split(":").at(-1));
}

async function basePorts(name: string, input: PartInput, log: Log) {
  const timers = systemTimers();
  const metrics = createMetrics({ service: name });
  const tracer = await createTracer({ service: name, endpoint: input.configuration.telemetry.otlp_endpoint, log });
  const ports = {
    clock: systemClock(),
    timers,
    random: systemRandom(),
    crash: processCrash(log),
    log,
    metrics,
    tracer,
  };
  const close = async () => {
    await tracer.close();
    metrics.close();
    timers.release();
  };
  return { ports, metrics, close };
}

/** A part's server gets an eighth of the whole stop: its own share is about a fifth, and the rest of the part must stop as well. */
function drainMs(input: PartInput): number {
  return (input.configuration.lifecycle.drain_timeout_s * 1_000) / 8;
}

function addressText(address: GrpcAddress): string {
  if ("path" in address) return `unix:${address.path}`;
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

function worst(healths: readonly Health[]): Health {
  const rank = { ok: 0, starting: 1, failing: 2 };
  return healths.reduce((bad, next) => (rank[next.status] > rank[bad.status] ? next : bad), { status: "ok" });
}
