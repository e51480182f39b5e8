// The composition root: starts any subset of the parts in this process and stops it again. Only here and in the two
// files beside it do ports meet adapters.
// `npm start` runs one part per process through supervisor/service-process.ts; `--single-process` and tests run several at once.
import { hostname } from "node:os";
import { join } from "node:path";
import { anchorsOf } from "./adapters/anchors/configured-anchors.ts";
import { openChat } from "./adapters/chat/open-chat.ts";
import { settingsOf } from "./adapters/configuration/settings.ts";
import type { GrpcAddress } from "./adapters/grpc/listener.ts";
import { type GrpcServer, serveGrpc } from "./adapters/grpc/server.ts";
import { createOneTimeCodes } from "./adapters/identity/ask-one-time-codes.ts";
import { openVerifier } from "./adapters/identity/open-verifier.ts";
import { createStepUps } from "./adapters/identity/redeem-step-ups.ts";
import { openLanguageModel } from "./adapters/language-model/open-language-model.ts";
import type { LibraryInternals } from "./adapters/library-internals/library-internals.ts";
import { openLibraryInternals } from "./adapters/library-internals/self-check.ts";
import { crowdAlarm } from "./adapters/listener/crowd-alarm.ts";
import { createRefusedAttempts } from "./adapters/listener/refused-attempts.ts";
import { createAlarms } from "./adapters/postgres/alarms.ts";
import { type OncePerKey, oncePerKey } from "./adapters/records/once-per-key.ts";
import { auditedSecrets } from "./adapters/secrets/audited-secrets.ts";
import { openSecrets } from "./adapters/secrets/open-secrets.ts";
import { systemCipher } from "./adapters/system/cipher.ts";
import { systemDiskSpace } from "./adapters/system/disk-space.ts";
import { filingFolder } from "./adapters/system/filing-files.ts";
import { systemBlake3, systemSha256 } from "./adapters/system/hashing.ts";
import { systemSha256OfBytes, systemSigning } from "./adapters/system/signing.ts";
import { statusFile } from "./adapters/system/status-file.ts";
import { systemStopwatch } from "./adapters/system/stopwatch.ts";
import type { MetricsRegistry } from "./adapters/telemetry/prometheus-metrics.ts";
import type { KeptCertificate } from "./adapters/tls/kept-certificate.ts";
import { openTransport, type Transport } from "./adapters/transport/open-transport.ts";
import { identityUpstream } from "./adapters/upstreams/identity-upstream.ts";
import { modelUpstream } from "./adapters/upstreams/model-upstream.ts";
import { witnessesOf } from "./adapters/witness/configured-witnesses.ts";
import { filingWorkHere } from "./compose/filing-work.ts";
import { paperPorts } from "./compose/paper.ts";
import { openPeers } from "./compose/peers.ts";
import {
  type AskRunner,
  addressText,
  basePorts,
  drainMs,
  logFor,
  type PartInput,
  type PartName,
  pinnedPort,
  type Stops,
  sharedLoginSentence,
  untilEnding,
  worst,
} from "./compose/shared.ts";
import { beginOrStandBy } from "./compose/stand-by.ts";
import { certificateOf, isOpenlyReached, localSocket, peerSecurityOf } from "./compose/tls.ts";
import { messageOf } from "./contracts/src/fault.ts";
import { subjects } from "./contracts/src/subjects.ts";
import type { TellRefusal } from "./ports/attempts.ts";
import type { Health } from "./ports/health.ts";
import type { Verifier } from "./ports/identity.ts";
import type { Log } from "./ports/log.ts";
import type { Upstream } from "./ports/upstream.ts";
import { services } from "./services/index.ts";
import { takeLease } from "./services/shared/lease.ts";
import { watchReadiness } from "./services/shared/readiness.ts";
import type { RunningService, Service, ServiceName, ServicePorts } from "./services/shared/service.ts";

interface Composition {
  /** Where each part answers, for example "riskengine" -> "127.0.0.1:50051" or "oms" -> "unix:/…/oms.sock". */
  readonly addresses: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The parts and whom each needs, in start order; the gateway comes last because it speaks for all of them. */
export const plans: readonly {
  readonly name: PartName;
  readonly needs: readonly PartName[];
  readonly onRequest?: true;
}[] = [
  ...services.map(({ name, needs }) => ({ name, needs })),
  { name: "gateway", needs: services.map((service) => service.name) },
  // Once it is installed; what its death would cost is its own work.
  { name: "bots", needs: ["gateway"], onRequest: true },
];

export async function compose(
  input: PartInput,
  ask?: AskRunner,
  log: Log = logFor(input.configuration),
): Promise<Composition> {
  const stops: (() => Promise<void>)[] = [];
  const addresses: Record<string, string> = { ...input.addresses };
  const ending = new AbortController();
  const composition: Composition = {
    addresses,
    stop: async () => {
      ending.abort();
      // In reverse, each in its turn; one that fails to stop must not keep the others from stopping.
      for (const stop of stops.splice(0).reverse()) {
        await stop().catch((error: unknown) => log.error("a part did not stop cleanly", { error: messageOf(error) }));
      }
    },
  };
  try {
    const chosen = services.filter((service) => input.parts.includes(service.name));
    // On a free port the place of who stood by is the place of who takes over.
    const begin = () => startServices(chosen, { ...input, addresses }, log, addresses, stops, ending.signal);
    const standing = { chosen, input, log, addresses, stops, ending: ending.signal, listenAddress };
    if (chosen.length > 0) await beginOrStandBy(standing, begin);
    if (input.parts.includes("gateway")) {
      // Its routes and pages are much code that no other part needs to read.
      const { startGateway } = await import("./compose/gateway.ts");
      await startGateway(input, log, addresses, stops, ask, ending.signal);
    }
    if (input.parts.includes("bots")) {
      const { startBots } = await import("./compose/bots.ts");
      await startBots(input, log, stops);
    }
    return composition;
  } catch (error) {
    await composition.stop();
    throw error;
  }
}

const hashing = {
  sha256: systemSha256,
  blake3: systemBlake3,
  sha256OfBytes: systemSha256OfBytes,
  cipher: systemCipher,
};

async function startServices(
  chosen: readonly Service[],
  input: PartInput,
  log: Log,
  addresses: Record<string, string>,
  stops: Stops,
  ending: AbortSignal,
): Promise<void> {
  const name = chosen.map((service) => service.name).join("+");
  const base = await basePorts(name, input, log.with({ service: name }));
  stops.push(base.close);
  const { configuration } = input;
  const internals = await openLibraryInternals(configuration.library_internals, base.ports.timers);
  const transport = await openTransport({
    ...base.ports,
    internals,
    configuration,
    database: input.database,
    hasOwnLogin: input.hasOwnLogin,
    source: name,
    housekeeping: chosen.some(isOperations),
  });
  const { paperPlace: place, leaseStore, close, openFeed, ...stored } = transport;
  stops.push(close);
  const { store, bus } = stored;
  const secrets = await secretsFor(input, { ...base.ports, store, source: name }, stops);
  const beginnings = await place.beginnings({ configuration, now: base.ports.clock.now() });
  // Only operations writes the audit log, and so only it keeps its anchors.
  const anchors = anchorsOf(configuration.audit, chosen.some(isOperations), log, configuration.database);
  stops.push(anchors.close);
  const paper = await paperPorts({ base: base.ports, input, place, chosen, beginnings }, stops);
  const filingRoot = configuration.filings.dir ?? join(input.dataFolder, "filings");
  const tools = {
    ...hashing,
    signing: systemSigning(),
    witnesses: witnessesOf(configuration.audit),
    anchors: anchors.all,
    stepUps: createStepUps({ ...base.ports, store }),
    oneTimeCodes: createOneTimeCodes({ ...base.ports, store }),
    stopwatch: systemStopwatch,
    diskSpace: systemDiskSpace([input.dataFolder, ...input.databaseFolders]),
    eventFeed: feedFor(chosen, openFeed, stops),
    watchdogFile: statusFile(input.dataFolder, "watchdogs.json"),
    filingFiles: filingFolder(filingRoot),
    filingWork: filingWorkHere({ configuration, secrets, root: filingRoot }),
    ...paper,
    chat: openChat({ ...base.ports, configuration, secrets }),
    languageModel: await modelFor(chosen, input, base.ports.timers),
    settings: settingsOf(configuration, beginnings.seeded),
  };
  const { verifier, platformToken } = await openVerifier({ ...base.ports, configuration, store, secrets });
  stops.push(() => verifier.close());
  const refused = createRefusedAttempts({ ...base.ports, store });
  stops.push(() => refused.close());
  const readiness = watchReadiness({ ...base.ports, store, bus });
  stops.push(() => readiness.stop());
  const shared = () => worst([untilEnding(ending), readiness.health()]);
  const upstreams = upstreamsOf(configuration, verifier);
  for (const service of chosen) {
    const security = peerSecurityOf(input, { ...base.ports, store }, service.name, stops);
    const asked = { service: service.name, input, addresses, clock: base.ports.clock, platformToken, security };
    const { close: closePeers, ...asking } = openPeers(asked);
    stops.push(async () => closePeers());
    const own = { log: log.with({ service: service.name }), secrets, ...asking };
    const ports: ServicePorts = { ...base.ports, ...stored, ...own, ...tools, upstreams };
    const around = { verifier, metrics: base.metrics, leaseStore, shared, tellRefusal: refused.tell, internals };
    await startService(service, ports, around, input, addresses, stops);
  }
}

/** The secrets of one process; what it changes of them is audited under its name. */
async function secretsFor(
  { configuration, dataFolder }: PartInput,
  ports: Parameters<typeof auditedSecrets>[1] & Pick<Parameters<typeof openSecrets>[0], "timers" | "random">,
  stops: Stops,
) {
  const opened = await openSecrets({ ...ports, configuration, dataFolder });
  const secrets = auditedSecrets(opened, ports);
  stops.push(() => secrets.close());
  return secrets;
}

/** Only the risk engine asks one. */
async function modelFor(chosen: readonly Service[], { configuration }: PartInput, timers: ServicePorts["timers"]) {
  return chosen.some(isRiskEngine) ? openLanguageModel(configuration.language_model, timers) : undefined;
}

/** Only operations answers for events; the risk engine's process has no part in it. */
function feedFor(chosen: readonly Service[], openFeed: Transport["openFeed"], stops: Stops): ServicePorts["eventFeed"] {
  if (!chosen.some(isOperations)) return undefined;
  const feed = openFeed();
  stops.push(() => feed.close());
  return feed;
}

/** What a watchdog asks whether it answers. */
function upstreamsOf(configuration: PartInput["configuration"], verifier: Verifier): readonly Upstream[] {
  const model = modelUpstream(configuration.language_model);
  const identity = identityUpstream({ verifier, issuer: configuration.identity.issuer });
  return model === undefined ? [identity] : [identity, model];
}

const isRiskEngine = (service: Service): boolean => service.name === "riskengine";
const isOperations = (service: Service): boolean => service.name === "operations";

/** What the services of one process share beside their ports. */
interface Around {
  readonly verifier: Verifier;
  readonly metrics: MetricsRegistry;
  readonly tellRefusal: TellRefusal;
  readonly internals: LibraryInternals;
  readonly leaseStore: ServicePorts["store"];
  shared(): Health;
}

async function startService(
  service: Service,
  ports: ServicePorts,
  around: Around,
  input: PartInput,
  addresses: Record<string, string>,
  stops: Stops,
): Promise<void> {
  const running = await service.start(ports);
  stops.push(() => running.stop());
  const leasing = { ...ports, store: around.leaseStore };
  const { group, configuration } = input;
  const work = configuration.services.filter((name) => name !== "gateway");
  const lease = await takeLease(service.name, { host: hostname(), pid: process.pid, group, services: work }, leasing);
  stops.push(() => lease.retire());
  await running.leased?.(lease);
  const isLocal = "path" in listenAddress(service.name, input).address;
  const owner = `${service.name}'s gRPC server`;
  const certificate = isLocal ? undefined : certificateOf(input, ports, service.name, owner, stops);
  const ofCertificate = (): Health => certificate?.health() ?? { status: "ok" };
  const health = () => worst([around.shared(), lease.health(), running.health(), exposure(input), ofCertificate()]);
  const once = oncePerKey({ ...ports, holder: () => lease.incarnation });
  const server = await serveService(
    service,
    running,
    { ...ports, oncePerKey: once, certificate },
    around,
    health,
    input,
  );
  stops.push(async () => void (await server.drain(drainMs(input))));
  addresses[service.name] = addressText(server.address);
  ports.log.info("ready", { address: addresses[service.name] });
}

/** Where the gateway runs it says so itself, once. */
function exposure(input: PartInput): Health {
  if (input.configuration.services.includes("gateway")) return { status: "ok" };
  const isOpen = isOpenlyReached(input.configuration);
  const open = isOpen ? ["It may be reached from other machines without TLS (insecure: true)."] : [];
  const shared = input.hasOwnLogin ? [] : [sharedLoginSentence];
  const sentences = [...open, ...shared];
  return { status: "ok", ...(sentences.length === 0 ? {} : { complaint: sentences.join(" ") }) };
}

/** An order with every field at its longest has less; what is denied is stored whole, so it must not be large. */
const orderBytesMax = 65_536;

async function serveService(
  service: Service,
  running: RunningService,
  ports: ServicePorts & { readonly oncePerKey: OncePerKey; readonly certificate: KeptCertificate | undefined },
  { verifier, metrics, tellRefusal, internals }: Around,
  health: () => Health,
  input: PartInput,
): Promise<GrpcServer> {
  const { address, environmentVariable } = listenAddress(service.name, input);
  const purpose = `${service.name}'s gRPC server`;
  const alarms = createAlarms({ ...ports, subject: subjects.alarmRaised, source: service.name });
  return serveGrpc({
    ...ports,
    verifier,
    tellRefusal,
    internals,
    address,
    takesOwnInsecurely: input.configuration.rpc.insecure,
    localSocket: "path" in address ? undefined : localSocket(service.name, input),
    environmentVariable,
    purpose,
    onCrowded: crowdAlarm(alarms, ports.clock, purpose),
    services: running.rpc,
    reflection: input.configuration.grpc.reflection ?? input.configuration.mode === "development",
    ...(service.name === "riskengine" ? { limits: { receiveBytesMax: orderBytesMax } } : {}),
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
