// How the gateway asks the services on a caller's behalf: any unary procedure by service and method name, with the caller's own token, over
// channels that stay open. What a service denied comes back as that denial and what failed as that fault, each under the code that the
// service gave, so that a caller over HTTP reads the same code as one over gRPC. A service that is not there is named.

import { Client, type ClientOptions, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { codeEntry, type Denial, type FaultCode, isFaultCode } from "../../contracts/src/codes.ts";
import { Defect, type Facts, Fault, type Retry } from "../../contracts/src/fault.ts";
import { idempotencyKeyHeader, idempotencyPathHeader, replayHeader } from "../../contracts/src/idempotency.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { answering } from "../../contracts/src/served-by.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Outcome } from "../../ports/identity.ts";
import { requestIdHeader } from "../http/request-id.ts";
import { distrustIn, type PeerSecurity, peerCredentials } from "../tls/peer-security.ts";
import { authorizationHeader } from "./bearer-token.ts";
import { codecOf, methodOf } from "./definitions.ts";
import { codeTrailer, factsTrailer, retryTrailer } from "./status.ts";
import { stepUpProofHeader } from "./unary.ts";

interface RpcClientOptions {
  /** Where each process answers, by its name: "127.0.0.1:50051" or "unix:/path/of/a.sock". */
  readonly targets: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** How those on other machines are spoken to; in clear text when absent. */
  readonly security?: PeerSecurity | undefined;
}

export interface RpcCallOptions {
  /** The caller's own token; the service judges it as if the caller had come by themselves. */
  readonly bearer: string | undefined;
  readonly timeoutMs: number;
  /** Follows the call into the service's log. */
  readonly requestId?: string;
  readonly signal?: AbortSignal;
  /** The caller's proof of a second factor for this request. */
  readonly stepUpProof?: string;
  /** The caller's idempotency key; hears when the answer is the first one, given again. */
  readonly idempotency?: { readonly key: string; readonly path: string; replayed(): void } | undefined;
}

export interface RpcClient {
  /** Rejects with a Fault when the world said no; a denial is an answer. */
  call(service: string, method: string, request: object, options: RpcCallOptions): Promise<Outcome<unknown>>;
  close(): void;
}

/** Streams in both directions that may be asked one thing: on the wire, one question and its answer are the same as a unary call. */
const askedOnce: ReadonlySet<string> = new Set(["/svc.v1.AuditDesk/TailAudit"]);

const channelOptions: ClientOptions = {
  // A service that comes back is found within about a second.
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.use_local_subchannel_pool": 1,
  // A request that changes something must not be sent twice by a library.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.max_receive_message_length": 16 * 1_048_576,
};

export function createRpcClient(options: RpcClientOptions): RpcClient {
  const clients = new Map(
    Object.entries(options.targets).map(([name, target]) => [
      name,
      new Client(target, peerCredentials(target, options.security), channelOptions),
    ]),
  );
  return {
    call: async (service, method, request, callOptions) => {
      const process = answering(service, method, (name) => clients.has(name));
      if (process === undefined) throw new Defect(`Nobody is known to answer for the service ${service}.`);
      const client = clients.get(process);
      if (client === undefined)
        throw unavailable(
          process,
          `runs nowhere that is known here: PORTCULLIS_SERVICES leaves it out, and rpc.${process} names no other place`,
        );
      return ask(client, { process, service, method, request }, callOptions, options.clock);
    },
    close: () => {
      for (const client of clients.values()) client.close();
    },
  };
}

interface Question {
  readonly process: string;
  readonly service: string;
  readonly method: string;
  readonly request: object;
}

async function ask(
  client: Client,
  question: Question,
  options: RpcCallOptions,
  clock: Clock,
): Promise<Outcome<unknown>> {
  const method = methodOf(question.service, question.method);
  const isStream = method.requestStream || method.responseStream;
  if (isStream && !askedOnce.has(method.path)) throw new Defect(`${method.path} is a stream.`);
  // Encoded here and not by the library, so that a message of ours that cannot be encoded is our failure and not the service's.
  const request = Buffer.from(codecOf(method.requestType).encode(question.request).finish());
  const response = codecOf(method.responseType);
  const { signal, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const made = client.makeUnaryRequest(
      method.path,
      (bytes: Buffer) => bytes,
      (bytes) => response.decode(bytes),
      request,
      metadataOf(options),
      { deadline: clock.now() / 1_000 + timeoutMs },
      (error, answer) => {
        signal?.removeEventListener("abort", hangUp);
        if (error !== null && trailer(error, replayHeader) === "true") options.idempotency?.replayed();
        if (error === null) resolve({ ok: true, value: answer });
        else settle(error, question.process, timeoutMs, resolve, reject);
      },
    );
    if (options.idempotency !== undefined) {
      made.on("metadata", (sent: Metadata) => {
        if (sent.get(replayHeader)[0] === "true") options.idempotency?.replayed();
      });
    }
    const hangUp = (): void => made.cancel();
    signal?.addEventListener("abort", hangUp, { once: true });
    if (signal?.aborted === true) hangUp();
  });
}

function metadataOf({ bearer, requestId, stepUpProof, idempotency }: RpcCallOptions): Metadata {
  const metadata = new Metadata();
  if (bearer !== undefined) metadata.set(authorizationHeader, `Bearer ${bearer}`);
  if (requestId !== undefined) metadata.set(requestIdHeader, requestId);
  if (stepUpProof !== undefined) metadata.set(stepUpProofHeader, stepUpProof);
  if (idempotency !== undefined) {
    metadata.set(idempotencyKeyHeader, idempotency.key);
    metadata.set(idempotencyPathHeader, idempotency.path);
  }
  return metadata;
}

function settle(
  error: ServiceError,
  process: string,
  timeoutMs: number,
  resolve: (outcome: Outcome<unknown>) => void,
  reject: (fault: Fault) => void,
): void {
  const code = trailer(error, codeTrailer);
  const entry = code === undefined ? undefined : codeEntry(code);
  if (code !== undefined && entry?.kind === "denial") {
    // The registry has just said what kind of code it is.
    const { loosens } = factsOf(error) as Pick<Denial, "loosens">;
    const denial: Denial = { code: code as Denial["code"], reason: error.details };
    resolve({ ok: false, denial: loosens === undefined ? denial : { ...denial, loosens } });
  } else if (code !== undefined && isFaultCode(code)) {
    reject(new Fault(code, error.details, { retry: retryOf(error), facts: factsOf(error), cause: error }));
  } else {
    reject(unspoken(error, process, timeoutMs));
  }
}

/** What the channel or the library said; the service itself gave no code. */
function unspoken(error: ServiceError, process: string, timeoutMs: number): Fault {
  switch (error.code) {
    case status.UNAVAILABLE:
      return unavailable(process, distrustIn(error.details) ?? "does not answer", error);
    case status.DEADLINE_EXCEEDED:
      return later("DEADLINE_EXCEEDED", `The service ${process} did not answer within ${timeoutMs} ms.`, error);
    case status.CANCELLED:
      return later("CANCELLED", `The question to the service ${process} was given up.`, error);
    case status.RESOURCE_EXHAUSTED:
      return later("RESOURCE_EXHAUSTED", `The service ${process} has more to do than it can, or said too much.`, error);
    case status.UNIMPLEMENTED:
      return new Fault("UNIMPLEMENTED", `The service ${process} does not know this procedure.`, {
        retry: "never",
        cause: error,
      });
    default:
      return later("INTERNAL", `The service ${process} failed; its log has the reason.`, error);
  }
}

function unavailable(process: string, how: string, cause?: unknown): Fault {
  return later("SERVICE_UNAVAILABLE", `The service ${process} ${how}.`, cause);
}

function later(code: FaultCode, sentence: string, cause: unknown): Fault {
  return new Fault(code, sentence, { retry: "later", ...(cause === undefined ? {} : { cause }) });
}

function trailer(error: ServiceError, name: string): string | undefined {
  const [value] = error.metadata?.get(name) ?? [];
  return value === undefined ? undefined : String(value);
}

function factsOf(error: ServiceError): Facts {
  const [value] = error.metadata?.get(factsTrailer) ?? [];
  // Our own services write it, and one that we cannot read is a defect of theirs that must not hide the fault itself.
  return Buffer.isBuffer(value) ? (parseJson(value.toString("utf8")) as Facts) : {};
}

function retryOf(error: ServiceError): Retry {
  const said = trailer(error, retryTrailer);
  return said === "now" || said === "never" ? said : "later";
}
