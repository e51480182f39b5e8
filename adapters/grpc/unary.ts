// One unary procedure: bytes in, the service's handler, bytes out. Around the handler stand the request id, the bound on
// time, the span, the figures and the translation of whatever was thrown. How many calls there may be at once, and whose, is the
// business of the gates, which saw the call before. Decoding and encoding happen here and not in the gRPC library, so that bytes
// that are no message are the caller's mistake by name, and an answer that cannot be encoded is ours and lands in the log.
import { type handleUnaryCall, Metadata, status } from "@grpc/grpc-js";
import { isOperation } from "../../contracts/src/authority.ts";
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import { replayHeader } from "../../contracts/src/idempotency.ts";
import type { TellRefusal } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Identity } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { DeniedAnswer, EncodedAnswer, RpcCall, UnaryHandler } from "../../ports/rpc.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Tracer } from "../../ports/tracer.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { attemptSubject } from "../listener/attempt-subject.ts";
import type { BadRequests } from "../listener/bad-requests.ts";
import type { OncePerKey } from "../records/once-per-key.ts";
import type { TurnOfCall } from "./asked-in-turn.ts";
import { leftMs } from "./call-gate.ts";
import { decodeStrictly, type MessageCodec } from "./codecs.ts";
import type { DescribedMethod } from "./descriptor-set.ts";
import type { FundGuard } from "./guard/fund-guard.ts";
import { withinBounds } from "./guard/within-bounds.ts";
import { HangUp } from "./hang-up.ts";
import { callOnce, keyedWork } from "./keyed-call.ts";
import type { GrpcLimits } from "./limits.ts";
import { DeniedCall, failure } from "./status.ts";
import { refuseLossyStructs } from "./strict-struct.ts";

/** A proof of the second factor travels beside the request, so that no message that is stored or published can carry it. */
export const stepUpProofHeader = "step-up-proof";

export interface RpcPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly crash: Crash;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly badRequests?: BadRequests;
  /** Told of known callers who were refused. */
  readonly tellRefusal?: TellRefusal;
  /** Makes calls with an idempotency key one; without it no key is known. */
  readonly oncePerKey?: OncePerKey;
  /** What is asked begins at once without it. */
  readonly turnOfCall?: TurnOfCall;
}

export interface UnaryProcedure {
  readonly service: string;
  readonly method: DescribedMethod;
  readonly request: MessageCodec;
  readonly response: MessageCodec;
  readonly handler: UnaryHandler;
  readonly guard: FundGuard;
}

/** Makes handlers that share their figures and bounds. */
export type UnaryMounter = (procedure: UnaryProcedure) => handleUnaryCall<Buffer, Buffer>;

/** Who made the call that came with this metadata, as the identity gate found. */
export type IdentityOf = (metadata: Metadata) => Identity | undefined;

export function unaryMounter(ports: RpcPorts, limits: GrpcLimits, identityOf: IdentityOf): UnaryMounter {
  const observe = callObserver(ports);
  return (procedure) => (call, callback) => {
    const requestId = requestIdFrom(call.metadata.get(requestIdHeader)[0], ports.random);
    const startedAt = ports.clock.now();
    const identity = identityOf(call.metadata);
    const hangUp = new HangUp();
    let settled = false;
    let replayed = false;
    const settle = (statusName: string, answer: () => void): void => {
      if (settled) return;
      settled = true;
      cancelTimeout();
      observe(procedure, { requestId, actor: identity?.actor }, statusName, startedAt);
      answer();
    };
    const fail = (thrown: unknown): void => {
      const reported = failure(thrown, requestId);
      if (replayed) reported.metadata?.set(replayHeader, "true");
      settle(statusNameOf(reported.code), () => callback(reported));
      report(thrown, procedure, requestId, ports);
      countIfMalformed(thrown, identity?.actor, ports);
      if (identity !== undefined) tellIfRefused(thrown, procedure, identity, call.request, ports);
    };
    // The clock has been running since the headers came.
    const cancelTimeout = ports.timers.after(
      Math.min(limits.callMsMax, leftMs(call.getDeadline(), ports.clock)),
      () => {
        fail(tookTooLong(limits.callMsMax));
        hangUp.end();
      },
    );
    call.once("cancelled", () => {
      settle("CANCELLED", () => undefined);
      hangUp.end();
    });
    if (identity === undefined) {
      fail(nobody(procedure));
      return;
    }
    if (call.request.length > limits.receiveBytesMax) {
      fail(tooLarge(call.request, limits));
      return;
    }
    let taken: Uint8Array;
    try {
      taken = withinBounds(procedure.method.requestType, call.request);
    } catch (thrown) {
      fail(thrown);
      return;
    }
    const rpcCall = new HandledCall(requestId, identity, taken, hangUp, call.metadata);
    const markReplayed = (): void => {
      replayed = true;
    };
    const turn = ports.turnOfCall?.(identity, procedure.method.name);
    const runNow = () => runOnce(procedure, rpcCall, call.metadata, ports, markReplayed);
    (turn === undefined ? runNow() : turn.then(runNow)).then((bytes) => {
      settle("OK", () => {
        const sent = withRequestId(requestId);
        if (replayed) sent.set(replayHeader, "true");
        call.sendMetadata(sent);
        callback(null, bytes);
      });
    }, fail);
  };
}

/** The signal stays unmade until the handler looks at it. */
export class HandledCall implements RpcCall {
  readonly requestId: string;
  readonly identity: Identity;
  readonly requestBytes: Uint8Array;
  private readonly hangUp: HangUp;
  private readonly metadata: Metadata | undefined;

  constructor(requestId: string, identity: Identity, requestBytes: Uint8Array, hangUp: HangUp, metadata?: Metadata) {
    this.requestId = requestId;
    this.identity = identity;
    this.requestBytes = requestBytes;
    this.hangUp = hangUp;
    this.metadata = metadata;
  }

  get stepUpProof(): string | undefined {
    const [proof] = this.metadata?.get(stepUpProofHeader) ?? [];
    return proof === undefined ? undefined : String(proof);
  }

  get signal(): AbortSignal {
    return this.hangUp.signal;
  }

  isGone(): boolean {
    return this.hangUp.isGone();
  }
}

function nobody({ method }: UnaryProcedure): Defect {
  return new Defect(`${method.path} was reached by nobody in particular.`);
}

/** Sent again it is as large as before. */
export function tooLarge({ length }: Uint8Array, { receiveBytesMax }: GrpcLimits): Fault {
  const sentence = `The message has ${length} bytes, and at most ${receiveBytesMax} are taken: send a smaller one.`;
  return new Fault("MESSAGE_TOO_LARGE", sentence, { retry: "never" });
}

/** No handler is reached without a caller; the identity gate saw to that. */
export function callerOf(identityOf: IdentityOf, metadata: Metadata, procedure: UnaryProcedure): Identity {
  const identity = identityOf(metadata);
  if (identity === undefined) throw nobody(procedure);
  return identity;
}

async function runOnce(
  procedure: UnaryProcedure,
  call: HandledCall,
  metadata: Metadata,
  ports: RpcPorts,
  replayed: () => void,
): Promise<Buffer> {
  const { oncePerKey } = ports;
  const name = `${procedure.service}/${procedure.method.name}`;
  const asked = oncePerKey === undefined ? undefined : keyedWork({ name, call, metadata });
  if (oncePerKey === undefined || asked === undefined) return run(procedure, call, ports);
  // Bytes that are no message never take a key, and who may not is not answered from one either.
  await procedure.guard.mustBeTheirs(decode(procedure, call.requestBytes), call, ports.tellRefusal);
  const lasting = new HandledCall(call.requestId, call.identity, call.requestBytes, new HangUp(), metadata);
  return callOnce(oncePerKey, asked, () => run(procedure, lasting, ports), replayed);
}

async function run(procedure: UnaryProcedure, call: RpcCall, ports: RpcPorts): Promise<Buffer> {
  const { service, method } = procedure;
  const request = decode(procedure, call.requestBytes);
  const fields = { service, method: method.name, request_id: call.requestId };
  const answer = await ports.tracer.span(`${service}/${method.name}`, fields, () =>
    answerTo(procedure, request, call, ports),
  );
  return answerBytes(procedure, answer);
}

/** The handler's answer, behind the guard of funds when the caller's token names any. */
export function answerTo(
  { handler, guard }: UnaryProcedure,
  request: unknown,
  call: RpcCall,
  { tellRefusal }: Pick<RpcPorts, "tellRefusal">,
): Promise<unknown> {
  if (call.identity.funds === undefined) return handler(request as never, call);
  return guardedAnswer(guard, handler, request, call, tellRefusal);
}

async function guardedAnswer(
  guard: FundGuard,
  handler: UnaryHandler,
  request: unknown,
  call: RpcCall,
  tellRefusal: TellRefusal | undefined,
): Promise<unknown> {
  await guard.mustBeTheirs(request, call, tellRefusal);
  return guard.theirPart(await handler(request as never, call), call);
}

/** What goes out: an answer's bytes. A denial is thrown, because it goes out as a status. */
export function answerBytes(procedure: UnaryProcedure, answer: unknown): Buffer {
  if (typeof answer === "object" && answer !== null) {
    if ("encoded" in answer) return asBuffer((answer as EncodedAnswer).encoded);
    if ("denial" in answer) {
      const { denial, isReported } = answer as DeniedAnswer;
      throw new DeniedCall(denial, isReported);
    }
  }
  return asBuffer(procedure.response.encode(answer).finish());
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function decode(procedure: Pick<UnaryProcedure, "request" | "method">, bytes: Uint8Array): unknown {
  try {
    const message = decodeStrictly(procedure.request, bytes);
    refuseLossyStructs(procedure.method.requestType, bytes);
    return message;
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault("INVALID_ARGUMENT", `The bytes are not a ${procedure.method.requestType}: ${messageOf(thrown)}.`, {
      retry: "never",
      cause: thrown,
    });
  }
}

/** A fault is an answer, and so is a denial; anything else is a failure of ours that the log must know, and a defect ends the program. */
export function report(thrown: unknown, procedure: UnaryProcedure, requestId: string, ports: RpcPorts): void {
  if (thrown instanceof Fault || thrown instanceof DeniedCall) return;
  const { service, method } = procedure;
  ports.log.error("RPC failed", { service, method: method.name, request_id: requestId, error: thrown });
  // One turn later, so that the caller has a fair chance to hear that it was not answered.
  if (thrown instanceof Defect) ports.timers.after(0, () => ports.crash.die(thrown));
}

/** A request that makes no sense is its caller's, whether the bytes or the service says so. */
export function countIfMalformed(thrown: unknown, actor: string | undefined, { badRequests }: RpcPorts): void {
  if (!(thrown instanceof Fault)) return;
  if (thrown.code === "INVALID_ARGUMENT") badRequests?.count("malformed", actor);
  if (thrown.code === "MESSAGE_TOO_LARGE") badRequests?.count("oversized", actor);
}

/** What a service denied or took for a mistake is an attempt of the operator who asked, unless the service reported it. */
function tellIfRefused(
  thrown: unknown,
  procedure: UnaryProcedure,
  identity: Identity,
  bytes: Uint8Array,
  ports: RpcPorts,
): void {
  const { method } = procedure;
  if (identity.kind !== "operator" || !isOperation(method.name)) return;
  if (!(thrown instanceof DeniedCall || thrown instanceof Fault)) return;
  const reported = { identity, operation: method.name, target: method.path, about: subjectOf(procedure, bytes) };
  if (thrown instanceof DeniedCall) {
    if (!thrown.isReported) ports.tellRefusal?.({ ...reported, ...thrown.denial });
  } else if (thrown.retry === "never" && !thrown.isReported) {
    ports.tellRefusal?.({ ...reported, code: thrown.code, reason: thrown.message });
  }
}

/** Decoded a second time, because refusals are few; bytes that are no message name nothing. */
function subjectOf({ request, method }: UnaryProcedure, bytes: Uint8Array): string | undefined {
  try {
    return attemptSubject(request.decode(withinBounds(method.requestType, bytes)));
  } catch {
    // That they are no message is what the caller has just been told.
    return undefined;
  }
}

export function callObserver(ports: RpcPorts) {
  const seconds = ports.metrics.histogram(
    "portcullis_rpc_seconds",
    "Time from a whole request to its answer.",
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    ["rpc_service", "method", "status"],
  );
  return (
    { service, method }: UnaryProcedure,
    { requestId, actor }: { readonly requestId: string; readonly actor: string | undefined },
    statusName: string,
    startedAt: number,
  ): void => {
    const tookSeconds = Math.max(0, (ports.clock.now() - startedAt) / 1_000_000);
    seconds.observe(tookSeconds, { rpc_service: service, method: method.name, status: statusName });
    ports.log.debug("RPC answered", {
      rpc_service: service,
      method: method.name,
      request_id: requestId,
      actor,
      status: statusName,
      took_ms: tookSeconds * 1_000,
    });
  };
}

export function withRequestId(requestId: string): Metadata {
  const metadata = new Metadata();
  metadata.set(requestIdHeader, requestId);
  return metadata;
}

export function statusNameOf(code: number | null | undefined): string {
  return status[code ?? status.UNKNOWN] ?? "UNKNOWN";
}

function tookTooLong(ms: number): Fault {
  return new Fault("DEADLINE_EXCEEDED", `The call took longer than its caller's bound or the server's of ${ms} ms.`, {
    retry: "later",
  });
}
