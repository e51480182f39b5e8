// The gate that every call passes when its headers arrive, before any other interceptor and long before a handler: a caller
// that opens calls and never completes them would otherwise be counted and timed by nobody.
//  1. From the headers on, a call counts as being answered, until its status is sent or it is gone.
//  2. A request that is not complete within `requestMsMax` is given up; of a stream of requests, the first must come within `callMsMax`.
//     The time it took is taken off the handler's, because `getDeadline` tells when the server's bound ends.
//  3. When a call is over and its caller has not ended its side, the stream is closed, so that it cannot stay half open.
//  4. A status that waits behind messages which the caller does not read waits no longer than `callMsMax`.
//  5. Streams that read the schema are open to anybody: there are so many at once, and each lives so long.
import { constants, type ServerHttp2Stream } from "node:http2";
import {
  type Deadline,
  type Metadata,
  type Responder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
  status,
} from "@grpc/grpc-js";
import { Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Counter, Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import type { LibraryInternals } from "../library-internals/library-internals.ts";
import type { CallConnections } from "./call-connections.ts";
import type { GrpcLimits } from "./limits.ts";
import { reflectionPaths } from "./reflection.ts";
import { failure, statusOf } from "./status.ts";

/** The time that a status has to reach who reads. */
const farewellMs = 1_000;

interface GatePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly metrics: Metrics;
}

interface GateTools {
  /** Told of requests that the library itself refused for their size, which no handler hears of. */
  readonly tooLarge: (metadata: Metadata) => void;
  readonly streamOf: LibraryInternals["streamOf"];
}

export function callGate(
  ports: GatePorts,
  limits: GrpcLimits,
  connections: CallConnections,
  { tooLarge, streamOf }: GateTools,
): ServerInterceptor {
  const refused = refusedCounter(ports.metrics);
  let inFlightCount = 0;
  let schemaStreamCount = 0;
  return (method, call) => {
    const readsSchema = reflectionPaths.includes(method.path);
    const boundMs = ports.clock.now() / 1_000 + limits.callMsMax;
    const completeMs = method.requestStream ? limits.callMsMax : Math.min(limits.callMsMax, limits.requestMsMax);
    let headers: Metadata | undefined;
    let halfClosed = false;
    let gone = false;
    let answered = false;
    let stopClock: CancelTimer = () => undefined;
    let stopWaiting: CancelTimer = () => undefined;
    let stopLife: CancelTimer = () => undefined;
    const refuse = (fault: Fault): void => {
      refused.add(1, { code: fault.code });
      answered = true;
      call.sendStatus(statusOf(failure(fault, requestIdFrom(headers?.get(requestIdHeader)[0], ports.random))));
    };
    /** Who does not read what was answered does not read this either, so the stream is closed. */
    const endOfLife = (): void => {
      if (!answered) refuse(livedTooLong(limits.schemaStreamMsMax));
      stopLife = ports.timers.after(farewellMs, () => closeStream(streamOf(call), constants.NGHTTP2_CANCEL));
    };
    const listener: ServerListener = {
      // Not called for a call that was gone before it began, so whatever is counted here is taken back in onCancel.
      onReceiveMetadata: (metadata, next) => {
        headers = metadata;
        connections.note(metadata, call);
        inFlightCount += 1;
        if (readsSchema) schemaStreamCount += 1;
        if (inFlightCount > limits.callsInFlightMax) return refuse(tooManyCalls(limits.callsInFlightMax));
        if (readsSchema && schemaStreamCount > limits.schemaStreamsMax) {
          return refuse(tooManyReaders(limits.schemaStreamsMax));
        }
        if (readsSchema) stopLife = ports.timers.after(limits.schemaStreamMsMax, endOfLife);
        stopClock = ports.timers.after(completeMs, () => refuse(incomplete(completeMs)));
        return next(metadata);
      },
      onReceiveMessage: (message, next) => {
        if (method.requestStream) stopClock();
        next(message);
      },
      onReceiveHalfClose: (next) => {
        halfClosed = true;
        stopClock();
        next();
      },
      // The library's word for the end of every call, answered ones included.
      onCancel: () => {
        gone = true;
        if (!answered && headers !== undefined && isTooLarge(streamOf(call))) tooLarge(headers);
        if (headers !== undefined) connections.end(headers);
        stopClock();
        stopWaiting();
        stopLife();
        inFlightCount -= 1;
        if (readsSchema) schemaStreamCount -= 1;
        // A turn later: this may run while Node is still reading frames, and closing a stream there corrupts its memory (seen
        // with Node 20.20 as failed assertions inside nghttp2 when the caller's reset crosses ours).
        if (!halfClosed) ports.timers.after(0, () => closeStream(streamOf(call)));
      },
    };
    const sendStatus: Responder["sendStatus"] = (reported, next) => {
      answered = true;
      next(reported);
      if (!method.responseStream || gone) return;
      stopWaiting();
      stopWaiting = ports.timers.after(limits.callMsMax, () => closeStream(streamOf(call), constants.NGHTTP2_CANCEL));
    };
    const responder: Responder = { start: (next) => next(listener), sendStatus };
    return new BoundedCall(call, responder, boundMs);
  };
}

/** A class of its own: a function put on each call would be remembered with the shape of calls, and the call with it. */
class BoundedCall extends ServerInterceptingCall {
  private readonly boundMs: number;

  constructor(call: ServerInterceptingCallInterface, responder: Responder, boundMs: number) {
    super(call, responder);
    this.boundMs = boundMs;
  }

  override getDeadline(): Deadline {
    return Math.min(toMs(super.getDeadline()), this.boundMs);
  }
}

/** The library ends such a call by itself, behind every interceptor: what was sent is all that tells. */
function isTooLarge(stream: ServerHttp2Stream | undefined): boolean {
  const sent = stream?.sentTrailers?.["grpc-status"] ?? stream?.sentHeaders?.["grpc-status"];
  return Number(sent ?? Number.NaN) === status.RESOURCE_EXHAUSTED;
}

/** The one counter of all that is refused, whichever gate refuses it. */
export function refusedCounter(metrics: Metrics): Counter {
  return metrics.counter(
    "portcullis_rpc_refused_total",
    "Calls that a gate refused or ended: too many at once, never complete, or by somebody who may not.",
    ["code"],
  );
}

/** What is left of a call's time. */
export function leftMs(deadline: Deadline, clock: Clock): number {
  return Math.max(0, toMs(deadline) - clock.now() / 1_000);
}

function toMs(deadline: Deadline): number {
  return typeof deadline === "number" ? deadline : deadline.getTime();
}

/**
 * The library has no way to close a stream whose caller does not, so its own is reached for. Without an error code it is
 * closed after everything that was written has left; with one, at once.
 */
function closeStream(stream: ServerHttp2Stream | undefined, code?: number): void {
  if (stream !== undefined && !stream.closed) stream.close(code);
}

function incomplete(ms: number): Fault {
  return new Fault("DEADLINE_EXCEEDED", `The request was not complete within the server's bound of ${ms} ms.`, {
    retry: "later",
  });
}

function tooManyReaders(count: number): Fault {
  const sentence = `${count} others read the schema at the moment. Ask again in a few seconds.`;
  return new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
}

function livedTooLong(ms: number): Fault {
  const sentence = `A stream of questions about the schema ends after ${ms / 1_000} s. Begin another one.`;
  return new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "now" });
}

function tooManyCalls(count: number): Fault {
  return new Fault("RESOURCE_EXHAUSTED", `More than ${count} calls are being answered at once.`, { retry: "later" });
}
