// What a caller over gRPC is told when something goes wrong: a fault by its registered status with its stable code in the
// trailing metadata, and for everything else that it failed inside, without a word of why; the log has that.
import { Metadata, type ServerErrorResponse, type ServerInterceptingCallInterface, status } from "@grpc/grpc-js";
import { answerOf, type Denial, type DenialCode, type FaultCode } from "../../contracts/src/codes.ts";
import { type Facts, Fault, type Retry } from "../../contracts/src/fault.ts";
import { requestIdHeader } from "../http/request-id.ts";

/** Trailing metadata of a failed call: the code of the registry, and whether trying again can help. */
export const codeTrailer = "portcullis-code";
export const retryTrailer = "portcullis-retry";
/** Of a broken chain: what is broken where; of limits that were not loosened: which. As JSON; facts of other faults are for the log and not for callers. */
export const factsTrailer = "portcullis-facts-bin";

type SentStatus = Parameters<ServerInterceptingCallInterface["sendStatus"]>[0];

/** Trailers travel as HTTP/2 headers, whose total size callers bound. */
const messageLengthMax = 1_000;

interface VisiblePart {
  readonly code: FaultCode | DenialCode;
  readonly message: string;
  readonly retry: Retry;
  readonly facts?: Facts;
  readonly loosens?: readonly string[] | undefined;
}

/** A command that the business denied, on its way to its caller. */
export class DeniedCall extends Error {
  override readonly name = "DeniedCall";
  readonly denial: Denial;
  /** The service has reported the attempt itself. */
  readonly isReported: boolean;

  constructor(denial: Denial, isReported = false) {
    super(denial.reason);
    this.denial = denial;
    this.isReported = isReported;
  }
}

export function failure(thrown: unknown, requestId: string): ServerErrorResponse {
  const { code, message, retry, facts, loosens } = visiblePart(thrown, requestId);
  const metadata = new Metadata();
  metadata.set(codeTrailer, code);
  metadata.set(retryTrailer, retry);
  metadata.set(requestIdHeader, requestId);
  if (code === "CHAIN_INTEGRITY" && facts !== undefined) metadata.set(factsTrailer, factsBytes(facts));
  if (loosens !== undefined) metadata.set(factsTrailer, Buffer.from(JSON.stringify({ loosens }), "utf8"));
  const details = wellFormed(message);
  return Object.assign(new Error(details), { code: status[answerOf(code).grpc], details, metadata });
}

function visiblePart(thrown: unknown, requestId: string): VisiblePart {
  if (thrown instanceof DeniedCall) {
    const { code, loosens } = thrown.denial;
    return { code, message: thrown.message, retry: "never", loosens };
  }
  return thrown instanceof Fault ? thrown : internal(requestId);
}

/** The same in the form that interceptors send. */
export function statusOf({ code, details, metadata }: ServerErrorResponse): SentStatus {
  return { code: code ?? status.UNKNOWN, details: details ?? "", metadata: metadata ?? null };
}

function internal(requestId: string): Fault {
  return new Fault("INTERNAL", `Internal error; the log has the reason under request id ${requestId}.`, {
    retry: "later",
  });
}

function factsBytes(facts: Facts): Buffer {
  const bounded = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, messageLengthMax) : value,
  ]);
  return Buffer.from(JSON.stringify(Object.fromEntries(bounded)), "utf8");
}

/** A lone half of a surrogate pair cannot be encoded, and the library would throw on it. */
function wellFormed(message: string): string {
  return Buffer.from(message.slice(0, messageLengthMax), "utf8").toString("utf8");
}
