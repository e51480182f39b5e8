// A bare gRPC client for tests: calls any procedure of the protos, or raw bytes on any path, and gives back everything that
// a caller can see.
import {
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { codecOf, methodOf } from "../../adapters/grpc/definitions.ts";
import type { GrpcAddress } from "../../adapters/grpc/listener.ts";
import { addressText } from "../../adapters/http/listen.ts";
import { systemClock } from "../../adapters/system/clock.ts";

export interface CallOutcome {
  /** "OK", "UNIMPLEMENTED", … */
  readonly status: string;
  readonly details: string;
  readonly answer: unknown;
  /** Initial metadata of a success, trailing metadata of a failure. */
  readonly metadata: Metadata;
}

export interface CallOptions {
  /** Also `authorization`, instead of the client's own token. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  /** Sent instead of an encoded message. */
  readonly bytes?: Buffer;
}

export interface TestClientOptions extends ClientOptions {
  /** Sent with every call; without one the client is nobody in particular. */
  readonly token?: string;
}

export type TestClient = ReturnType<typeof testClient>;

export function testClient(address: GrpcAddress, { token, ...options }: TestClientOptions = {}) {
  const target = "path" in address ? `unix:${address.path}` : addressText(address);
  const client = new Client(target, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1, ...options });

  function metadataOf(given: Readonly<Record<string, string>>): Metadata {
    const sent = new Metadata();
    if (token !== undefined) sent.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(given)) sent.set(name, value);
    return sent;
  }

  function call(service: string, name: string, message: object, callOptions: CallOptions = {}): Promise<CallOutcome> {
    const method = methodOf(service, name);
    const encoded = callOptions.bytes ?? Buffer.from(codecOf(method.requestType).encode(message).finish());
    return rawCall(method.path, encoded, (bytes) => codecOf(method.responseType).decode(bytes), callOptions);
  }

  function rawCall(
    path: string,
    bytes: Buffer,
    decode: (bytes: Buffer) => unknown = (raw) => raw,
    { metadata = {}, deadlineMs = 5_000 }: CallOptions = {},
  ): Promise<CallOutcome> {
    const sent = metadataOf(metadata);
    return new Promise((resolve) => {
      let initial = new Metadata();
      const made = client.makeUnaryRequest(
        path,
        (raw: Buffer) => raw,
        decode,
        bytes,
        sent,
        { deadline: deadlineIn(deadlineMs) },
        (error: ServiceError | null, answer) => {
          if (error === null) resolve({ status: "OK", details: "", answer, metadata: initial });
          else
            resolve({ status: statusName(error), details: error.details, answer: undefined, metadata: error.metadata });
        },
      );
      made.on("metadata", (received: Metadata) => {
        initial = received;
      });
    });
  }

  /** Opens a stream in both directions, sends nothing, and gives back how it ended. */
  function streamCall(path: string, { metadata = {}, deadlineMs = 5_000 }: CallOptions = {}): Promise<CallOutcome> {
    const same = (raw: Buffer): Buffer => raw;
    return new Promise((resolve) => {
      const stream = client.makeBidiStreamRequest(path, same, same, metadataOf(metadata), {
        deadline: deadlineIn(deadlineMs),
      });
      stream.on("data", () => undefined);
      // The status event that follows says the same.
      stream.on("error", () => undefined);
      stream.on("status", (end: StatusObject) =>
        resolve({ status: statusName(end), details: end.details, answer: undefined, metadata: end.metadata }),
      );
    });
  }

  return { client, metadataOf, call, rawCall, streamCall, close: () => client.close() };
}

function statusName(end: { readonly code: status }): string {
  return status[end.code] ?? "?";
}

function deadlineIn(ms: number): number {
  return systemClock().now() / 1_000 + ms;
}
