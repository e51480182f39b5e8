// The matrix of docs/authority.md, from outside: every operation and event that a machine may ask or publish, with a token that names one fund, about that
// fund and about another one, over gRPC and over every route.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codecOf, describedServices } from "../adapters/grpc/definitions.ts";
import { type Operation, operations, serviceOperations } from "../contracts/src/authority.ts";
import { gatewayOperations } from "../contracts/src/gateway-operations.ts";
import { namedByProcedures, sharedRows } from "../contracts/src/generated/authority.ts";
import { declaredRoutes } from "../contracts/src/generated/routes.ts";
import { isFundPath } from "../contracts/src/ownership/whose.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { type CallOutcome, type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { operatorUrl } from "../testkit/login.ts";
import { type Cell, eventRows, operationRows } from "../testkit/ownership/matrix.ts";
import { emptyMessage, namingMessage } from "../testkit/ownership/naming-message.ts";
import { exampleFill, exampleNav, exampleOrder, exampleTransition } from "../testkit/record-examples.ts";
import { type Asking, withAsking } from "../testkit/shared/asking.ts";
import { type SharedFund, sharedPlatform } from "../testkit/shared/shared-platform.ts";

const shared = sharedPlatform({ funds: 2 });
const rows = operationRows().filter(({ name }) => serviceOperations.includes(name as Operation));
const clients = new Map<string, TestClient>();
const reason = "the matrix of ownership";

/** A fund with an order that rests and an approval that nobody sent. */
interface Side {
  readonly fund: SharedFund;
  readonly orderId: string;
  readonly approvalId: string;
}
let own: Side;
let theirs: Side;
/** Tokens of the first fund, by the operations that each names: one names 64 at most. */
const tokens = new Map<string, string>();
/** The same of another source, which asked for nothing. */
const strangers = new Map<string, string>();
let everyFundToken = "";
/** A limit below the market. */
let restsAt = "";
let issued: readonly string[] = [];

beforeAll(async () => {
  await withAsking(shared.platform, async (asking) => {
    const [mine, another] = shared.funds as [SharedFund, SharedFund];
    for (const named of [serviceOperations.slice(0, 60), serviceOperations.slice(60)]) {
      const token = await tokenOf(asking, "matrix", named, [mine.fundId]);
      const another = await tokenOf(asking, "stranger", named, [mine.fundId]);
      for (const operation of named) {
        tokens.set(operation, token);
        strangers.set(operation, another);
      }
    }
    everyFundToken = await tokenOf(asking, "matrix", ["CheckOrder", "SubmitOrder", "CancelOrder", "ReleaseApproval"]);
    const [quote] = (await asking.ask("GET", "/v1/market/quotes?symbols=AAPL")) as [{ readonly bid: string }];
    restsAt = (Number(quote.bid) * 0.97).toFixed(2);
    own = await sideOf(mine);
    theirs = await sideOf(another);
  });
}, 60_000);

afterAll(async () => {
  for (const { orderId, approvalId } of [own, theirs].filter((side) => side !== undefined)) {
    await grpc("Oms/CancelOrder", { order_id: orderId, reason }, everyFundToken);
    await grpc("RiskEngine/ReleaseApproval", { order_id: approvalId, reason }, everyFundToken);
  }
  await withAsking(shared.platform, async ({ ask }) => {
    for (const id of issued) await ask("DELETE", `/v1/service-tokens/${id}`);
  });
  for (const client of clients.values()) client.close();
});

async function tokenOf(
  { askProven }: Asking,
  name: string,
  named: readonly Operation[],
  funds?: readonly string[],
): Promise<string> {
  const parameters = { name, operations: named, expires_in_s: 600, ...(funds && { funds }) };
  const action = { action: "IssueServiceToken", parameters } as const;
  const made = (await askProven("POST", "/v1/service-tokens", action, parameters)) as { id: string; token: string };
  issued = [...issued, made.id];
  return made.token;
}

function orderOf({ fundId, strategyId }: SharedFund, id: string) {
  const terms = { order_type: "LIMIT", limit_price: restsAt, tif: "GTC", broker: "paper", asset_class: "EQUITY" };
  const about = { fund_id: fundId, strategy_id: strategyId, symbol: "AAPL", side: "BUY", quantity: "1" };
  return { order_id: `${fundId}-${id}`, idempotency_key: `${fundId}-${id}`, ...about, ...terms };
}

async function sideOf(fund: SharedFund): Promise<Side> {
  const [resting, approved] = [orderOf(fund, "rests"), orderOf(fund, "approved")];
  const message = (order: object) => ({ ...emptyMessage("svc.v1.Order"), ...order, actor: "matrix" });
  const submitted = await grpc("Oms/SubmitOrder", message(resting), everyFundToken);
  expect(submitted.answer, JSON.stringify(submitted.answer)).toMatchObject({ state: "WORKING" });
  const checked = await grpc("RiskEngine/CheckOrder", message(approved), everyFundToken);
  expect(checked.answer, JSON.stringify(checked.answer)).toMatchObject({ approved: true });
  return { fund, orderId: resting.order_id, approvalId: approved.order_id };
}

const processes: Readonly<Record<string, string>> = {
  RiskEngine: "riskengine",
  Oms: "oms",
  Treasury: "treasury",
  Research: "research",
};

function grpc(
  procedure: string,
  message: object,
  bearer = tokens.get(operationOf(procedure)),
): Promise<Pick<CallOutcome, "status" | "answer" | "metadata">> {
  const [service = "", name = ""] = procedure.split("/");
  const address = shared.platform.runFile().addresses[processes[service] ?? "operations"] ?? "";
  const [host = "", port = ""] = address.split(":");
  const client = clients.get(address) ?? testClient(host === "unix" ? { path: port } : { host, port: Number(port) });
  clients.set(address, client);
  const metadata = { authorization: `Bearer ${bearer}` };
  const method = describedServices.find((one) => one.name === service)?.methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`there is no procedure ${procedure}`);
  if (!method.requestStream) return client.call(service, name, message, { metadata });
  const same = (raw: Buffer): Buffer => raw;
  return new Promise((resolve) => {
    const stream = client.client.makeBidiStreamRequest(method.path, same, same, client.metadataOf(metadata));
    let answer: unknown;
    stream.on("data", (bytes: Buffer) => {
      answer = codecOf(method.responseType).decode(bytes);
      stream.end();
    });
    stream.on("error", () => undefined);
    stream.on("status", ({ code, metadata: ended }) =>
      resolve({ status: code === 0 ? "OK" : "failed", answer, metadata: ended }),
    );
    stream.write(Buffer.from(codecOf(method.requestType).encode(message).finish()));
  });
}

/** New terms of an order that was approved, under a key of their own. */
let keys = 0;
function again({ fund, approvalId }: Side): object {
  keys += 1;
  return { ...orderOf(fund, `again-${keys}`), order_id: approvalId, actor: "stranger" };
}

/** A file says in its name whose it is, whether there is one or not. */
const filingOf = ({ fund }: Side): string => `cat.${fund.fundId}.2026-11-13.000001`;

/** What is asked of its own must be an order there, so that its asker's name is what decides. */
function aboutItsOrder(procedure: string, message: object): object {
  if (procedure.startsWith("RiskEngine/CheckOrder")) return { ...message, ...again(own) };
  if (procedure !== "Operations/ReportRegulatoryEvent") return message;
  return { ...message, event_type: "new_order", order: { ...emptyMessage("svc.v1.Order"), ...again(own) } };
}

/** What names the side where its request names an order, a strategy or something else and no fund. */
const bySomething: Readonly<Record<string, (side: Side) => object>> = {
  "Oms/CancelOrder": ({ orderId }) => ({ order_id: orderId, reason: "" }),
  "Oms/AmendOrder": ({ orderId }) => ({ order_id: orderId, idempotency_key: "", reason }),
  "Oms/GetOrder": ({ orderId }) => ({ order_id: orderId }),
  "RiskEngine/ConfirmSent": ({ approvalId }) => ({ order_id: approvalId }),
  "RiskEngine/ReleaseApproval": ({ approvalId }) => ({ order_id: approvalId, reason }),
  "RiskDesk/GetDecisions": ({ approvalId }) => ({ order_id: approvalId }),
  "Operations/AppendAudit": ({ fund }) => ({ subject_id: fund.fundId, action: "", actor: "" }),
  "Operations/GetAuditTrail": ({ fund }) => ({ subject_id: fund.fundId, from_sequence: 0, count_max: 1 }),
  // Research knows the strategies of the seeded funds.
  "Research/GetBacktest": (side) => ({ strategy_id: side === own ? "nobody" : "beta-trend" }),
  "Research/ListSignals": (side) => ({ strategy_id: side === own ? "nobody" : "beta-trend", count_max: 1 }),
  "Filings/ReadFiling": (side) => ({ filing_id: filingOf(side) }),
  "Treasury/GetReferenceData": (side) => ({ kind: side === own ? "fx" : "funds" }),
};

function requestsOf(procedure: string, type: string, side: Side): readonly object[] {
  const paths = (namedByProcedures[procedure]?.request ?? []).filter(isFundPath);
  if (paths.length > 0) return paths.map((path) => namingMessage(type, path, side.fund.fundId));
  const empty = emptyMessage(type);
  const something = bySomething[procedure];
  return [something === undefined ? empty : { ...empty, ...something(side) }];
}

function operationOf(procedure: string): string {
  return sharedRows[procedure] ?? procedure.slice(procedure.indexOf("/") + 1);
}

const proceduresOf = (operation: string) =>
  describedServices.flatMap(({ name: service, methods }) =>
    methods
      .map((method) => ({ procedure: `${service}/${method.name}`, method }))
      .filter(({ procedure }) => operationOf(procedure) === operation),
  );

/** Which cell of the matrix an answer is. */
function cellOf(code: unknown, answer: unknown): Cell {
  if (code === "FUND_NOT_YOURS") return "FUND_NOT_YOURS";
  const { fundId, strategyId } = theirs.fund;
  return [fundId, strategyId].some((name) => JSON.stringify(answer ?? "").includes(name)) ? "taken" : "left out";
}

/** Whose an alert is says the alert, and here there is none: adapters/grpc/guard/fund-guard.test.ts has that cell. */
const here = rows.filter(({ name }) => name !== "GetWebhookSignal");

test.each(here.map((row) => [row.name, row] as const))("%s over gRPC", async (operation, row) => {
  const procedures = proceduresOf(operation);
  for (const { procedure, method } of procedures) {
    for (const message of requestsOf(procedure, method.requestType, own)) {
      const { answer, metadata } = await grpc(procedure, aboutItsOrder(procedure, message), strangers.get(operation));
      const code = (answer as { readonly code?: string } | undefined)?.code || metadata.get("portcullis-code")[0];
      const isListed = JSON.stringify(answer ?? "").includes(own.approvalId);
      const cell = String(code).endsWith("_NOT_YOURS")
        ? code
        : row.whose.includes("asker") && !isListed
          ? "left out"
          : "taken";
      expect(cell, `${procedure} of another source`).toBe(row.anotherSources);
    }
    for (const message of requestsOf(procedure, method.requestType, own)) {
      const { metadata } = await grpc(procedure, message);
      const isRefused = metadata.get("portcullis-code")[0] === "FUND_NOT_YOURS";
      expect(isRefused ? "FUND_NOT_YOURS" : "taken", `${procedure} of its own`).toBe(row.own);
    }
    for (const message of requestsOf(procedure, method.requestType, theirs)) {
      const { answer, metadata } = await grpc(procedure, message);
      expect(cellOf(metadata.get("portcullis-code")[0], answer), `${procedure} of another`).toBe(row.anotherFunds);
    }
  }
});

test("a halt of the firm, the document of the funds and a trail about an order take a token of every fund", async () => {
  const firm = { severity: "FIRM_HALT", fund_id: own.fund.fundId, reason, requested_by: "" };
  for (const [procedure, type, message] of [
    ["RiskEngine/RequestHalt", "svc.v1.HaltRequest", firm],
    ["Operations/RequestHalt", "svc.v1.HaltRequest", firm],
    ["Treasury/GetReferenceData", "svc.v1.ReferenceDataRequest", { kind: "funds" }],
    ["Operations/GetAuditTrail", "svc.v1.AuditTrailRequest", { subject_id: own.orderId }],
  ] as const) {
    const { metadata } = await grpc(procedure, { ...emptyMessage(type), ...message });
    expect(metadata.get("portcullis-code")[0], procedure).toBe("FUND_NOT_YOURS");
  }
});

test.each(eventRows().map((row) => [row.name, row] as const))(
  "%s over every procedure that takes events",
  async (subject, row) => {
    for (const procedure of ["Publish", "PublishOrders", "PublishValues", "PublishPrices"]) {
      for (const [side, cell] of [
        [own, row.own],
        [theirs, row.anotherFunds],
      ] as const) {
        const payload_json = JSON.stringify({ fund_id: side.fund.fundId });
        const event = { id: "e-1", subject, payload_json, dry_run: true };
        const { answer } = await grpc(`ForeignEvents/${procedure}`, event);
        const { code } = answer as { readonly code: string };
        // What is the token's own is read further, and found to be no such event.
        expect(code, procedure).toBe(cell === "taken" ? "BUS_PAYLOAD_INVALID" : cell);
      }
    }
  },
);

/** Events as they would be taken of the source that asked. */
function payloadOf(subject: string, { fund, approvalId }: Side): object {
  const about = { order_id: approvalId, fund_id: fund.fundId, strategy_id: fund.strategyId, symbol: "AAPL" };
  const { fill_id, filled_at: at } = exampleFill;
  if (subject === subjects.navUpdated.name) return { ...exampleNav, fund_id: fund.fundId };
  if (subject === subjects.fillsCreated.name) return { ...exampleFill, ...about };
  if (subject === subjects.fillsBusted.name) return { ...about, bust_id: "matrix", fill_id, reason, at };
  if (subject === subjects.ordersCreated.name) return { ...exampleOrder, ...about };
  return { ...exampleTransition, ...about };
}

test.each(
  eventRows()
    .filter(({ anotherSources }) => anotherSources !== undefined)
    .map((row) => [row.name, row] as const),
)("%s of another source", async (subject, row) => {
  for (const [bearers, expected] of [
    [strangers, row.anotherSources],
    // Nobody but treasury values a paper fund.
    [tokens, row.whose.includes("valuer") ? row.anotherSources : ""],
  ] as const) {
    const event = { id: "e-2", subject, payload_json: JSON.stringify(payloadOf(subject, own)), dry_run: true };
    const { answer } = await grpc("ForeignEvents/Publish", event, bearers.get("Publish"));
    expect((answer as { readonly code: string }).code, JSON.stringify(answer)).toBe(expected);
  }
});

/** Bodies that the schema of their route lets through. */
const bodies: Readonly<Record<string, (side: Side) => object>> = {
  submitOrder: ({ fund }) => ({ ...orderOf(fund, "more"), dry_run: true }),
  cancelOrder: () => ({ reason }),
  amendOrder: () => ({ idempotency_key: "matrix", quantity: "1", reason }),
  releaseApproval: () => ({ reason }),
  requestHalt: ({ fund }) => ({ id: fund.strategyId, reason, confirmation: "HALT" }),
  appendAudit: ({ fund }) => ({ subject_id: fund.fundId, action: "matrix.tried", data: {} }),
  diffEnvelopes: () => ({}),
  reportRegulatoryEvent: ({ fund }) => ({ event_type: "new_order", order: orderOf(fund, "reported") }),
};
const placeOf: Readonly<Record<string, (side: Side) => string>> = {
  fund_id: ({ fund }) => fund.fundId,
  strategy_id: () => "beta-trend",
  kind: () => "funds",
  subject_id: ({ fund }) => fund.fundId,
  order_id: ({ orderId }) => orderId,
  filing_id: filingOf,
};

test.each(
  Object.values(declaredRoutes)
    .filter(({ listener, operation }) => listener === "operator" && here.some(({ name }) => name === operation))
    .map((route) => [route.id, route] as const),
)("%s over HTTP", async (id, route) => {
  const row = rows.find(({ name }) => name === route.operation);
  if (row?.anotherFunds !== "FUND_NOT_YOURS") return;
  const at = (side: Side) => {
    const filled = route.path.replaceAll(/:([a-z_]+)\*?/g, (_all, name: string) =>
      id === "releaseApproval" ? side.approvalId : (placeOf[name]?.(side) ?? "checkpoint"),
    );
    const query = {
      fund_id: side.fund.fundId,
      subject_id: side.fund.fundId,
      watchdog: "vpin",
      symbol: "AAPL",
      regime: "CAT",
      date: "2026-11-13",
    };
    const taken = new Set(queryOf(id));
    const asked = Object.entries(query).filter(([name]) => taken.has(name));
    return route.method === "GET" ? `${filled}?${new URLSearchParams(asked)}` : filled;
  };
  const body = bodies[id];
  if (route.method !== "GET" && body === undefined) throw new Error(`${id} has no body here`);
  const answer = await fetchOnNewConnection(`${operatorUrl(shared.platform)}${at(theirs)}`, {
    method: route.method,
    headers: {
      authorization: `Bearer ${tokens.get(route.operation)}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body(theirs)) }),
  });
  const text = await answer.text();
  expect([answer.status, (JSON.parse(text) as { code?: string }).code], `${at(theirs)}: ${text}`).toEqual([
    403,
    "FUND_NOT_YOURS",
  ]);
});

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly operationId: string; readonly parameters?: readonly { in: string; name: string }[] }>
      >
    >
  >;
}
const openApi = JSON.parse(readFileSync("edges/client/openapi.json", "utf8")) as OpenApi;

function queryOf(id: string): readonly string[] {
  const found = Object.values(openApi.paths)
    .flatMap((on) => Object.values(on))
    .find(({ operationId }) => operationId === id);
  return (found?.parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name);
}

/** Routes that ask no service, and so no guard behind the gateway. */
const ofTheGateway = ["/v1/events", ...Object.values(gatewayOperations.ReadReports.routes)].map((route) =>
  route.replace("operator GET ", "").replaceAll(/:[a-z_]+/g, "unknown"),
);

test.each(ofTheGateway)("%s takes a token of every fund", async (path) => {
  const operation = path === "/v1/events" ? "TailEvents" : "ReadReports";
  const headers = { authorization: `Bearer ${tokens.get(operation)}` };
  const answer = await fetchOnNewConnection(`${operatorUrl(shared.platform)}${path}`, { headers });
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ code: "FUND_NOT_YOURS" });
});

test("events are followed of the token's own fund alone", async () => {
  const headers = { authorization: `Bearer ${tokens.get("TailEvents")}` };
  const follow = ({ fund }: Side) =>
    fetchOnNewConnection(`${operatorUrl(shared.platform)}/v1/events?fund_id=${fund.fundId}`, { headers });
  const mine = await follow(own);
  expect(mine.status).toBe(200);
  await mine.body?.cancel();
  expect((await follow(theirs)).status).toBe(403);
});

test("no row of the matrix is about an operation that nobody could ask", () => {
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter(({ name }) => operations[name as Operation].allowed.length === 0)).toEqual([]);
});
