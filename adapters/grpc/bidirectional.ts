// One procedure that is a stream in both directions: every request gets one answer, by the same kind of handler as a unary procedure
// has, and each answer leaves when it is ready, so that one slow request holds up no other.
//  1. At most `streamRequestsInFlightMax` requests of a stream are unanswered; further ones are left unread until some are answered, and
//     none are read while the caller does not take its answers.
//  2. The first request that fails ends the stream with its status; answers that were ready before it have been sent.
//  3. The signal aborts when the stream is over, however it ended, and nothing is sent after that.
//  4. A stream whose requests get no answer at all for `callMsMax` is ended; one that is idle may stay.
import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";
import { Fault } from "../../contracts/src/fault.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { withinBounds } from "./guard/within-bounds.ts";
import { HangUp } from "./hang-up.ts";
import type { GrpcLimits } from "./limits.ts";
import { failure } from "./status.ts";
import {
  answerBytes,
  answerTo,
  callerOf,
  callObserver,
  countIfMalformed,
  decode,
  HandledCall,
  type IdentityOf,
  type RpcPorts,
  report,
  statusNameOf,
  tooLarge,
  type UnaryProcedure,
  withRequestId,
} from "./unary.ts";

export type BidirectionalMounter = (procedure: UnaryProcedure) => handleBidiStreamingCall<Buffer, Buffer>;

export function bidirectionalMounter(
  ports: RpcPorts,
  limits: GrpcLimits,
  identityOf: IdentityOf,
): BidirectionalMounter {
  const observe = callObserver(ports);
  const answered = ports.metrics.counter("portcullis_rpc_stream_answers_total", "Answers sent over streams.", [
    "method",
  ]);
  return (procedure) => (call) => {
    const requestId = requestIdFrom(call.metadata.get(requestIdHeader)[0], ports.random);
    const startedAt = ports.clock.now();
    const hangUp = new HangUp();
    const stream = { inFlightCount: 0, answeredCount: 0, requestsEnded: false, over: false };
    let stopWatch: CancelTimer = () => undefined;
    let actor: string | undefined;

    const end = (statusName: string): boolean => {
      if (stream.over) return false;
      stream.over = true;
      stopWatch();
      observe(procedure, { requestId, actor }, statusName, startedAt);
      answered.add(stream.answeredCount, { method: procedure.method.name });
      hangUp.end();
      return true;
    };
    const fail = (thrown: unknown): void => {
      const reported = failure(thrown, requestId);
      if (!end(statusNameOf(reported.code))) return;
      call.pause();
      call.emit("error", reported);
      report(thrown, procedure, requestId, ports);
      countIfMalformed(thrown, actor, ports);
    };
    const endWhenAnswered = (): void => {
      if (stream.requestsEnded && stream.inFlightCount === 0 && end("OK")) call.end();
    };
    const answer = (bytes: Buffer): void => {
      stream.inFlightCount -= 1;
      if (stream.over) return;
      stream.answeredCount += 1;
      // A caller that does not read is not read from either: the reading goes on when what was written has left.
      if (!call.write(bytes)) waitForDrain(call, stream, limits);
      else if (call.isPaused() && stream.inFlightCount < limits.streamRequestsInFlightMax) call.resume();
      endWhenAnswered();
    };
    const watch = (answeredBefore: number): void => {
      stopWatch = ports.timers.after(limits.callMsMax, () => {
        if (stream.inFlightCount > 0 && stream.answeredCount === answeredBefore) fail(tookTooLong(limits.callMsMax));
        else watch(stream.answeredCount);
      });
    };

    call.once("cancelled", () => end("CANCELLED"));
    try {
      const identity = callerOf(identityOf, call.metadata, procedure);
      actor = identity.actor;
      call.sendMetadata(withRequestId(requestId));
      watch(-1);
      call.on("data", (bytes: Buffer) => {
        if (stream.over) return;
        if (bytes.length > limits.receiveBytesMax) {
          fail(tooLarge(bytes, limits));
          return;
        }
        stream.inFlightCount += 1;
        if (stream.inFlightCount >= limits.streamRequestsInFlightMax) call.pause();
        handle(procedure, new HandledCall(requestId, identity, bytes, hangUp), ports).then(answer, fail);
      });
      call.once("end", () => {
        stream.requestsEnded = true;
        endWhenAnswered();
      });
    } catch (thrown) {
      fail(thrown);
    }
  };
}

async function handle(procedure: UnaryProcedure, call: RpcCall, ports: RpcPorts): Promise<Buffer> {
  const taken = withinBounds(procedure.method.requestType, call.requestBytes);
  return answerBytes(procedure, await answerTo(procedure, decode(procedure, taken), call, ports));
}

function waitForDrain(
  call: ServerDuplexStream<Buffer, Buffer>,
  stream: { readonly inFlightCount: number; readonly over: boolean },
  limits: GrpcLimits,
): void {
  call.pause();
  if (call.listenerCount("drain") > 0) return;
  call.once("drain", () => {
    if (!stream.over && stream.inFlightCount < limits.streamRequestsInFlightMax) call.resume();
  });
}

function tookTooLong(ms: number): Fault {
  return new Fault("DEADLINE_EXCEEDED", `No request of the stream was answered for ${ms} ms.`, { retry: "later" });
}
