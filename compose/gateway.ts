// The gateway's half of the composition: both HTTP listeners, the login provider or the user's own issuer, and what the routes are handed.
// The listeners open first, because the embedded issuer's address contains the port; until the rest stands, the gateway says that it is starting.
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { exposedHost } from "../adapters/configuration/checks/exposure-checks.ts";
import type { GrpcDirectory } from "../adapters/grpc/health-directory.ts";
import type { RpcClient } from "../adapters/grpc/rpc-client.ts";
import type { HttpMount } from "../adapters/http/mount.ts";
import { type HttpServer, type HttpServerOptions, serveHttp } from "../adapters/http/server.ts";
import { cliClientId, scopes as embeddedScopes, webClientId } from "../adapters/identity/embedded/options.ts";
import { type GatewayIdentity, openGatewayIdentity, routePartsOf } from "../adapters/identity/gateway-identity.ts";
import { hasRealOperators } from "../adapters/identity/real-operators.ts";
import { removeDevelopmentOperators } from "../adapters/identity/remove-development-operators.ts";
import { openSealing } from "../adapters/identity/sealing.ts";
import { embeddedAudience } from "../adapters/identity/verifier/token-issuer.ts";
import { crowdAlarm } from "../adapters/listener/crowd-alarm.ts";
import { createRefusedAttempts } from "../adapters/listener/refused-attempts.ts";
import { readKeptLogs } from "../adapters/log/read-kept-logs.ts";
import { createAlarms } from "../adapters/postgres/alarms.ts";
import type { PostgresStore } from "../adapters/postgres/store.ts";
import { oncePerKey } from "../adapters/records/once-per-key.ts";
import { openStore } from "../adapters/records/open-store.ts";
import { auditedSecrets } from "../adapters/secrets/audited-secrets.ts";
import { openSecrets } from "../adapters/secrets/open-secrets.ts";
import type { MetricsRegistry } from "../adapters/telemetry/prometheus-metrics.ts";
import { openEventFeed } from "../adapters/transport/open-event-feed.ts";
import { Fault } from "../contracts/src/fault.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { gatewayRoutes } from "../edges/gateway/index.ts";
import type { LoginFacts, Restarts, WebhookParts } from "../edges/gateway/parts.ts";
import type { RunningMarketFeed } from "../edges/gateway/public/market-feed.ts";
import { streamRoute } from "../edges/gateway/stream/stream-route.ts";
import { deskPrefixes } from "../edges/web/desk-list.ts";
import { deskPages } from "../edges/web/serve/desk-pages.ts";
import type { EventFeed } from "../ports/event-feed.ts";
import type { Githubbot } from "../ports/githubbot.ts";
import type { Health } from "../ports/health.ts";
import type { Route, SocketRoute } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { takeLease } from "../services/shared/lease.ts";
import type { Lease } from "../services/shared/service.ts";
import { openGithubbot } from "./githubbot.ts";
import { reachServices } from "./reach-services.ts";
import { type OpenReports, openReports } from "./report-schedules.ts";
import { restartsOf } from "./restarts.ts";
import { servedDocuments } from "./served-documents.ts";
import {
  type AskRunner,
  addressText,
  basePorts,
  drainMs,
  loginHealth,
  type PartInput,
  pinnedPort,
  type Stops,
  untilEnding,
  worst,
} from "./shared.ts";
import { certificateOf, httpUrls, isOpenlyReached, rpcAddressOf } from "./tls.ts";
import { webhookParts } from "./webhook.ts";

/**
 * Called before any part listens: in production and with another issuer nothing that the development operators held may be believed,
 * not even for the seconds of a start. Who would be reached from other machines must have somebody real who can log in.
 */
export async function forgetDevelopmentOperators(input: PartInput, log: Log): Promise<void> {
  const { dataFolder } = input;
  const { secrets: place, identity } = input.configuration;
  const stops: Stops = [];
  try {
    const { ports, store, secrets } = await openFixture(input, log, stops);
    const sealing = await openSealing(secrets, place.prefix, ports.random);
    await removeDevelopmentOperators({ ...ports, dataFolder, store, sealing, sessionS: identity.session_s });
    const exposed = exposedHost(input.configuration);
    if (exposed === undefined || identity.issuer !== undefined || (await hasRealOperators(store))) return;
    const sentence =
      `It would listen on ${exposed}, which other machines reach, and nobody could log in: the embedded provider has no people. ` +
      "Make the first two admins with `npm start -- --make-admin NAME`, set PORTCULLIS_OIDC_ISSUER and PORTCULLIS_OIDC_CLIENT_ID, or listen on 127.0.0.1.";
    throw new Fault("SERVICE_START_FAILED", sentence, { retry: "never", facts: { host: exposed } });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** What everything of the gateway's stands on: its ports, its store and the secrets. */
async function openFixture(input: PartInput, log: Log, stops: Stops) {
  const { ports, metrics, close } = await basePorts("gateway", input, log);
  stops.push(close);
  const opened = openStore({ ...ports, ...databaseOf(input), source: "gateway", services: ["gateway"] });
  stops.push(opened.close);
  const kept = await openSecrets({ ...ports, configuration: input.configuration, dataFolder: input.dataFolder });
  const secrets = auditedSecrets(kept, { ...ports, store: opened.store, source: "gateway" });
  stops.push(() => secrets.close());
  return { ports, metrics, opened, store: opened.store, leaseStore: opened.leaseStore, secrets };
}

const databaseOf = ({ database, hasOwnLogin }: PartInput) => ({ database, hasOwnLogin });

type BasePorts = Awaited<ReturnType<typeof basePorts>>["ports"];

const firstReportMsMax = 3_000;

/** Who hears that the gateway is ready finds it healthy; services that are away are no reason to wait for long. */
async function untilFirstReport(feed: RunningMarketFeed, { timers }: Pick<BasePorts, "timers">): Promise<void> {
  const everyMs = 25;
  for (let waitedMs = 0; waitedMs < firstReportMsMax && feed.health().status !== "ok"; waitedMs += everyMs) {
    await timers.sleep(everyMs);
  }
}

export async function startGateway(
  input: PartInput,
  log: Log,
  addresses: Record<string, string>,
  stops: Stops,
  ask: AskRunner | undefined,
  ending: AbortSignal,
): Promise<void> {
  const named = log.with({ service: "gateway" });
  const { ports, metrics, opened, store, leaseStore, secrets } = await openFixture(input, named, stops);
  const { configuration, dataFolder, development } = input;
  const feeding = { configuration, ...databaseOf(input), source: "gateway", housekeeping: false };
  const events = openEventFeed({ ...ports, ...feeding, services: ["gateway"] }, opened);
  stops.push(() => events.close());
  const keeping = { configuration, dataFolder, development };
  const identity = await openGatewayIdentity({ ...ports, ...keeping, store, secrets, open: opened.open });
  stops.push(() => identity.close());
  const reaching = { ...ports, store, identity, addresses };
  const { targets, directory, calls, marketFeed, stream } = reachServices(input, reaching, stops);
  const restarts = restartsOf({ ...ports, store, ask });
  const webhook = webhookParts(input, ports, { store, secrets });
  const githubbot = await openGithubbot(input, { ...ports, store, secrets, ask }, stops);
  let lease: Lease | undefined;
  const own = { identity, services: calls, holder: () => lease?.incarnation };
  const reports = await openReports({ ...ports, ...own, store, secrets, configuration, dataFolder, addresses }, stops);
  let server: HttpServer | undefined;
  const certificate = certificateOf(input, { ...ports, store }, "gateway", httpOwner, stops);
  const doorHealth = (): Health =>
    worst([
      loginHealth(input, opened.complaint()),
      server?.health() ?? { status: "ok" },
      certificate?.health() ?? { status: "ok" },
    ]);
  const asked = {
    doorHealth,
    directory,
    calls,
    restarts,
    events,
    marketFeed,
    store,
    webhook,
    reports,
    ending,
    githubbot: githubbot.bot,
  };
  const routes = routesOf(input, ports, identity, asked, Object.keys(targets), metrics, addresses);
  const refusals = doorReports(ports, store, stops);
  // Given back after the listeners have drained.
  stops.push(async () => lease?.retire());
  const once = oncePerKey({ ...ports, store, holder: () => lease?.incarnation });
  const doorPorts = { ...ports, ...refusals, oncePerKey: once, certificate };
  const listening = await listen(input, doorPorts, identity, routes, [streamRoute(stream)], addresses);
  server = listening;
  stops.push(async () => void (await listening.drain(drainMs(input))));
  addresses["gateway"] = addressText(listening.addresses.operator);
  addresses["gateway.public"] = addressText(listening.addresses.public);
  await identity.begin(httpUrls(configuration, addresses)["gateway"] ?? "");
  // Taken when it is ready: a start that takes long on a busy machine would let it run out and be reported as a lost process.
  // Its health does not hang on the lease, unlike a service's: it has to answer while the store is away, to say so.
  lease = await takeLease("gateway", { host: hostname(), pid: process.pid }, { ...ports, store: leaseStore });
  reports.begin();
  githubbot.begin();
  await untilFirstReport(marketFeed, ports);
}

const httpOwner = "the gateway's HTTP server";

/** What is reported of those whom the listeners turn away. */
function doorReports(
  ports: BasePorts,
  store: PostgresStore,
  stops: Stops,
): Required<Pick<HttpServerOptions, "tellRefusal" | "onCrowded">> {
  const refused = createRefusedAttempts({ ...ports, store });
  stops.push(() => refused.close());
  const alarms = createAlarms({ ...ports, store, subject: subjects.alarmRaised, source: "gateway" });
  return { tellRefusal: refused.tell, onCrowded: crowdAlarm(alarms, ports.clock, httpOwner) };
}

function routesOf(
  input: PartInput,
  ports: BasePorts,
  identity: GatewayIdentity,
  {
    doorHealth,
    directory,
    calls,
    restarts,
    events,
    marketFeed,
    store,
    webhook,
    reports,
    ending,
    githubbot,
  }: {
    readonly doorHealth: () => Health;
    readonly directory: GrpcDirectory;
    readonly calls: RpcClient;
    readonly restarts: Restarts;
    readonly events: EventFeed;
    readonly marketFeed: RunningMarketFeed;
    readonly store: Pick<Store, "transact">;
    readonly webhook: WebhookParts;
    readonly reports: OpenReports;
    readonly ending: AbortSignal;
    readonly githubbot: Githubbot;
  },
  expectedServices: readonly string[],
  metrics: MetricsRegistry,
  addresses: Readonly<Record<string, string>>,
): readonly Route[] {
  const expected: Health = expectedServices.length > 0 ? { status: "ok" } : knowsNobody;
  const publicUrl = (): string => publicUrlOf(identity, addresses);
  return gatewayRoutes({
    log: ports.log,
    clock: ports.clock,
    timers: ports.timers,
    random: ports.random,
    expectedServices,
    directory,
    isInsecure: isOpenlyReached(input.configuration),
    clearText: input.clearText ?? [],
    ownHealth: () => worst([untilEnding(ending), expected, marketFeed.health(), identity.health(), doorHealth()]),
    instances: () => store.transact("platform.instances", ({ instances }) => instances.alive(ports.clock.now())),
    keptLogs: readKeptLogs(input.dataFolder, ports.timers),
    elsewhere: (service) => {
      return addresses[service] === undefined ? rpcAddressOf(input, service) : undefined;
    },
    collectMetrics: () => directory.collectMetrics(),
    ownMetrics: async () => JSON.stringify(await metrics.json()),
    services: calls,
    events,
    verify: (token) => identity.verifier.verify(token),
    marketFeed,
    ownToken: () => identity.platformToken("gateway"),
    login: loginFacts(input, identity),
    ...routePartsOf(identity),
    restarts,
    webhook,
    githubbot,
    reports: reports.queue,
    reportSchedules: reports.scheduler,
    publicUrl,
    ...servedDocuments({ timers: ports.timers, publicUrl }),
  });
}

/** Where the operators' listener is reached, with the other port. */
function publicUrlOf(identity: GatewayIdentity, addresses: Readonly<Record<string, string>>): string {
  const url = new URL(identity.baseUrl());
  url.port = String(pinnedPort(addresses, "gateway.public") ?? "");
  return url.origin;
}

function loginFacts({ configuration, development }: PartInput, identity: GatewayIdentity): LoginFacts {
  const { issuer, client_id, web_client_id, audience, scopes } = configuration.identity;
  const clientId = issuer === undefined ? cliClientId : (client_id ?? "");
  return {
    issuer: () => identity.issuer(),
    resource: () => identity.baseUrl(),
    clientId,
    webClientId: issuer === undefined ? webClientId : (web_client_id ?? clientId),
    audience: issuer === undefined ? embeddedAudience : (audience ?? clientId),
    scopes: issuer === undefined ? embeddedScopes.join(" ") : scopes,
    developmentLogin: development,
  };
}

/**
 * What guessers would try, and whatever makes us write a row for somebody who proved nothing; a person needs a handful. The token
 * endpoint is also where every device that waits asks.
 */
const loginAttempts: HttpMount["attempts"] = [
  { method: "GET", path: "/auth", perMinuteMax: 120 },
  { method: "POST", path: "/auth", perMinuteMax: 120 },
  { method: "GET", path: "/session", perMinuteMax: 60 },
  { method: "POST", path: "/session", perMinuteMax: 60 },
  { method: "POST", path: "/interaction", perMinuteMax: 30 },
  { method: "POST", path: "/device", perMinuteMax: 60 },
  { method: "GET", path: "/device", perMinuteMax: 60 },
  { method: "POST", path: "/token", perMinuteMax: 600 },
];

async function listen(
  input: PartInput,
  ports: BasePorts & Pick<HttpServerOptions, "tellRefusal" | "oncePerKey" | "onCrowded" | "certificate">,
  identity: GatewayIdentity,
  routes: readonly Route[],
  sockets: readonly SocketRoute[],
  addresses: Readonly<Record<string, string>>,
): Promise<HttpServer> {
  const { http } = input.configuration;
  const provider: HttpMount = {
    listener: "operator",
    prefix: "/oidc",
    operation: "LogIn",
    attempts: loginAttempts,
    handle: (request, response) => identity.handle(request, response),
  };
  const options = (operatorPort: number): HttpServerOptions => ({
    ...ports,
    verifier: identity.verifier,
    routes,
    sockets,
    mounts: [...(identity.isEmbedded ? [provider] : []), ...deskMounts(identity)],
    trustedProxies: http.trusted_proxies,
    publicRate: { ratePerS: http.public_rate_per_s, burst: http.public_burst },
    ...(http.base_url === undefined ? {} : { baseUrl: http.base_url.replace(/\/$/, "") }),
    listeners: {
      operator: { host: http.host, port: operatorPort, environmentVariable: "PORTCULLIS_HTTP_PORT" },
      public: {
        host: http.host,
        port: pinnedPort(addresses, "gateway.public") ?? http.public_port,
        environmentVariable: "PORTCULLIS_PUBLIC_PORT",
      },
    },
  });
  const pinned = pinnedPort(addresses, "gateway");
  const before = pinned === undefined && http.port === 0 ? await identity.portBefore(http.host) : undefined;
  if (before === undefined) return serveHttp(options(pinned ?? http.port));
  try {
    // Any free port was asked for: the one that tokens in people's hands name is the best of them, as long as it is free.
    return await serveHttp(options(before));
  } catch (error) {
    if (error instanceof Fault && error.code === "PORT_IN_USE") return serveHttp(options(0));
    throw error;
  }
}

/** The web desks: pages and files without any data, for everybody who has an address; they ask for the rest with a login. */
function deskMounts(identity: GatewayIdentity): readonly HttpMount[] {
  const pages = deskPages({
    folder: webFolder,
    baseUrl: () => identity.baseUrl(),
    issuer: () => identity.issuer(),
  });
  return deskPrefixes.map((prefix) => ({
    listener: "operator",
    prefix,
    operation: "ReadWebPages",
    attempts: [],
    handle: (request, response) => pages.handle(request, response),
  }));
}

/** Beside the bundle that runs, or where the build puts it when sources run. */
const webFolder = join(import.meta.dirname, basename(import.meta.dirname) === "compose" ? "../dist/web" : "../web");

const knowsNobody: Health = {
  status: "failing",
  complaint: "no service runs here and none is named: set PORTCULLIS_RPC_RISKENGINE and so on",
};
