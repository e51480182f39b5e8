// A process stands by while its bus is away, or while another data folder's processes do its work: it answers that it does, holds no lease, writes
// nothing, and begins its services in the same place when nothing is in the way. Another data folder is at work only where the database is the user's: the
// embedded one has the lock of its data folder.
import { describedServices, instanceService } from "../adapters/grpc/definitions.ts";
import type { GrpcAddress } from "../adapters/grpc/listener.ts";
import { type GrpcServer, serveGrpc } from "../adapters/grpc/server.ts";
import { openVerifier } from "../adapters/identity/open-verifier.ts";
import { openStore } from "../adapters/records/open-store.ts";
import { openSecrets } from "../adapters/secrets/open-secrets.ts";
import { Defect, Fault, messageOf } from "../contracts/src/fault.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import type { Instance } from "../ports/store.ts";
import type { Service } from "../services/shared/service.ts";
import { standBy, whoIsAtWork } from "../services/shared/stand-by.ts";
import { addressText, basePorts, type PartInput, type Stops } from "./shared.ts";
import { certificateOf, localSocket } from "./tls.ts";

interface StandByInput {
  readonly chosen: readonly Service[];
  readonly input: PartInput;
  readonly log: Log;
  readonly addresses: Record<string, string>;
  readonly stops: Stops;
  readonly ending: AbortSignal;
  listenAddress(
    name: Service["name"],
    input: PartInput,
  ): { readonly address: GrpcAddress; readonly environmentVariable: string };
}

/** Why a process does not begin yet. */
interface Obstacle {
  /** For the log, once. */
  readonly sentence: string;
  readonly facts: Readonly<Record<string, string | number>>;
  health(name: string): Health;
  /** The answer to every call meanwhile. */
  fault(name: string): Fault;
  untilGone(signal: AbortSignal): Promise<void>;
}

/** Begins at once where nothing is in the way; else resolves when it stands by, and begins when it may. */
export async function beginOrStandBy(given: StandByInput, begin: () => Promise<void>): Promise<void> {
  const { input, stops } = given;
  if (input.group === undefined && input.configuration.bus.url === undefined) return begin();
  const waiting = await openWaiting(given);
  try {
    const first = await obstacleOf(given, waiting);
    if (first === undefined) {
      await waiting.close();
      return await begin();
    }
    const standing = { now: first };
    const servers = await serveStandingBy(given, waiting, standing);
    const taking = takeOver(given, waiting, standing, servers, begin);
    stops.push(async () => {
      await taking;
      // What was begun since stops with it.
      for (const stop of stops.splice(0).reverse()) await stop();
    });
  } catch (error) {
    await waiting.close();
    throw error;
  }
}

async function takeOver(
  given: StandByInput,
  waiting: Waiting,
  standing: { now: Obstacle },
  servers: readonly GrpcServer[],
  begin: () => Promise<void>,
): Promise<void> {
  const { ending } = given;
  const { log, crash } = waiting;
  try {
    for (let next: Obstacle | undefined = standing.now; next !== undefined && !ending.aborted; ) {
      standing.now = next;
      log.warn(next.sentence, next.facts);
      await next.untilGone(ending);
      next = ending.aborted ? undefined : await obstacleOf(given, waiting);
    }
    for (const server of servers) await server.drain(0);
    await waiting.close();
    if (ending.aborted) return;
    log.warn("nothing is in the way any more; this process begins its work");
    await begin();
  } catch (error) {
    crash.die(new Defect(`it could not take over: ${messageOf(error)}`, { cause: error }));
  }
}

/** Who is at work comes first: whoever stands by for another has no need of a bus. */
async function obstacleOf(given: StandByInput, waiting: Waiting): Promise<Obstacle | undefined> {
  return (await otherAtWork(given, waiting)) ?? busAway(given, waiting);
}

async function otherAtWork({ input: { group } }: StandByInput, { options }: Waiting): Promise<Obstacle | undefined> {
  if (group === undefined) return undefined;
  const looking = { ...options, group };
  const holder = await whoIsAtWork(looking);
  if (holder === undefined) return undefined;
  const standing = standBy(looking, holder);
  return {
    sentence: "another process does this work; this one stands by and takes over when it is free",
    facts: { host: holder.host, pid: holder.pid },
    health: (name) => standingBy(name, standing.holder()),
    fault: (name) =>
      new Fault("SERVICE_STANDING_BY", `This ${name} stands by: another does its work.`, { retry: "later" }),
    untilGone: (signal) => standing.untilFree(signal),
  };
}

const busEveryMs = 1_000;

/** A bus that is away at the start is waited for: whatever it would carry stands in the outbox first. */
async function busAway({ chosen, input }: StandByInput, { log, base }: Waiting): Promise<Obstacle | undefined> {
  const { url, creds_file: credsFile, creds_dir: credsFolder, tls_ca_file: tlsCaFile } = input.configuration.bus;
  if (url === undefined) return undefined;
  // NATS is loaded only by who uses it.
  const { natsServerAway } = await import("../adapters/nats/server-away.ts");
  const services = chosen.map(({ name }) => name);
  const look = () => natsServerAway({ url, credsFile, credsFolder, tlsCaFile, services, log });
  let reason = await look();
  if (reason === undefined) return undefined;
  const words = (name: string): string => `${name} waits for the bus and decides nothing: ${reason}`;
  return {
    sentence: "the bus is away; this process waits for it and decides nothing meanwhile",
    facts: { reason },
    health: (name) => ({ status: "failing", complaint: words(name) }),
    fault: (name) => new Fault("BUS_UNAVAILABLE", words(name), { retry: "later" }),
    async untilGone(signal) {
      while (!signal.aborted && reason !== undefined) {
        await base.ports.timers.sleep(busEveryMs, signal);
        if (!signal.aborted) reason = (await look()) ?? undefined;
      }
    },
  };
}

type Waiting = Awaited<ReturnType<typeof openWaiting>>;

/** Enough to read who is at work, and no more. */
async function openWaiting({ chosen, input, log }: StandByInput) {
  const names = chosen.map((service) => service.name);
  const source = names.join("+");
  const base = await basePorts(source, input, log.with({ service: source }));
  const opened = openStore({ ...base.ports, database: input.database, source, services: names });
  const services = input.configuration.services.filter((name) => name !== "gateway");
  const closers: (() => Promise<void>)[] = [base.close, () => opened.close()];
  return {
    log: base.ports.log,
    crash: base.ports.crash,
    base,
    store: opened.store,
    options: { ...base.ports, store: opened.leaseStore, services },
    closers,
    /** Safe to call twice. */
    close: async (): Promise<void> => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

async function serveStandingBy(
  { chosen, input, addresses, listenAddress }: StandByInput,
  { base, store, closers }: Waiting,
  standing: { readonly now: Obstacle },
): Promise<readonly GrpcServer[]> {
  const { configuration } = input;
  const secrets = await openSecrets({ ...base.ports, configuration, dataFolder: input.dataFolder });
  closers.push(() => secrets.close());
  const { verifier } = await openVerifier({ ...base.ports, configuration, store, secrets });
  closers.push(() => verifier.close());
  const servers: GrpcServer[] = [];
  for (const { name } of chosen) {
    const { address, environmentVariable } = listenAddress(name, input);
    const isLocal = "path" in address;
    const owner = `${name}'s gRPC server`;
    const server = await serveGrpc({
      ...base.ports,
      address,
      environmentVariable,
      localSocket: isLocal ? undefined : localSocket(name, input),
      certificate: isLocal ? undefined : certificateOf(input, { ...base.ports, store }, name, owner, closers),
      verifier,
      purpose: owner,
      services: everyService,
      unserved: () => standing.now.fault(name),
      health: () => standing.now.health(name),
      reflection: false,
      metricsJson: async () => JSON.stringify(await base.metrics.json()),
    });
    servers.push(server);
    addresses[name] = addressText(server.address);
  }
  return servers;
}

/** Whatever anybody may ask of any service: all of it answers that it is elsewhere. */
const everyService = describedServices
  .filter(({ name }) => name !== instanceService)
  .map(({ name }) => ({ name, handlers: {} }));

function standingBy(name: string, { service, host, pid }: Instance): Health {
  return { status: "failing", complaint: `${name} stands by: ${service} of ${host} (process ${pid}) is at work` };
}
