// docs/errors.md, row by row: every status with every word of `portcullis-retry` that stands there is provoked on a running risk engine, over gRPC as
// an order management asks, and afterwards the order is as the row says. A row that nothing provokes fails, and so does a provocation without a row.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codecOf, methodOf } from "../adapters/grpc/definitions.ts";
import { openClient } from "../adapters/postgres/connection.ts";
import type { RiskEnvelope } from "../contracts/src/generated/svc/v1/envelope.ts";
import type { HaltStatus } from "../contracts/src/generated/svc/v1/halt.ts";
import type { Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import type { DecisionRecords } from "../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Approvals, ForeignPosition } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { type CallOptions, type CallOutcome, type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { encodeOrder, goodOrder } from "../testkit/hostile/messages.ts";
import { developmentCredentials, logInAs } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { type TestDatabase, testDatabase } from "../testkit/postgres.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { addressOf } from "../testkit/risk/client.ts";

const undecidedMax = 8;
const deadlineMs = 20_000;

let database: TestDatabase;
let platform: Platform;
let serviceToken: string;
let asPerson: CallOptions;
/** Both with the development service token. */
let engine: TestClient;
let operations: TestClient;
let orderCount = 0;

beforeAll(async () => {
  database = await testDatabase([]);
  const { host, port, user, database: name } = database.address.owner;
  platform = startPlatform({
    environment: {
      PORTCULLIS_DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
      PORTCULLIS_PAPER_SEED: "always",
      PORTCULLIS_RISK_UNDECIDED_MAX: String(undecidedMax),
    },
  });
  await platform.ready();
  serviceToken = developmentCredentials(platform.dataFolder).service_token;
  const { access_token: personToken } = await logInAs(platform, "duty");
  asPerson = { deadlineMs, metadata: { authorization: `Bearer ${personToken}` } };
  openClients();
  await decides();
}, 180_000);

afterAll(async () => {
  engine?.close();
  operations?.close();
  await platform?.end();
  await database?.drop();
}, 60_000);

function openClients(): void {
  engine?.close();
  operations?.close();
  engine = testClient(addressOf(platform, "riskengine"), { token: serviceToken });
  operations = testClient(addressOf(platform, "operations"), { token: serviceToken });
}

/** Each of another size, so that no throttle trips. */
function newOrder(): Order {
  orderCount += 1;
  const traded = { symbol: "SOL-USD", asset_class: "CRYPTO", quantity: (orderCount / 100_000).toFixed(5) };
  return goodOrder(`every-status-${orderCount}`, { ...traded, fund_id: "beta", strategy_id: "beta-trend" });
}

const ask = (order: Order, options: CallOptions = {}): Promise<CallOutcome> =>
  engine.call("RiskEngine", "CheckOrder", order, { deadlineMs, ...options });

async function decided(order: Order): Promise<RiskDecision> {
  const { status, details, answer } = await ask(order);
  expect([status, details]).toEqual(["OK", ""]);
  return answer as RiskDecision;
}

async function approved(order: Order): Promise<RiskDecision> {
  const decision = await decided(order);
  expect([decision.code, decision.approved]).toEqual(["", true]);
  return decision;
}

/** Prices come a moment after a start, and halts are unknown a moment after a standstill. */
const decides = (): Promise<void> =>
  eventually("a small order would be approved", async () => {
    const { answer } = await ask({ ...newOrder(), dry_run: true }, { deadlineMs: 1_000 });
    return (answer as RiskDecision | undefined)?.approved === true;
  });

async function asOwner(...statements: readonly string[]): Promise<void> {
  const owner = await openClient(database.address.owner, {
    log: quietLog,
    applicationName: "somebody with every right",
  });
  try {
    for (const statement of statements) await owner.query(statement);
  } finally {
    await owner.end();
  }
}

/** Runs the work while nobody else can use the table. */
async function withLocked<Value>(table: string, work: () => Promise<Value>): Promise<Value> {
  const locker = await openClient(database.address.owner, { log: quietLog, applicationName: "a lock in the way" });
  try {
    await locker.query(`begin; lock table ${table} in access exclusive mode`);
    return await work();
  } finally {
    await locker.end();
  }
}

/** Runs the work while decisions about so many other orders wait for the store. */
async function behind(count: number, waitMs: number, work: () => Promise<CallOutcome>): Promise<CallOutcome> {
  const others = Array.from({ length: count }, newOrder);
  const { outcome, answers } = await withLocked("risk_journal", async () => {
    const asked = Promise.all(others.map((order) => ask(order)));
    await pause(waitMs);
    return { outcome: await work(), answers: asked };
  });
  expect((await answers).map(({ status }) => status)).toEqual(others.map(() => "OK"));
  return outcome;
}

const enginePid = (): number => platform.runFile().processes["riskengine"] ?? 0;

/** Runs the work while the stored decision about an order cannot be read. */
async function withBrokenRecord(orderId: string, work: () => Promise<CallOutcome>): Promise<CallOutcome> {
  const unguarded = "set session_replication_role = replica";
  const which = `where order_id = '${orderId}' and kind = 1`;
  await asOwner(
    unguarded,
    `create table kept_aside as select id, payload from risk_journal ${which}`,
    `update risk_journal set payload = '\\xff' ${which}`,
  );
  try {
    return await work();
  } finally {
    const back = "update risk_journal j set payload = k.payload from kept_aside k where j.id = k.id";
    await asOwner(unguarded, back, "drop table kept_aside");
  }
}

async function envelopeAfter(fundId: string): Promise<RiskEnvelope> {
  const { answer } = await engine.call("RiskEngine", "GetEnvelope", { fund_id: fundId }, { deadlineMs });
  const envelope = answer as RiskEnvelope;
  return { ...envelope, version: envelope.version + 1, reason: "a test" };
}

const release = ({ order_id }: Order, options: CallOptions = {}): Promise<CallOutcome> =>
  engine.call("RiskEngine", "ReleaseApproval", { order_id, reason: "not sent" }, { deadlineMs, ...options });

interface Way {
  readonly status: string;
  readonly retry: "now" | "later" | "never" | "none";
  /** Empty where the client's own library or ours made the status up. */
  readonly code: string;
  readonly how: string;
  provoke(order: Order): Promise<CallOutcome>;
  /** Has the platform as it was. */
  afterwards?(): Promise<void>;
}

const ways: readonly Way[] = [
  {
    status: "UNAUTHENTICATED",
    retry: "never",
    code: "UNAUTHENTICATED",
    how: "a token that nobody issued",
    provoke: (order) => ask(order, { metadata: { authorization: `Bearer ${serviceToken}x` } }),
  },
  {
    status: "PERMISSION_DENIED",
    retry: "never",
    code: "PERMISSION_DENIED",
    how: "a person, who may not check orders",
    provoke: (order) => ask(order, asPerson),
  },
  {
    status: "INVALID_ARGUMENT",
    retry: "never",
    code: "INVALID_ARGUMENT",
    how: "bytes after the end of an order",
    provoke: (order) => ask(order, { bytes: Buffer.concat([encodeOrder(order), Buffer.from([0x0a, 0xff])]) }),
  },
  {
    status: "NOT_FOUND",
    retry: "never",
    code: "NOT_FOUND",
    how: "sending what nobody approved",
    provoke: ({ order_id }) => engine.call("RiskEngine", "ConfirmSent", { order_id }, { deadlineMs }),
  },
  {
    status: "FAILED_PRECONDITION",
    retry: "never",
    code: "APPROVAL_SENT",
    how: "releasing what was sent",
    provoke: async (order) => {
      const { order_id } = order;
      expect((await engine.call("RiskEngine", "ConfirmSent", { order_id }, { deadlineMs })).status).toBe("OK");
      return release(order);
    },
  },
  {
    status: "ABORTED",
    retry: "never",
    code: "IDEMPOTENCY_KEY_REUSED",
    how: "a key that came with another body",
    provoke: async (order) => {
      const other = newOrder();
      await approved(other);
      const metadata = { "idempotency-key": order.order_id };
      expect((await release(other, { metadata })).status).toBe("OK");
      return release(order, { metadata });
    },
  },
  {
    status: "ABORTED",
    retry: "now",
    code: "STORE_CONFLICT",
    how: "limits of a version that somebody else wrote first",
    provoke: async () => {
      const envelope = await envelopeAfter("beta");
      const row = `('beta', ${envelope.version}, 1, 'x', '{}')`;
      await asOwner(
        "set session_replication_role = replica",
        `insert into risk_envelope (fund_id, version, set_us, hash, content) values ${row}`,
      );
      try {
        return await engine.call("RiskEngine", "UpdateEnvelope", envelope, asPerson);
      } finally {
        const gone = `delete from risk_envelope where fund_id = 'beta' and version = ${envelope.version}`;
        await asOwner("set session_replication_role = replica", gone);
      }
    },
  },
  {
    status: "ABORTED",
    retry: "later",
    code: "IDEMPOTENCY_IN_PROGRESS",
    how: "a key whose first request is not answered",
    provoke: async (order) => {
      const metadata = { "idempotency-key": order.order_id };
      const { outcome, first } = await withLocked("oms_order", async () => {
        const asked = release(order, { metadata });
        // tidy: sleeps because the first release is to wait at the lock, and nothing says that it does
        await pause(200);
        return { outcome: await release(order, { metadata }), first: asked };
      });
      expect((await first).status).toBe("OK");
      return outcome;
    },
  },
  {
    status: "RESOURCE_EXHAUSTED",
    retry: "never",
    code: "MESSAGE_TOO_LARGE",
    how: "an order above 65,536 bytes",
    provoke: (order) => ask({ ...order, thesis: "t".repeat(70_000) }),
  },
  {
    status: "RESOURCE_EXHAUSTED",
    retry: "none",
    code: "",
    how: "an order above twice that",
    provoke: (order) => ask({ ...order, thesis: "t".repeat(140_000) }),
  },
  {
    status: "RESOURCE_EXHAUSTED",
    retry: "later",
    code: "RESOURCE_EXHAUSTED",
    how: "more orders at once than may wait for the store",
    provoke: (order) => behind(undecidedMax, 500, () => ask(order)),
  },
  {
    status: "UNIMPLEMENTED",
    retry: "never",
    code: "UNIMPLEMENTED",
    how: "another service's procedure",
    provoke: (order) => engine.call("Oms", "SubmitOrder", order, { deadlineMs }),
  },
  {
    status: "DEADLINE_EXCEEDED",
    retry: "later",
    code: "DEADLINE_EXCEEDED",
    how: "a request that never becomes whole",
    provoke: () => engine.streamCall(methodOf("RiskEngine", "CheckOrder").path, { deadlineMs }),
  },
  {
    status: "CANCELLED",
    retry: "none",
    code: "",
    how: "hanging up while the decision waits for the store",
    provoke: (order) => withLocked("risk_journal", () => hungUp(order, 300)),
  },
  {
    status: "UNAVAILABLE",
    retry: "later",
    code: "STORE_UNAVAILABLE",
    how: "a store that does not answer",
    provoke: (order) => behind(1, 2_300, () => ask(order)),
  },
  {
    status: "INTERNAL",
    retry: "later",
    code: "INTERNAL",
    how: "a first decision that cannot be read",
    provoke: async (order) => {
      await approved(order);
      return withBrokenRecord(order.order_id, () => ask(order));
    },
  },
  {
    status: "INTERNAL",
    retry: "never",
    code: "INTERNAL",
    how: "asking for a decision that cannot be read",
    provoke: async (order) => {
      await approved(order);
      return withBrokenRecord(order.order_id, () => recordsOf(order));
    },
  },
  {
    status: "DEADLINE_EXCEEDED",
    retry: "none",
    code: "",
    how: "an engine that stands still",
    provoke: async (order) => {
      process.kill(enginePid(), "SIGSTOP");
      try {
        return await ask(order, { deadlineMs: 300 });
      } finally {
        process.kill(enginePid(), "SIGCONT");
      }
    },
  },
  {
    status: "UNAVAILABLE",
    retry: "none",
    code: "",
    how: "an engine that is killed before it answers",
    provoke: (order) =>
      withLocked("risk_journal", async () => {
        const asked = ask(order);
        // tidy: sleeps because the order is to wait at the lock, and nothing says that it does
        await pause(300);
        process.kill(enginePid(), "SIGKILL");
        return asked;
      }),
    afterwards: async () => {
      await eventually("the engine is back", async () => (await platform.health()) === 200);
      openClients();
    },
  },
];

function hungUp(order: Order, afterMs: number): Promise<CallOutcome> {
  const { path, responseType } = methodOf("RiskEngine", "CheckOrder");
  return new Promise((resolve) => {
    const call = engine.client.makeUnaryRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes) => codecOf(responseType).decode(bytes),
      encodeOrder(order),
      engine.metadataOf({}),
      (error) => {
        const status = error?.code === 1 ? "CANCELLED" : String(error?.code ?? "OK");
        const metadata = error?.metadata ?? engine.metadataOf({});
        resolve({ status, details: error?.details ?? "", answer: undefined, metadata });
      },
    );
    setTimeout(() => call.cancel(), afterMs);
  });
}

const recordsOf = ({ order_id }: Order): Promise<CallOutcome> =>
  operations.call("RiskDesk", "GetDecisions", { order_id }, { deadlineMs });

async function approvalsOf({ order_id }: Order): Promise<Approvals["approvals"]> {
  const { answer } = await engine.call(
    "RiskEngine",
    "ListApprovals",
    { order_id, unsent: false, count_max: 0 },
    { deadlineMs },
  );
  return (answer as Approvals).approvals;
}

type State = "not decided" | "decided" | "unknown";
/** What became of orders whose state was unknown. */
const turnedOut = new Set<string>();

async function expectState(state: State, order: Order, first: RiskDecision | undefined): Promise<void> {
  if (state === "not decided") {
    expect(await approvalsOf(order)).toEqual([]);
    expect((await recordsOf(order)).status).toBe("NOT_FOUND");
  }
  const again = await decided(order);
  if (state === "not decided") expect([again.code, again.approved]).toEqual(["", true]);
  if (state === "decided") {
    expect([again.code, again.original?.decision_id]).toEqual(["DUPLICATE_KEY", first?.decision_id]);
  }
  if (state === "unknown") {
    turnedOut.add(again.code === "DUPLICATE_KEY" ? "decided" : "not decided");
    const { code, approved: isApproved, order_id } = again.code === "DUPLICATE_KEY" ? (again.original ?? again) : again;
    expect([code, isApproved, order_id]).toEqual(["", true, order.order_id]);
  }
  // However it came to be, it is approved once and reserved once.
  const { records } = (await recordsOf(order)).answer as DecisionRecords;
  expect(records.filter(({ decision }) => decision?.approved === true)).toHaveLength(1);
  expect(await approvalsOf(order)).toMatchObject([{ order_id: order.order_id, asked_by: records[0]?.asked_by }]);
}

interface Row {
  readonly status: string;
  readonly retries: readonly string[];
  readonly state: string;
}

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, "..", "docs", "errors.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, status, retries = "", state = ""] = /^\| `([A-Z_]+)` \| ([^|]*) \| ([^|]*) \|/.exec(line) ?? [];
    return status === undefined ? [] : [{ status, retries: retries.split(", "), state }];
  });

describe("docs/errors.md", { timeout: 120_000 }, () => {
  test("every status and every word of its row is provoked here, and nothing else", () => {
    const written = rows.flatMap(({ status, retries }) => retries.map((retry) => `${status} ${retry}`));
    expect(ways.map(({ status, retry }) => `${status} ${retry}`).sort()).toEqual(written.sort());
  });

  test.each(ways)("$status with $retry: $how", async ({ status, retry, code, provoke, afterwards }) => {
    const state = rows.find((row) => row.status === status)?.state as State;
    expect(["not decided", "decided", "unknown"]).toContain(state);
    await decides();
    const order = newOrder();
    const first = state === "decided" ? await approved(order) : undefined;
    const outcome = await provoke(order);
    const trailer = (name: string): string => String(outcome.metadata.get(name)[0] ?? "");
    expect([outcome.status, trailer("portcullis-code"), trailer("portcullis-retry") || "none"]).toEqual([
      status,
      code,
      retry,
    ]);
    expect(trailer("x-request-id") === "").toBe(retry === "none");
    await afterwards?.();
    await decides();
    await expectState(state, order, first);
  });

  test("what is unknown turned out either way", () => {
    expect([...turnedOut].sort()).toEqual(["decided", "not decided"]);
  });

  test("the development service token is answered about halts, decisions and its events", async () => {
    const halted = await engine.call("RiskEngine", "GetHaltStatus", { fund_id: "beta" }, { deadlineMs });
    expect([halted.status, (halted.answer as HaltStatus).known]).toEqual(["OK", true]);
    const elsewhere = await operations.call("Operations", "GetHaltStatus", { fund_id: "beta" }, { deadlineMs });
    expect([elsewhere.status, (elsewhere.answer as HaltStatus).known]).toEqual(["OK", true]);
    const order = newOrder();
    const { decision_id } = await approved(order);
    expect((await recordsOf(order)).answer).toMatchObject({ records: [{ decision: { decision_id } }] });
    const heard = await engine.call(
      "RiskEngine",
      "GetForeignPosition",
      { source: "", fund_id: "beta" },
      { deadlineMs },
    );
    expect(heard.status).toBe("OK");
    const { positions } = heard.answer as ForeignPosition;
    expect(positions.map(({ kind }) => kind).sort()).toEqual(["fills", "orders", "values"]);
  });
});
