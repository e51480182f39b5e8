// What the composition of services and of the gateway share: the input, the ports that every part has, addresses and stops.
import type { Configuration } from "../adapters/configuration/schema.ts";
import type { GrpcAddress } from "../adapters/grpc/listener.ts";
import { createLog, type LogDestination } from "../adapters/log/pino-log.ts";
import type { ConnectionTarget } from "../adapters/postgres/connection.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { processCrash } from "../adapters/system/process-crash.ts";
import { systemRandom } from "../adapters/system/random.ts";
import type { SupervisorRequest } from "../adapters/system/service-process.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { createTracer } from "../adapters/telemetry/otel-tracer.ts";
import { createMetrics } from "../adapters/telemetry/prometheus-metrics.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import type { ProcessGroup } from "../services/shared/process-group.ts";
import type { ServiceName } from "../services/shared/service.ts";

export type PartName = ServiceName | "gateway" | "bots";

/** Everything a part needs to know; plain data, because it travels to child processes. */
export interface PartInput {
  readonly configuration: Configuration;
  readonly parts: readonly PartName[];
  /** The database as the service's own login, or as the one that all share. */
  readonly database: ConnectionTarget;
  readonly hasOwnLogin: boolean;
  readonly dataFolder: string;
  readonly runtimeFolder: string;
  /** Where the embedded database writes; none when the database is the user's. */
  readonly databaseFolders: readonly string[];
  /** Which of several data folders on one database this is; undefined on the embedded one, which has but one. */
  readonly group?: ProcessGroup | undefined;
  /** Whether the development operators exist: with the embedded provider and outside production. */
  readonly development: boolean;
  /** The keys that allow clear text to other machines, of connections that use it; the start knows all of them. */
  readonly clearText?: readonly string[];
  /** By which the bots prove to the gateway who they are, over a socket of the runtime folder; nobody else is told. */
  readonly handOver?: string;
  /** Why the bots do not run here, and what would change it; undefined where they can. */
  readonly botsLack?: string;
  /** Addresses that are known already: of parts that run elsewhere, and of our own after a restart on port 0. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Those that are told by which secret the bots prove themselves. */
export const handedOver: readonly string[] = ["gateway", "bots"];

export const noBotsLogin =
  "the repository bot does not run, because it has no database login of its own: let an administrator make one and name it in database.logins.bots " +
  "(PORTCULLIS_DATABASE_LOGINS_BOTS=postgres://LOGIN:PASSWORD@HOST:PORT/DATABASE), then start again";

export type Stops = (() => Promise<void>)[];

/** What a part may ask of the supervisor that runs it; there is none where everything runs in one process. */
export type AskRunner = (request: SupervisorRequest) => Promise<unknown>;

export function logFor(configuration: Configuration, kept?: LogDestination): Log {
  const { level, format } = configuration.log;
  const terminal = process.stdout.isTTY === true;
  const pretty = format === "pretty" || (format === "auto" && terminal);
  const colour = terminal && process.env["NO_COLOR"] === undefined;
  return createLog({ level, pretty, colour, ...(kept === undefined ? {} : { kept }) });
}

/** The port of an address that was taken before a restart, so that port 0 stays where it was. */
export function pinnedPort(addresses: Readonly<Record<string, string>>, name: string): number | undefined {
  const address = addresses[name];
  return address === undefined || address.startsWith("unix:") ? undefined : Number(address.split(":").at(-1));
}

export async function basePorts(name: string, input: PartInput, log: Log) {
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
export function drainMs(input: PartInput): number {
  return (input.configuration.lifecycle.drain_timeout_s * 1_000) / 8;
}

export function addressText(address: GrpcAddress): string {
  if ("path" in address) return `unix:${address.path}`;
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** The complaint is what the login lacks; whoever runs on the one that all services share says so. */
export function loginHealth({ hasOwnLogin }: PartInput, complaint: string | undefined): Health {
  if (complaint !== undefined) return { status: "failing", complaint };
  return hasOwnLogin ? { status: "ok" } : { status: "ok", complaint: sharedLoginSentence };
}

export const sharedLoginSentence =
  "All services use one database login, so that each may do what any of them may; production refuses that.";

/** A process that was asked to end is not well any more, from that moment on, however long its end takes. */
export function untilEnding(ending: AbortSignal): Health {
  return ending.aborted ? { status: "failing", complaint: "it was asked to end" } : { status: "ok" };
}

export function worst(healths: readonly Health[]): Health {
  const rank = { ok: 0, starting: 1, failing: 2 };
  // Among those that are equally well, one that has something to say comes first.
  const weight = ({ status, complaint }: Health): number => rank[status] * 2 + (complaint === undefined ? 0 : 1);
  return healths.reduce((bad, next) => (weight(next) > weight(bad) ? next : bad), { status: "ok" });
}
