// One connection to a NATS server (or cluster): reconnects for ever at a bounded rate, tells its health, and keeps the
// credentials to itself. A user and password may stand in the configured address, but nothing here ever prints them.
import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  type Authenticator,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { BusHealth } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { requireServer, type ServerFacts } from "./capabilities.ts";
import { loginFromFile } from "./login.ts";

/** What may stand in an address. */
interface NatsCredentials {
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

export interface NatsConnectOptions {
  /** One address or several separated by commas: nats://host:4222 or tls://host:4222. */
  readonly url: string;
  /** A file with the login (login.ts says in which forms); it counts before what stands in the address. */
  readonly credsFile?: string | undefined;
  /** The certificate authority that the servers' certificates must come from; with it nothing goes out unencrypted. */
  readonly tlsCaFile?: string | undefined;
  /** Shown by the server's own tools: which process of ours this is. */
  readonly name: string;
  /** Where the server's answers arrive, when not under the usual _INBOX: who has one of their own is read by nobody else. */
  readonly inboxPrefix?: string;
  readonly log: Log;
  readonly connectMsMax?: number;
  readonly reconnectMsMin?: number;
  readonly reconnectMsMax?: number;
}

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** The server that answers now; after a reconnect it may be another one. */
  server(): ServerFacts;
  /** The addresses without credentials. */
  readonly address: string;
  /** Aborts when the connection of now is lost; after a reconnect there is a new one. */
  lost(): AbortSignal;
  /** The work's result, or a Fault as soon as the connection is lost: the library would wait for its timeout. */
  unlessLost<T>(work: Promise<T>): Promise<T>;
  health(): BusHealth;
  close(): Promise<void>;
}

const requestMsMax = 5_000;

/** Connects and checks the server; a server that cannot serve us is a Fault that names what it lacks. */
export async function connectNats(options: NatsConnectOptions): Promise<NatsLink> {
  const target = parseTarget(options.url);
  const state: LinkState = { connected: true, attemptCount: 0, lost: lossSignal(), complaint: undefined };
  const connection = await dial(options, target, state);
  try {
    const facts = (): ServerFacts => ({
      version: connection.info?.version ?? "0.0.0",
      jetStream: connection.info?.jetstream === true,
    });
    requireServer(facts(), []);
    const manager = await jetstreamManager(connection, { timeout: requestMsMax }).catch((cause: unknown) => {
      throw new Fault(
        "BUS_UNSUPPORTED",
        `The NATS server at ${target.address} does not let this account use JetStream.`,
        {
          retry: "never",
          facts: { feature: "jetstream", server_version: facts().version },
          cause,
        },
      );
    });
    void watch(connection, { state, options, address: target.address, facts });
    return {
      connection,
      stream: jetstream(connection, { timeout: requestMsMax }),
      manager,
      server: facts,
      address: target.address,
      lost: () => state.lost.signal,
      unlessLost: (work) => unlessAborted(work, state.lost.signal),
      health: () =>
        state.complaint === undefined
          ? { connected: state.connected }
          : { connected: state.connected, complaint: state.complaint },
      close: () => connection.close(),
    };
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

interface LinkState {
  connected: boolean;
  /** Attempts since the connection was lost; it sets the back-off. */
  attemptCount: number;
  lost: AbortController;
  complaint: string | undefined;
}

interface Target {
  readonly servers: readonly string[];
  readonly address: string;
  readonly tls: boolean;
  readonly credentials: NatsCredentials;
}

/** Takes an address apart, so that what goes on to logs and to the client library holds no credentials. */
export function parseTarget(url: string): Target {
  const servers: string[] = [];
  let tls = false;
  let credentials: NatsCredentials = {};
  for (const part of url.split(",").map((each) => each.trim())) {
    const parsed = URL.canParse(part) ? new URL(part) : undefined;
    if (parsed === undefined || !["nats:", "tls:"].includes(parsed.protocol) || parsed.hostname === "") {
      throw new Fault("INVALID_ARGUMENT", "A NATS address must look like nats://host:4222 or tls://host:4222.", {
        retry: "never",
      });
    }
    tls ||= parsed.protocol === "tls:";
    servers.push(`${parsed.hostname}:${parsed.port === "" ? "4222" : parsed.port}`);
    if (parsed.username !== "") {
      const user = decodeURIComponent(parsed.username);
      const password = decodeURIComponent(parsed.password);
      credentials = password === "" ? { token: user } : { user, password };
    }
  }
  return { servers, address: servers.map((each) => `${tls ? "tls" : "nats"}://${each}`).join(","), tls, credentials };
}

/** Where to, as whom, and with which authority. */
export async function connectionSettings(
  options: Pick<NatsConnectOptions, "url"> & Partial<NatsConnectOptions>,
  target: Target,
): Promise<NodeConnectionOptions> {
  const { credsFile, log, tlsCaFile, name, inboxPrefix } = options;
  const authenticator =
    credsFile !== undefined && log !== undefined ? loginFromFile(credsFile, log) : authenticatorOf(target.credentials);
  const ca = tlsCaFile === undefined ? undefined : await fileOf(tlsCaFile, "certificate authority");
  return {
    servers: [...target.servers],
    ...(name === undefined ? {} : { name }),
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    ...(target.tls || ca !== undefined ? { tls: ca === undefined ? {} : { ca: ca.toString("utf8") } } : {}),
  };
}

async function dial(options: NatsConnectOptions, target: Target, state: LinkState): Promise<NatsConnection> {
  const settings: NodeConnectionOptions = {
    ...(await connectionSettings(options, target)),
    timeout: options.connectMsMax ?? 10_000,
    reconnect: true,
    // Without this the library takes a stack trace for every single publish.
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    // A server that is being reconfigured may refuse us for a moment: keep asking, the complaint says so meanwhile.
    ignoreAuthErrorAbort: true,
    pingInterval: 5_000,
    maxPingOut: 2,
    reconnectDelayHandler: () => reconnectDelayMs(options, state.attemptCount++),
  };
  try {
    return await connect(settings);
  } catch (cause) {
    const sentence = `No NATS server at ${target.address} accepts us: ${messageOf(cause)}. Check PORTCULLIS_BUS_URL.`;
    throw new Fault("BUS_UNAVAILABLE", sentence, { retry: "later", facts: { address: target.address }, cause });
  }
}

/** Doubles from the least to the most wait; the library asks once per attempt. */
export function reconnectDelayMs(
  limits: { readonly reconnectMsMin?: number; readonly reconnectMsMax?: number },
  attempt: number,
): number {
  const least = limits.reconnectMsMin ?? 50;
  return Math.min(limits.reconnectMsMax ?? 2_000, least * 2 ** Math.min(attempt, 16));
}

function authenticatorOf({ user, password, token }: NatsCredentials): Authenticator | undefined {
  if (token !== undefined) return tokenAuthenticator(token);
  if (user !== undefined) return usernamePasswordAuthenticator(user, password ?? "");
  return undefined;
}

async function fileOf(path: string, what: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new Fault("INVALID_ARGUMENT", `The NATS ${what} file ${path} cannot be read: ${messageOf(cause)}.`, {
      retry: "never",
      cause,
    });
  });
}

interface Watched {
  readonly state: LinkState;
  readonly options: NatsConnectOptions;
  readonly address: string;
  facts(): ServerFacts;
}

/** Follows the connection's fate for health and log; it ends with the connection. */
async function watch(connection: NatsConnection, watched: Watched): Promise<void> {
  const { state, options, address } = watched;
  for await (const status of connection.status()) {
    if (status.type === "disconnect") {
      state.connected = false;
      state.lost.abort();
      state.complaint = `The NATS server at ${address} does not answer; reconnecting.`;
      options.log.warn("lost the connection to NATS", { address });
    }
    if (status.type === "reconnect") {
      state.connected = true;
      state.attemptCount = 0;
      state.lost = lossSignal();
      state.complaint = complaintAbout(watched);
      options.log.info("connected to NATS again", { address, version: watched.facts().version });
    }
    if (status.type === "error") tellError(options.log, address, status.error);
  }
  state.connected = false;
  state.lost.abort();
  state.complaint = `The connection to NATS at ${address} is closed.`;
}

/** A refusal names what was refused: either the server's permissions are wrong, or a service speaks in another's name. */
function tellError(log: Log, address: string, error: Error): void {
  if (error instanceof PermissionViolationError) {
    const { operation, subject } = error;
    log.error("NATS does not permit this login what it tried", { address, operation, subject });
  } else log.warn("NATS reports an error", { address, error: error.message });
}

/** After a reconnect another server may answer; one that lacks something is not refused any more but complained about. */
function complaintAbout(watched: Watched): string | undefined {
  try {
    requireServer(watched.facts(), []);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Every subscription listens to it, so a warning about many listeners would only be noise. */
function lossSignal(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const lose = (): void =>
      reject(new Fault("BUS_UNAVAILABLE", "The connection to NATS was lost.", { retry: "later" }));
    if (signal.aborted) lose();
    signal.addEventListener("abort", lose);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", lose));
  });
}
