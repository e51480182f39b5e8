// The fixture of the table in memory and virtual time: the halt manager, the halt side of the risk engine and the audit log over one memory store, behind
// real gRPC and HTTP servers whose gates tell of whom they turn away. Virtual time passes only while somebody is being answered.
import type { GrpcAddress } from "../../adapters/grpc/listener.ts";
import { createRpcClient } from "../../adapters/grpc/rpc-client.ts";
import { type GrpcServer, serveGrpc } from "../../adapters/grpc/server.ts";
import { addressText } from "../../adapters/http/listen.ts";
import { serveHttp } from "../../adapters/http/server.ts";
import { createRefusedAttempts, type RefusedAttempts } from "../../adapters/listener/refused-attempts.ts";
import { systemCipher } from "../../adapters/system/cipher.ts";
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import { mayPublish, type Operation, type Role } from "../../contracts/src/authority.ts";
import { fromUnixMs, minusMilliseconds } from "../../contracts/src/instant.ts";
import { subjectByName } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Route } from "../../ports/http.ts";
import type { Identity, Verifier } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { startAudit } from "../../services/operations/audit/audit.ts";
import { unauditedInPlatform } from "../audited-changes.ts";
import { unknownToken } from "../grpc/test-verifier.ts";
import { type HaltFixture, haltFixture } from "../halt-fixture.ts";
import { testPorts } from "../http/test-ports.ts";
import { memoryAuditLog } from "../memory/audit-log.ts";
import { auditTables } from "../memory/audit-tables.ts";
import { memoryBus } from "../memory/bus.ts";
import { enrol, memoryCode, memoryOneTimeCodes } from "../memory/one-time-codes.ts";
import { memoryStore } from "../memory/store.ts";
import { memorySubjectKeys } from "../memory/subject-keys.ts";
import { plainSecrets } from "../plain-secrets.ts";
import { foundEntry, type HaltTableFixture, rolesOf, type TableCaller } from "./fixture.ts";
import { createScenes, type Transact } from "./scenes.ts";
import { grpcSurface } from "./surfaces.ts";

/** What the gateway's routes about halts are handed here. */
export interface RouteParts {
  readonly services: ReturnType<typeof createRpcClient>;
  readonly log: Log;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  ownToken(): string;
}

export interface MemoryFixtureOptions {
  readonly seed: number;
  readonly routes: (parts: RouteParts) => readonly Route[];
}

export interface MemoryHaltTableFixture extends HaltTableFixture {
  readonly fixture: HaltFixture;
}

const gatewayToken = "the-gateways-own";
const dayMs = 86_400_000;
/** More than one row leaves. */
const entriesLookedAt = 1_000;

export async function memoryHaltTableFixture({ seed, routes }: MemoryFixtureOptions): Promise<MemoryHaltTableFixture> {
  const fixture = await haltFixture({ seed });
  await fixture.start("riskengine");
  await fixture.start("operations");
  const people = createPeople(fixture);
  const inScene: Transact = (work) => fixture.finish(fixture.outside.store.transact("scene", work));
  const audit = await startMemoryAudit(fixture);
  const doors = openDoors(fixture);
  const { ports } = testPorts();
  const around = () => ({ ...ports, verifier: people.verifier, tellRefusal: doors.newPublisher() });
  const servers = {
    Operations: await serveHalts(fixture, around(), "operations"),
    RiskEngine: await serveHalts(fixture, around(), "riskengine"),
  };
  const services = createRpcClient({
    targets: { operations: textOf(servers.Operations), riskengine: textOf(servers.RiskEngine) },
    clock: ports.clock,
  });
  const http = await serveHttp({
    ...around(),
    routes: routes({ ...ports, services, ownToken: () => gatewayToken }),
    mounts: [],
    trustedProxies: [],
    listeners: {
      operator: { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_HTTP_PORT" },
      public: { host: "127.0.0.1", port: 0, environmentVariable: "PORTCULLIS_PUBLIC_PORT" },
    },
  });
  const grpc = { Operations: servers.Operations.address, RiskEngine: servers.RiskEngine.address };
  const direct = grpcSurface({ grpc }, "Operations");
  return {
    fixture,
    grpc,
    ...people,
    ...createScenes(inScene, fixture.time.clock),
    url: `http://${addressText(http.addresses.operator)}`,
    publicUrl: `http://${addressText(http.addresses.public)}`,
    codeOf: (caller, kind) => codeOf(fixture, doors.codes, people.identityOf(caller), kind),
    async askDirectly(by, request) {
      const answer = await direct.ask(by, request);
      if (answer === undefined) throw new Error("gRPC has words for everything");
      return answer;
    },
    mark: async () => fixture.tables.log.length,
    async entriesSince(mark) {
      await audit.settle(doors.reported);
      const reported = new Set(fixture.tables.log.slice(mark).map(({ id }) => id));
      const found = audit.disk.rows.slice(-entriesLookedAt).filter(({ eventId }) => reported.has(eventId));
      return found.map(({ eventId, text }) => foundEntry(eventId, text));
    },
    async close() {
      direct.close();
      services.close();
      await http.drain(0);
      for (const server of Object.values(servers)) await server.drain(0);
      ports.timers.release();
    },
  };
}

function textOf({ address }: GrpcServer): string {
  return "path" in address ? `unix:${address.path}` : addressText(address);
}

type Around = Omit<
  Parameters<typeof serveGrpc>[0],
  "address" | "purpose" | "environmentVariable" | "services" | "health" | "metricsJson"
>;

function serveHalts(fixture: HaltFixture, around: Around, service: "operations" | "riskengine"): Promise<GrpcServer> {
  const [name, methods] =
    service === "operations"
      ? ["Operations", ["RequestHalt", "ResumeHalt", "ListActiveHalts", "GetHaltStatus"]]
      : ["RiskEngine", ["RequestHalt", "ResumeHalt", "AnnounceHalt", "ConfirmHalts"]];
  const handlers = Object.fromEntries(
    methods.map((method) => [
      method,
      (message: object, { identity }: { readonly identity: Identity }) =>
        fixture.ask(service, method, message, identity),
    ]),
  );
  const address: GrpcAddress = { host: "127.0.0.1", port: 0 };
  return serveGrpc({
    ...around,
    address,
    purpose: `${service}'s gRPC server`,
    environmentVariable: "PORTCULLIS_GRPC_PORT",
    services: [{ name, handlers: handlers as never }],
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
}

/** Everybody who holds a token here. */
function createPeople(fixture: HaltFixture) {
  const identities = new Map<string, Identity>();
  let count = 0;
  const known = (token: string, identity: Identity): TableCaller => {
    identities.set(token, identity);
    return { token, actor: identity.actor, kind: identity.kind };
  };
  const make = (kind: Identity["kind"], name: string, roles: readonly Role[]): Identity => ({
    kind,
    name,
    actor: `${kind}:${name}`,
    subject: `${kind}|${name}`,
    issuer: "test",
    roles,
    tokenId: name,
    issuedAt: fromUnixMs(0),
    expiresAt: fromUnixMs(4_102_444_800_000),
  });
  known(gatewayToken, make("service", "gateway", ["service"]));
  const identityOf = ({ token = "" }: TableCaller): Identity => {
    const identity = identities.get(token);
    if (identity === undefined) throw new Error("nobody of that token");
    return identity;
  };
  const machine = (operations: readonly Operation[]): Identity => ({
    ...make("service", `machine-${count}`, ["service"]),
    operations,
  });
  const caller: HaltTableFixture["caller"] = async (who, factor = "enrolled") => {
    count += 1;
    if (who === "nobody") return { actor: "", kind: "nobody" };
    if (who === "somebody with a token that is not ours") return { token: "forged", actor: "", kind: "nobody" };
    if (who === "machine") return known(`machine-${count}`, machine(["RequestHalt"]));
    if (who === "machine for other things") return known(`machine-${count}`, machine(["CheckOrder"]));
    const identity = make("operator", `person-${count}`, rolesOf(who));
    if (factor === "enrolled") enrol(fixture.codes, identity.subject);
    return known(`person-${count}`, { ...identity, sessionId: `session-${count}` });
  };
  const again: HaltTableFixture["again"] = async (before, as) => {
    count += 1;
    const identity = identityOf(before);
    const other = { ...identity, tokenId: `again-${count}`, sessionId: `session-${count}` };
    if (as === "in a second session") return known(`again-${count}`, other);
    const subject = `elsewhere|${identity.name}`;
    enrol(fixture.codes, subject);
    return known(`again-${count}`, {
      ...other,
      subject,
      actor: identity.actor.toUpperCase().replace("OPERATOR", "operator"),
    });
  };
  const verifier: Verifier = {
    verify: async (token) => {
      const identity = identities.get(token);
      if (identity === undefined) throw unknownToken();
      return identity;
    },
    health: () => ({ status: "ok" }),
    close: async () => undefined,
  };
  return { caller, again, identityOf, verifier };
}

/** What the gateway and the gates have of the world: they tell of refusals, and one may show a code there for something else. */
function openDoors(fixture: HaltFixture) {
  const { clock, timers, prng } = fixture.time;
  const basic = { process: fixture.tables.process("gateway"), clock, timers, random: prng.fork("doors") };
  const allowed = (subject: string): boolean => mayPublish("gateway", subject);
  const store = memoryStore({ ...basic, mayPublish: allowed, unauditedChange: unauditedInPlatform });
  const { ports } = testPorts();
  const publishers: RefusedAttempts[] = [];
  return {
    /** One for each process, as on a real platform: each has bounds of its own. */
    newPublisher() {
      const publisher = createRefusedAttempts({ store, clock, log: ports.log, crash: ports.crash });
      publishers.push(publisher);
      return publisher.tell;
    },
    reported: async (): Promise<void> => {
      for (const publisher of publishers) await publisher.close();
    },
    codes: memoryOneTimeCodes({ codes: fixture.codes, clock, store }),
  };
}

async function startMemoryAudit(fixture: HaltFixture) {
  const { clock, timers, prng } = fixture.time;
  const process = fixture.tables.process("operations");
  const basic = { process, clock, timers, random: prng.fork("audit") };
  const { ports } = testPorts();
  const disk = auditTables();
  await fixture.finish(
    startAudit({
      ...basic,
      crash: ports.crash,
      log: ports.log,
      metrics: ports.metrics,
      secrets: plainSecrets(),
      store: memoryStore({ ...basic, unauditedChange: unauditedInPlatform }),
      bus: memoryBus({ ...basic, subjectByName }),
      auditLog: memoryAuditLog({ process, timers, audit: disk }),
      signing: systemSigning(),
      sha256OfBytes: systemSha256OfBytes,
      cipher: systemCipher,
      subjectKeys: memorySubjectKeys(new Map()),
      witnesses: undefined,
      anchors: [],
      auditSettings: { signingKeyPath: "secret/portcullis/audit/signing-key", verifyFirstAfterMs: 30 * dayMs },
    }),
  );
  const isIn = ({ id, subject }: { readonly id: string; readonly subject: string }): boolean =>
    disk.byEvent.has(id) || !/\.(operator|halt|resume)\./.test(subject);
  let seen = 0;
  return {
    disk,
    /** Until everything that was reported so far is in the log. */
    async settle(finishTelling: () => Promise<void>): Promise<void> {
      await fixture.finish(finishTelling());
      const all = fixture.tables.log;
      const end = all.length;
      for (let tries = 0; tries < 1_000; tries += 1) {
        while (seen < end && isIn(all[seen] as (typeof all)[number])) seen += 1;
        if (seen >= end) return;
        await fixture.pass(5);
      }
      throw new Error("what was reported does not become an entry");
    },
  };
}

async function codeOf(
  fixture: HaltFixture,
  codes: ReturnType<typeof memoryOneTimeCodes>,
  identity: Identity,
  kind: Parameters<HaltTableFixture["codeOf"]>[1],
): Promise<string> {
  const { subject } = identity;
  const right = memoryCode(subject, fixture.time.clock.now());
  const wrong = String((Number(right) + 500_000) % 1_000_000).padStart(6, "0");
  const show = (code: string) => fixture.finish(codes.prove(identity, { action: "StepUp", parameters: {} }, code));
  if (kind === "replayed") await show(right);
  if (kind === "locked") for (let tries = 0; tries < 5; tries += 1) await show(wrong);
  if (kind === "expired") return memoryCode(subject, minusMilliseconds(fixture.time.clock.now(), 300_000));
  return kind === "wrong" ? wrong : right;
}
