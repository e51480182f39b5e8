// The whole platform under load, with everything that a round needs at hand: its processes, its database, its operators, a subscriber that
// hears of every decision, and the engine's own word on what it holds.
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import type { PostgresStore } from "../../adapters/postgres/store.ts";
import type { RiskEnvelope } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { HaltRequest, HaltResponse } from "../../contracts/src/generated/svc/v1/halt.ts";
import { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Store } from "../../ports/store.ts";
import { paperPositions } from "../../services/shared/paper-seeds.ts";
import { removeAbandoned } from "../abandoned.ts";
import { grantedEnvelopeProof } from "../granted-proof.ts";
import { testClient } from "../grpc/test-client.ts";
import { developmentCredentials, logInAs } from "../login.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../platform.ts";
import { openPeer } from "../postgres-fixture.ts";
import { quietLog } from "../quiet-log.ts";
import type { Prng } from "../virtual/prng.ts";
import { type Broker, runBroker } from "./engine-broker.ts";
import { type Line, streamLine, unaryLine } from "./engine-lines.ts";
import type { Holding } from "./engine-model.ts";
import { dryRunOf, type TradedLine } from "./engine-orders.ts";
import { runTraders, type Traders } from "./engine-traders.ts";
import { createWitness, type Witness } from "./engine-witness.ts";
import type { Aim, Struck } from "./kills.ts";

export interface EngineFixture extends Struck {
  readonly witness: Witness;
  readonly traders: Traders;
  readonly broker: Broker;
  readonly pool: pg.Pool;
  /** Publishes as a service does. */
  readonly store: Store;
  /** Messages by id, and how often each was handed over. */
  readonly heard: ReadonlyMap<string, number>;
  /** An operator who has logged in and can ask for a halt at once; undefined comes back when nobody acknowledged it. */
  operator(): Promise<(halt: HaltRequest) => Promise<HaltResponse | undefined>>;
  /** What the running engine says of the smallest order at that desk. */
  dryRun(traded: TradedLine, id: string): Promise<RiskDecision>;
  /** What the running engine says it holds. */
  holding(traded: TradedLine, id: string): Promise<Holding | undefined>;
  close(): Promise<void>;
}

// Snapshots come often and a killed part comes back at once; a platform that is killed less often has more patience.
const configuration = `
risk: { snapshot_every_entries: 400 }
research: { decide_every_s: 3600 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;
const orderRateMaxPerS = 10_000;
const aim: Aim = {
  part: "riskengine",
  append: "risk_append",
  answerLost: "the answer to a commit was lost",
  outcomeKnown: "the outcome of the commit is known",
};

export async function openEngineFixture(throws: Prng): Promise<EngineFixture> {
  removeAbandoned(tmpdir(), "portcullis-engine");
  const folder = temporaryFolder(`engine-${process.pid}`);
  const dataFolder = join(folder, "data");
  writeFileSync(join(folder, "portcullis.yaml"), configuration);
  const start = (): Platform =>
    startPlatform({ dataFolder, environment: { PORTCULLIS_CONFIG: join(folder, "portcullis.yaml") } });
  const platforms = [start()];
  const current = (): Platform => platforms.at(-1) ?? start();
  const printed = (): string => platforms.map((platform) => platform.stdout() + platform.stderr()).join("\n");
  const end = async (): Promise<void> => {
    await current().end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await current().ready();
    return await furnish({ throws, current, printed, end, startNext: () => platforms.push(start()) });
  } catch (error) {
    await end();
    throw new Error(`the world did not come up: ${String(error)}\n${printed().slice(-3_000)}`, { cause: error });
  }
}

interface Frame {
  readonly throws: Prng;
  readonly current: () => Platform;
  readonly printed: () => string;
  readonly startNext: () => void;
  readonly end: () => Promise<void>;
}

async function furnish({ throws, current, printed, startNext, end }: Frame): Promise<EngineFixture> {
  const { database } = current().runFile();
  const address = addressOfSocket(database.host, database.port, ownerRoleName);
  const owner = openPool(address.owner, { log: quietLog, applicationName: "crash rounds", sizeMax: 4 });
  const peer = openPeer(address.app, { applicationName: "crash rounds", poolSize: 4 });
  const engineAddress = (): string => current().runFile().addresses["riskengine"] ?? "";
  const token = developmentCredentials(current().dataFolder).service_token;
  const lines: readonly { readonly line: Line; readonly inFlight: number }[] = [
    { line: unaryLine(engineAddress(), token), inFlight: 8 },
    { line: unaryLine(engineAddress(), token), inFlight: 4 },
    { line: streamLine(engineAddress(), token), inFlight: 24 },
  ];
  const ownLine = unaryLine(engineAddress(), token);
  const witness = createWitness();
  const heard = new Map<string, number>();
  await seeded(peer.pool);
  await letOrdersFlow(current(), peer.store);
  const { decisionMade, gateFailed } = subjects;
  await peer.bus.subscribe(
    { name: "crash-rounds.decisions", subjects: [decisionMade.name, gateFailed.name] },
    async ({ id }) => void heard.set(id, (heard.get(id) ?? 0) + 1),
  );
  const broker = runBroker(peer.store, throws.fork("broker"));
  const traders = runTraders({ lines, throws: throws.fork("traders"), witness, approved: broker.approved });
  return {
    aim,
    platform: current,
    printed,
    owner,
    target: address.owner,
    witness,
    traders,
    broker,
    pool: peer.pool,
    store: peer.store,
    heard,
    async startAgain() {
      startNext();
      await current().ready();
      for (const line of [...lines.map((each) => each.line), ownLine]) line.turnTo(engineAddress(), token);
    },
    async operator() {
      const client = await operator(current());
      return (halt) => requestHalt(client, halt);
    },
    dryRun: async (traded, id) => RiskDecision.decode(await ownLine.ask(dryRunOf(traded, id))),
    holding: (traded, id) => holdingOf(ownLine, traded, id),
    async close() {
      await traders.stop();
      await broker.stop();
      for (const line of [...lines.map((each) => each.line), ownLine]) line.close();
      await peer.close();
      await owner.end();
      await end();
    },
  };
}

/** The first positions are fills like any others, and come a moment after the start. */
async function seeded(pool: pg.Pool): Promise<void> {
  await eventually("the seeded positions are booked", async () => {
    const found = await pool.query("select count(*)::int as count from risk_journal where kind = 2");
    return found.rows[0]?.count >= paperPositions.length;
  });
}

type OperatorClient = ReturnType<typeof testClient>;

async function operator(platform: Platform, shown?: string): Promise<OperatorClient> {
  const token = shown ?? (await logInAs(platform, "duty")).access_token;
  const [host = "", port = ""] = (platform.runFile().addresses["riskengine"] ?? "").split(":");
  return testClient({ host, port: Number(port) }, { token });
}

/** The seeded limits on how many orders come in a second are far below what the traders send. */
async function letOrdersFlow(platform: Platform, store: PostgresStore): Promise<void> {
  const { access_token: token } = await logInAs(platform, "duty");
  const client = await operator(platform, token);
  for (const fund_id of ["alpha", "beta", "gamma"]) {
    const before = (await client.call("RiskEngine", "GetEnvelope", { fund_id })).answer as RiskEnvelope;
    const { loosening: _, ...kept } = before;
    const next = { ...kept, version: kept.version + 1, order_rate_max_per_s: orderRateMaxPerS, reason: "load" };
    const metadata = { "step-up-proof": await grantedEnvelopeProof(store, token, next) };
    const { status, details } = await client.call("RiskEngine", "UpdateEnvelope", next, { metadata });
    if (status !== "OK") throw new Error(`the envelope of ${fund_id} was refused: ${status} ${details}`);
  }
  client.close();
}

async function requestHalt(client: OperatorClient, halt: HaltRequest): Promise<HaltResponse | undefined> {
  try {
    const { status, answer } = await client.call("RiskEngine", "RequestHalt", halt, { deadlineMs: 10_000 });
    return status === "OK" ? (answer as HaltResponse) : undefined;
  } finally {
    client.close();
  }
}

async function holdingOf(line: Line, traded: TradedLine, id: string): Promise<Holding | undefined> {
  const { checks } = RiskDecision.decode(await line.ask(dryRunOf(traded, id)));
  const figures = checks.find(({ gate }) => gate === "position_risk")?.figures;
  const value = (name: string): string => figures?.find((figure) => figure.name === name)?.value ?? "";
  if (figures === undefined) return undefined;
  return { position: value("position"), pendingBuy: value("pending_buy"), pendingSell: value("pending_sell") };
}
