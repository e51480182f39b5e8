// How the gateway knows every service's health and metrics: it asks each one's Instance service, all at once, over channels
// that stay open. A service that is gone is failing at once (its socket refuses), one that hangs is failing after a short
// deadline, and one that comes back is seen within about a second, because the channels retry far faster than the library
// would by itself. A deadline that passed while our own event loop stood still says nothing about the service, so such a
// question is put once more. Answers are shared for a moment, and no longer than the channels they came over stand: a service
// that begins to end says goodbye on its channel at once.
import { Client, type ClientOptions, connectivityState, Metadata, status } from "@grpc/grpc-js";
import type { InstanceHealth, InstanceMetrics } from "../../contracts/src/generated/svc/v1/instance.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Health, HealthDirectory } from "../../ports/health.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import { distrustIn, type PeerSecurity, peerCredentials } from "../tls/peer-security.ts";
import { authorizationHeader } from "./bearer-token.ts";
import { codecOf, instanceService, methodOf } from "./definitions.ts";
import { watchLateness } from "./lateness.ts";
import { codeTrailer } from "./status.ts";

interface DirectoryOptions {
  /** Where each service answers, by name: "127.0.0.1:50051" or "unix:/path/of/a.sock". */
  readonly targets: Readonly<Record<string, string>>;
  /** The token of this part of the platform, asked for with every question. */
  readonly credentials: () => string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** How those on other machines are spoken to; in clear text when absent. */
  readonly security?: PeerSecurity | undefined;
  /** How long a service has to answer; default 500. */
  readonly deadlineMs?: number;
  /** For how long one round of answers serves everybody who asks; default 100. */
  readonly coalesceMs?: number;
}

export interface GrpcDirectory extends HealthDirectory {
  /** Every service's metrics as JSON; undefined for one that did not answer. */
  collectMetrics(): Promise<Readonly<Record<string, string | undefined>>>;
  close(): void;
}

const channelOptions: ClientOptions = {
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  // A proxy from the environment is for the world outside, never for the platform's own processes.
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.max_receive_message_length": 16 * 1_048_576,
};

type Ask = <Response>(method: string) => Promise<Response>;

export function createHealthDirectory(options: DirectoryOptions): GrpcDirectory {
  const deadlineMs = options.deadlineMs ?? 500;
  const clients = Object.entries(options.targets).map(([name, target]) => {
    const client = new Client(target, peerCredentials(target, options.security), channelOptions);
    return { name, client, ask: patiently(asker(client, options, deadlineMs), options, deadlineMs) };
  });
  const askEach = async <T>(one: (name: string, ask: Ask) => Promise<T>): Promise<Readonly<Record<string, T>>> =>
    Object.fromEntries(await Promise.all(clients.map(async ({ name, ask }) => [name, await one(name, ask)] as const)));

  const standing = (): string =>
    clients.map(({ client }) => client.getChannel().getConnectivityState(false) === connectivityState.READY).join();
  const all = coalesced(options, standing, () => askEach((_name, ask) => healthOf(ask, deadlineMs)));
  const collectMetrics = coalesced(options, standing, () => askEach((name, ask) => metricsOf(name, ask, options.log)));
  return {
    all,
    collectMetrics,
    close: () => {
      for (const { client } of clients) client.close();
    },
  };
}

/** Many askers at one moment cost one round; an answer older than the bound is never given. */
function coalesced<T>(options: DirectoryOptions, standing: () => string, round: () => Promise<T>): () => Promise<T> {
  const freshUs = (options.coalesceMs ?? 100) * 1_000;
  /** `over` is which channels stood when the answers had come. */
  let latest: { readonly answer: Promise<T>; readonly askedAt: number; over?: string } | undefined;
  return () => {
    const now = options.clock.now();
    const isOutlived = latest?.over !== undefined && latest.over !== standing();
    if (latest === undefined || isOutlived || now - latest.askedAt >= freshUs || now < latest.askedAt) {
      const begun: NonNullable<typeof latest> = { answer: round(), askedAt: now };
      const note = (): void => {
        begun.over = standing();
      };
      begun.answer.then(note, note);
      latest = begun;
    }
    return latest.answer;
  };
}

function asker(client: Client, options: DirectoryOptions, deadlineMs: number): Ask {
  return <Response>(name: string) => {
    const method = methodOf(instanceService, name);
    const request = codecOf(method.requestType);
    const response = codecOf(method.responseType);
    return new Promise<Response>((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set(authorizationHeader, `Bearer ${options.credentials()}`);
      client.makeUnaryRequest(
        method.path,
        (message: object) => Buffer.from(request.encode(message).finish()),
        (bytes) => response.decode(bytes) as Response,
        {},
        metadata,
        { deadline: options.clock.now() / 1_000 + deadlineMs },
        (error, answer) => {
          if (error !== null) reject(error);
          else if (answer === undefined) reject(new Error(`${name} was answered without a message`));
          else resolve(answer);
        },
      );
    });
  };
}

/** Asks once more when the deadline passed and we ourselves were late for a fifth of it. */
function patiently(ask: Ask, { clock, timers }: DirectoryOptions, deadlineMs: number): Ask {
  return async <Response>(method: string) => {
    const lateness = watchLateness(clock, timers);
    try {
      return await ask<Response>(method);
    } catch (thrown) {
      if (codeOf(thrown) !== status.DEADLINE_EXCEEDED || lateness.lateMs() < deadlineMs / 5) throw thrown;
    } finally {
      lateness.stop();
    }
    return ask<Response>(method);
  };
}

async function healthOf(ask: Ask, deadlineMs: number): Promise<Health> {
  try {
    const { status: word, complaint } = await ask<InstanceHealth>("GetHealth");
    if (word !== "ok" && word !== "starting" && word !== "failing") {
      return { status: "failing", complaint: "it answers with a health that nobody knows" };
    }
    return { status: word, ...(complaint === undefined ? {} : { complaint }) };
  } catch (thrown) {
    return { status: "failing", complaint: silence(thrown, deadlineMs) };
  }
}

async function metricsOf(name: string, ask: Ask, log: Log): Promise<string | undefined> {
  try {
    return Buffer.from((await ask<InstanceMetrics>("GetMetrics")).metrics_json).toString("utf8");
  } catch (thrown) {
    log.debug("A service's metrics did not come", { asked_service: name, error: thrown });
    return undefined;
  }
}

function silence(thrown: unknown, deadlineMs: number): string {
  const code = codeOf(thrown);
  if (code === status.DEADLINE_EXCEEDED) return `it did not answer within ${deadlineMs} ms`;
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED)
    return detailsOf(thrown).includes("certificate") ? detailsOf(thrown) : "it refuses the platform's own token";
  if (code === status.UNAVAILABLE && saidByTheService(thrown)) return "it cannot find out who asks for its health";
  if (code === status.UNAVAILABLE) {
    const distrust = distrustIn(detailsOf(thrown));
    return distrust === undefined ? "it cannot be reached" : `it ${distrust}`;
  }
  return "it did not answer the question for its health";
}

/** Whether the service itself said so, and not the channel that did not reach it. */
function saidByTheService(thrown: unknown): boolean {
  const metadata = typeof thrown === "object" && thrown !== null && "metadata" in thrown ? thrown.metadata : undefined;
  return metadata instanceof Metadata && metadata.get(codeTrailer).length > 0;
}

function detailsOf(thrown: unknown): string {
  return typeof thrown === "object" && thrown !== null && "details" in thrown ? String(thrown.details) : "";
}

function codeOf(thrown: unknown): unknown {
  return typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined;
}
