// The risk engine of a running platform, asked from outside as an order-management system and the people at the desk ask it: over gRPC,
// through the generated codecs, each with a token of their own.
import type { StatusObject } from "@grpc/grpc-js";
import { codecOf, methodOf } from "../../adapters/grpc/definitions.ts";
import type { GrpcAddress } from "../../adapters/grpc/listener.ts";
import type { PostgresStore } from "../../adapters/postgres/store.ts";
import type { RiskEnvelope } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { HaltRequest, HaltResponse, ResumeRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { OrderStatus, ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import type { Rejections } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { AcceptedBlock, Blocks, ThrottleStatus } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { grantedEnvelopeProof, grantedProof } from "../granted-proof.ts";
import { type CallOutcome, testClient } from "../grpc/test-client.ts";
import { developmentCredentials, logInAs } from "../login.ts";
import type { RunningPlatform } from "../platform.ts";
import { referenceActionOf } from "../reference-action.ts";

/** An answer, or the code of the denial or fault that came instead. */
export interface Answered<Answer> {
  readonly status: string;
  /** Empty when it went well. */
  readonly code: string;
  readonly details: string;
  readonly answer: Answer | undefined;
}

export interface OrderStream {
  send(order: Order): void;
  /** Bytes instead of an order. */
  sendBytes(bytes: Buffer): void;
  /** In the order in which they came. */
  readonly answers: readonly RiskDecision[];
  /** How it ended: the status's number. */
  readonly ended: Promise<StatusObject>;
  end(): void;
  cancel(): void;
}

export interface RiskClient {
  /** The order-management system's own token. */
  readonly serviceToken: string;
  /** Throws when there is no decision. */
  check(order: Order): Promise<RiskDecision>;
  tryCheck(order: Order): Promise<Answered<RiskDecision>>;
  /** CheckOrder with these bytes for an order. */
  checkBytes(bytes: Buffer): Promise<Answered<RiskDecision>>;
  /** Through the platform's own order management. */
  submit(order: Order): Promise<Answered<OrderStatus>>;
  stream(): OrderStream;
  getEnvelope(fundId: string): Promise<Answered<RiskEnvelope>>;
  updateEnvelope(envelope: RiskEnvelope): Promise<Answered<RiskEnvelope>>;
  requestHalt(request: HaltRequest): Promise<Answered<HaltResponse>>;
  resumeHalt(request: ResumeRequest): Promise<Answered<object>>;
  listBlocks(fundId: string): Promise<Answered<Blocks>>;
  acceptBlock(blockId: string, reason: string): Promise<Answered<AcceptedBlock>>;
  releaseThrottle(strategyId: string, reason: string): Promise<Answered<ThrottleStatus>>;
  rejections(fundId: string, countMax?: number): Promise<Answered<Rejections>>;
  getReference(kind: string): Promise<Answered<ReferenceDocument>>;
  setReference(document: ReferenceDocument): Promise<Answered<ReferenceDocument>>;
  close(): void;
}

type Caller = "machine" | "person";

/** How long an answer may take on a machine that has other things to do. */
const deadlineMs = 20_000;

/** The person is `duty`, who is operator, risk officer and administrator; the token lasts for some minutes. */
export async function openRiskClient(
  platform: RunningPlatform,
  /** Gives out proofs of the person's second factor; without it nothing can be loosened. */
  proofs?: Pick<PostgresStore, "transactSql">,
): Promise<RiskClient> {
  const { service_token: serviceToken } = developmentCredentials(platform.dataFolder);
  const { access_token: personToken } = await logInAs(platform, "duty");
  const engine = testClient(addressOf(platform, "riskengine"), { token: serviceToken });
  const queries = testClient(addressOf(platform, "operations"), { token: personToken });
  const oms = testClient(addressOf(platform, "oms"), { token: personToken });
  const treasury = testClient(addressOf(platform, "treasury"), { token: personToken });
  const machine = { deadlineMs };
  const person = { deadlineMs, metadata: { authorization: `Bearer ${personToken}` } };
  const ask = async <Answer>(name: string, message: object, caller: Caller = "person"): Promise<Answered<Answer>> =>
    answered(await engine.call("RiskEngine", name, message, caller === "person" ? person : machine));
  const tryCheck = (order: Order): Promise<Answered<RiskDecision>> => ask("CheckOrder", order, "machine");
  return {
    serviceToken,
    tryCheck,
    async check(order) {
      const { answer, status, code, details } = await tryCheck(order);
      if (answer === undefined) throw new Error(`no decision: ${status} ${code}: ${details}`);
      return answer;
    },
    checkBytes: async (bytes) => answered(await engine.call("RiskEngine", "CheckOrder", {}, { bytes, deadlineMs })),
    submit: async (order) => answered(await oms.call("Oms", "SubmitOrder", order, { deadlineMs })),
    stream: () => openStream(engine),
    getEnvelope: (fund_id) => ask("GetEnvelope", { fund_id }),
    updateEnvelope: async (envelope) => {
      if (proofs === undefined) return ask("UpdateEnvelope", envelope);
      const proof = await grantedEnvelopeProof(proofs, personToken, envelope);
      const metadata = { ...person.metadata, "step-up-proof": proof };
      return answered(await engine.call("RiskEngine", "UpdateEnvelope", envelope, { deadlineMs, metadata }));
    },
    requestHalt: (request) => ask("RequestHalt", request),
    resumeHalt: (request) => ask("ResumeHalt", request),
    listBlocks: (fund_id) => ask("ListBlocks", { fund_id }),
    acceptBlock: (block_id, reason) => ask("AcceptBlock", { block_id, more_block_ids: [], gaps: [], reason }),
    releaseThrottle: (strategy_id, reason) => ask("ReleaseThrottle", { strategy_id, reason }),
    rejections: async (fund_id, count_max = 0) =>
      answered(await queries.call("RiskDesk", "ListRejections", { fund_id, hours: 1, count_max }, { deadlineMs })),
    getReference: async (kind) =>
      answered(await treasury.call("Treasury", "GetReferenceData", { kind }, { deadlineMs })),
    setReference: async (document) => {
      const named = referenceActionOf(document);
      const proof = proofs && { step_up_proof: await grantedProof(proofs, personToken, named) };
      return answered(await treasury.call("Treasury", "SetReferenceData", { ...document, ...proof }, { deadlineMs }));
    },
    close: () => {
      for (const client of [engine, queries, oms, treasury]) client.close();
    },
  };
}

/** Where a part of the platform answers right now. */
export function addressOf(platform: RunningPlatform, part: string): GrpcAddress {
  const text = platform.runFile().addresses[part] ?? "";
  if (text.startsWith("unix:")) return { path: text.slice("unix:".length) };
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

function answered<Answer>({ status, details, answer, metadata }: CallOutcome): Answered<Answer> {
  const code = status === "OK" ? "" : String(metadata.get("portcullis-code")[0] ?? "");
  return { status, code, details, answer: answer as Answer | undefined };
}

function openStream({ client, metadataOf }: ReturnType<typeof testClient>): OrderStream {
  const { path, requestType, responseType } = methodOf("RiskEngine", "CheckOrders");
  const asIs = (bytes: Buffer): Buffer => bytes;
  const decode = (bytes: Buffer): RiskDecision => codecOf(responseType).decode(bytes) as RiskDecision;
  const stream = client.makeBidiStreamRequest(path, asIs, decode, metadataOf({}));
  const answers: RiskDecision[] = [];
  stream.on("data", (decision: RiskDecision) => answers.push(decision));
  // The status that follows says the same.
  stream.on("error", () => undefined);
  return {
    send: (order) => void stream.write(Buffer.from(codecOf(requestType).encode(order).finish())),
    sendBytes: (bytes) => void stream.write(bytes),
    answers,
    ended: new Promise((resolve) => stream.on("status", resolve)),
    end: () => stream.end(),
    cancel: () => stream.cancel(),
  };
}
