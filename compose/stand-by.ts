// A process whose services another data folder's processes do already stands by: it answers that it does, holds no lease, writes nothing, and begins its
// services in the same place when they are free. Only where the database is the user's: the embedded one has the lock of its data folder.
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
import type { ProcessGroup } from "../services/shared/process-group.ts";
import type { Service } from "../services/shared/service.ts";
import { type StandBy, standBy, whoIsAtWork } from "../services/shared/stand-by.ts";
import { addressText, basePorts, type PartInput, type Stops } from "./shared.ts";
import { certificateOf, localSocket } from "./tls.ts";

export interface StandByInput {
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

/** Begins at once where nobody else is at work; else resolves when it stands by, and begins when it may. */
export async function beginOrStandBy(given: StandByInput, begin: () => Promise<void>): Promise<void> {
  const { input, ending, stops } = given;
  if (input.group === undefined) return begin();
  const waiting = await openWaiting(given, input.group);
  try {
    const holder = await whoIsAtWork(waiting.options);
    if (holder === undefined) {
      await waiting.close();
      return await begin();
    }
    const standing = standBy(waiting.options, holder);
    const servers = await serveStandingBy(given, waiting, standing);
    waiting.log.warn("another process does this work; this one stands by and takes over when it is free", {
      host: holder.host,
      pid: holder.pid,
    });
    const taking = takeOver();
    stops.push(async () => {
      await taking;
      // What was begun since stops with it.
      for (const stop of stops.splice(0).reverse()) await stop();
    });

    async function takeOver(): Promise<void> {
      await standing.untilFree(ending);
      for (const server of servers) await server.drain(0);
      await waiting.close();
      if (ending.aborted) return;
      waiting.log.warn("the work is free; this process takes it over");
      await begin().catch((error: unknown) => {
        waiting.crash.die(new Defect(`it could not take over: ${messageOf(error)}`, { cause: error }));
      });
    }
  } catch (error) {
    await waiting.close();
    throw error;
  }
}

type Waiting = Awaited<ReturnType<typeof openWaiting>>;

/** Enough to read who is at work, and no more. */
async function openWaiting({ chosen, input, log }: StandByInput, group: ProcessGroup) {
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
    options: { ...base.ports, store: opened.leaseStore, group, services },
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
  standing: StandBy,
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
      unserved: new Fault("SERVICE_STANDING_BY", `This ${name} stands by: another does its work.`, { retry: "later" }),
      health: () => standingBy(name, standing.holder()),
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
