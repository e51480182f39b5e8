// The gate behind the call gate: who is calling, and may they? It answers when the headers are there, before a byte of a message is
// read and before any handler, and nothing passes that the table of authority does not let through.
//  1. A path without a row reaches no handler, whoever registered it: it is UNIMPLEMENTED, and UNAUTHENTICATED to strangers.
//  2. Where anyone may call, a token is not looked at.
//  3. A stream lives no longer than its caller's right to it. It is checked again and again; once refused, no message passes in
//     either direction, also while the caller has not taken the status yet.
//  4. An identity that the verifier knows by heart costs one turn of the microtask queue.
import {
  type Metadata,
  type Responder,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerListener,
} from "@grpc/grpc-js";
import { mayCall, type Operation, revocationMsMax, whyNot, whyNotOfFunds } from "../../contracts/src/authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { RefusedAttempt, TellRefusal } from "../../ports/attempts.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Identity, Verifier } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import { requestIdFrom, requestIdHeader } from "../http/request-id.ts";
import { standingOf } from "../listener/connection-limit.ts";
import { stranger } from "../listener/refused-attempts.ts";
import { sampledLines } from "../log/sampled-lines.ts";
import { authorizationHeader, bearerToken } from "./bearer-token.ts";
import type { CallConnections } from "./call-connections.ts";
import { refusedCounter } from "./call-gate.ts";
import type { GrpcLimits } from "./limits.ts";
import { refusalFloods } from "./refusal-floods.ts";
import { failure, statusOf } from "./status.ts";

interface IdentityPorts {
  readonly verifier: Verifier;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crash: Crash;
  /** Told of callers who may not. */
  readonly tellRefusal?: TellRefusal;
}

interface IdentityGate {
  readonly interceptor: ServerInterceptor;
  /** Who made the call that came with this metadata. */
  identityOf(metadata: Metadata): Identity | undefined;
}

// On the metadata itself, as in call-connections.
const known = Symbol("identity");

type Known = Metadata & { [known]?: Identity };

export function identityGate(
  ports: IdentityPorts,
  guards: ReadonlyMap<string, Operation>,
  { reverifyMs, refusalsPerConnectionMax }: Pick<GrpcLimits, "reverifyMs" | "refusalsPerConnectionMax">,
  connections: CallConnections,
): IdentityGate {
  const tell = refusalReporter(ports);
  const floods = refusalFloods(ports.timers, refusalsPerConnectionMax);
  const interceptor: ServerInterceptor = (method, call) => {
    const operation = guards.get(method.path);
    if (operation !== undefined && mayCall(operation, undefined)) return new ServerInterceptingCall(call);
    let connection: ReturnType<CallConnections["of"]>;
    let headers: Metadata | undefined;
    const ownObjection = (identity: Identity): Fault | undefined => {
      if (headers === undefined || standingOf(identity) !== "own") return undefined;
      const sentence = connections.objectionToOwn(headers);
      return sentence === undefined ? undefined : new Fault("UNAUTHENTICATED", sentence, { retry: "never" });
    };
    let over = false;
    let stopTimer: CancelTimer = () => undefined;
    const end = (): void => {
      over = true;
      stopTimer();
    };
    const refuse = (thrown: unknown, requestId: string, identity?: Identity): void => {
      if (over) return;
      end();
      call.sendStatus(statusOf(failure(thrown, requestId)));
      tell(thrown, method.path, requestId, identity);
      floods.refused(connection, thrown);
    };
    const record = (thrown: unknown, identity: RefusedAttempt["identity"]): void => {
      if (operation === undefined || !(thrown instanceof Fault) || thrown.retry !== "never") return;
      const { code, message: reason } = thrown;
      ports.tellRefusal?.({ identity, operation, target: method.path.slice(0, pathLengthMax), code, reason });
    };
    const check = (token: string, requestId: string, pass: (identity: Identity) => void, known?: Identity): void => {
      const judge = (identity: Identity): void => {
        stopTimer();
        if (over) return;
        const objection = ownObjection(identity) ?? objectionTo(identity, operation, method.path);
        if (objection === undefined) {
          pass(identity);
          return;
        }
        refuse(objection, requestId, identity);
        record(objection, identity);
      };
      const turnAway = (thrown: unknown): void => {
        if (!over && known === undefined) record(thrown, stranger);
        refuse(thrown, requestId, known);
      };
      ports.verifier.verify(token).then(judge, turnAway);
    };
    const watch = (token: string, requestId: string, identity: Identity): void => {
      stopTimer = ports.timers.after(reverifyMs, () => {
        stopTimer = ports.timers.after(revocationMsMax, () => refuse(noAnswer(), requestId, identity));
        check(token, requestId, (again) => watch(token, requestId, again), identity);
      });
    };
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        connection = connections.of(metadata);
        headers = metadata;
        // Kept where the handler looks for it, so that a call has one id from its beginning to its end.
        const requestId = requestIdFrom(metadata.get(requestIdHeader)[0], ports.random);
        metadata.set(requestIdHeader, requestId);
        const token = tokenOf(metadata);
        if (token instanceof Fault) {
          record(token, stranger);
          return refuse(token, requestId);
        }
        return check(token, requestId, (identity) => {
          (metadata as Known)[known] = identity;
          floods.passed(connection);
          connections.know(metadata, identity);
          // Tokens of our own processes are never revoked, only renewed: what was opened with one goes on when it ends.
          const isWatched = (method.requestStream || method.responseStream) && standingOf(identity) !== "own";
          if (isWatched) watch(token, requestId, identity);
          next(metadata);
        });
      },
      onReceiveMessage: (message, next) => (over ? undefined : next(message)),
      onReceiveHalfClose: (next) => (over ? undefined : next()),
      onCancel: end,
    };
    return new ServerInterceptingCall(
      call,
      responderOf(listener, () => over, end),
    );
  };
  return { interceptor, identityOf: (metadata) => (metadata as Known)[known] };
}

/** What a handler still says after its caller was refused is not sent, and after its own status nobody is checked any more. */
function responderOf(listener: ServerListener, isOver: () => boolean, end: () => void): Responder {
  return {
    start: (next) => next(listener),
    sendMetadata: (metadata, next) => (isOver() ? undefined : next(metadata)),
    sendMessage: (message, next) => (isOver() ? undefined : next(message)),
    sendStatus: (status, next) => {
      if (isOver()) return;
      end();
      next(status);
    },
  };
}

/** Nobody behind this gate needs the token itself. */
function tokenOf(metadata: Metadata): string | Fault {
  try {
    return bearerToken(metadata);
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  } finally {
    metadata.remove(authorizationHeader);
  }
}

function objectionTo(identity: Identity, operation: Operation | undefined, path: string): Fault | undefined {
  if (operation === undefined) {
    return new Fault("UNIMPLEMENTED", `There is no procedure ${path} on this server.`, { retry: "never" });
  }
  if (!mayCall(operation, identity))
    return new Fault("PERMISSION_DENIED", whyNot(operation), { retry: "never", facts: { operation } });
  const ofFunds = whyNotOfFunds(operation, identity);
  return ofFunds === undefined
    ? undefined
    : new Fault("FUND_NOT_YOURS", ofFunds, { retry: "never", facts: { operation } });
}

function noAnswer(): Fault {
  return new Fault("IDENTITY_UNAVAILABLE", "Whether your token still holds could not be found out in time.", {
    retry: "later",
  });
}

/** A path is as long as its caller likes; a log line is not. */
const pathLengthMax = 200;

function refusalReporter({ log, metrics, crash, timers }: IdentityPorts) {
  const refused = refusedCounter(metrics);
  const write = sampledLines(log, timers, "more RPCs were refused in this second");
  return (thrown: unknown, path: string, requestId: string, identity: Identity | undefined): void => {
    const code = thrown instanceof Fault ? thrown.code : "INTERNAL";
    refused.add(1, { code });
    const fields = {
      method: path.slice(0, pathLengthMax),
      request_id: requestId,
      code,
      ...(identity === undefined ? {} : { actor: identity.actor }),
    };
    if (thrown instanceof Fault) {
      write("info", "RPC refused", fields);
      return;
    }
    write("error", "RPC refused, because its caller could not be checked", { ...fields, error: thrown });
    // One turn later, so that the caller has a fair chance to hear that it was not answered.
    if (thrown instanceof Defect) timers.after(0, () => crash.die(thrown));
  };
}
