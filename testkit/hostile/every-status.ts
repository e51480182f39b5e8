// Every status that a caller of the risk engine can get, provoked on a running platform, with what became of the order: docs/errors.md is the table that it is
// held against.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Metadata, status as statusCodes } from "@grpc/grpc-js";
import { codecOf, methodOf } from "../../adapters/grpc/definitions.ts";
import type { DecisionRecords } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { waitingMax } from "../../services/operations/events/tail-events.ts";
import { type CallOptions, type CallOutcome, testClient } from "../grpc/test-client.ts";
import { developmentCredentials, logInAs } from "../login.ts";
import type { Platform } from "../platform.ts";
import { addressOf } from "../risk-client.ts";
import { encodeOrder, goodOrder } from "./messages.ts";

export interface Provoked {
  readonly status: string;
  /** `none` when there are no trailers of ours. */
  readonly retry: string;
  /** `decided` when there was a decision before the call or by it. */
  readonly order: string;
}

interface Row {
  readonly retries: readonly string[];
  /** What may be found afterwards: of an unknown order either. */
  readonly orders: readonly string[];
}

/** The table of docs/errors.md, by status. */
export function errorTable(): ReadonlyMap<string, Row> {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "errors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| ([^|]+) \| ([^|]+) \|/gm)];
  return new Map(
    rows.map(([, status = "", retries = "", order = ""]) => [
      status,
      {
        retries: retries.split(",").map((word) => word.trim()),
        orders: order.trim() === "unknown" ? ["decided", "not decided"] : [order.trim()],
      },
    ]),
  );
}

export async function everyStatus(platform: Platform, id: string): Promise<readonly Provoked[]> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const { access_token: person } = await logInAs(platform, "viewer");
  const engine = testClient(addressOf(platform, "riskengine"), { token });
  const operations = testClient(addressOf(platform, "operations"), { token });
  const nobody = testClient({ host: "127.0.0.1", port: 9 }, { token });
  const deadlineMs = 20_000;
  const check = (name: string, options: CallOptions = {}, differs: object = {}) =>
    engine.call("RiskEngine", "CheckOrder", goodOrder(`${id}-${name}`, differs), { deadlineMs, ...options });
  const isDecided = async (name: string): Promise<string> => {
    const asked = { order_id: `${id}-${name}` };
    const { answer } = await operations.call("RiskDesk", "GetDecisions", asked, { deadlineMs });
    return ((answer as DecisionRecords | undefined)?.records ?? []).length > 0 ? "decided" : "not decided";
  };
  const found = async (name: string, outcome: CallOutcome): Promise<Provoked> => {
    const [retry = "none"] = outcome.metadata.get("portcullis-retry").map(String);
    return { status: outcome.status, retry, order: await isDecided(name) };
  };
  const ask = (procedure: string, message: object, metadata: Record<string, string> = {}) =>
    engine.call("RiskEngine", procedure, message, { deadlineMs, metadata });
  await check("sent");
  await ask("ConfirmSent", { order_id: `${id}-sent` });
  await ask("ConfirmSent", { order_id: `${id}-sent` }, { "idempotency-key": `${id}-key` });
  const large = await check("large", {}, { thesis: "t".repeat(70_000) });
  const raw = encodeOrder(goodOrder(`${id}-nowhere`));
  const provoked = [
    await found("stranger", await check("stranger", { metadata: { authorization: "Bearer none" } })),
    await found("viewer", await check("viewer", { metadata: { authorization: `Bearer ${person}` } })),
    await found("bytes", await check("bytes", { bytes: Buffer.from([0x0a, 0xff, 1, 2]) })),
    await found("unknown", await ask("ConfirmSent", { order_id: `${id}-unknown` })),
    await found("sent", await ask("ReleaseApproval", { order_id: `${id}-sent`, reason: "no longer wanted" })),
    await found("sent", await ask("ConfirmSent", { order_id: `${id}-other` }, { "idempotency-key": `${id}-key` })),
    await found("large", large),
    await found("crowded", await crowded(operations)),
    await found("nowhere", await engine.rawCall("/svc.v1.RiskEngine/Invented", raw)),
    await found("late", await check("late", { deadlineMs: 0 })),
    await found("gone", await cancelled(engine, goodOrder(`${id}-gone`))),
    await found("away", await nobody.call("RiskEngine", "CheckOrder", goodOrder(`${id}-away`), { deadlineMs: 3_000 })),
  ];
  for (const client of [engine, operations, nobody]) client.close();
  return provoked;
}

/** More requests for the next event than may wait at once: what is asked too often. */
function crowded({ client, metadataOf }: ReturnType<typeof testClient>): Promise<CallOutcome> {
  const { path, requestType } = methodOf("Events", "TailEvents");
  const asIs = (raw: Buffer): Buffer => raw;
  const stream = client.makeBidiStreamRequest(path, asIs, asIs, metadataOf({}));
  const question = { subjects: [subjects.drillMeasured.name], fund_id: "", after: "" };
  const bytes = Buffer.from(codecOf(requestType).encode(question).finish());
  stream.on("data", () => undefined);
  stream.on("error", () => undefined);
  for (let count = 0; count <= waitingMax; count += 1) stream.write(bytes);
  return new Promise((resolve) => {
    stream.on("status", ({ code, details, metadata }) => {
      resolve({ status: statusCodes[code] ?? "", details, answer: undefined, metadata });
    });
  });
}

/** Asked and hung up at once. */
function cancelled({ client, metadataOf }: ReturnType<typeof testClient>, order: object): Promise<CallOutcome> {
  const { path, requestType } = methodOf("RiskEngine", "CheckOrder");
  const bytes = Buffer.from(codecOf(requestType).encode(order).finish());
  return new Promise((resolve) => {
    const asIs = (raw: Buffer): Buffer => raw;
    const call = client.makeUnaryRequest(path, asIs, asIs, bytes, metadataOf({}), (error) => {
      const name = statusCodes[error?.code ?? 0] ?? "";
      resolve({ status: name, details: "", answer: undefined, metadata: error?.metadata ?? new Metadata() });
    });
    call.cancel();
  });
}
