// The standard health service (grpc.health.v1) that load balancers and probes ask. It tells what the process says of itself;
// the empty name is the whole server, and every service on it shares its fate.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type MethodDefinition,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Health } from "../../ports/health.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { requestIdFrom } from "../http/request-id.ts";
import type { CallConnections } from "./call-connections.ts";
import { failure } from "./status.ts";

export const healthServiceName = "grpc.health.v1.Health";

type ServingStatus = "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";

interface HealthRequest {
  readonly service: string;
}

interface HealthResponse {
  readonly status: ServingStatus;
}

/** The published health.proto, in the form that the proto loader takes without a file. */
const healthProto = {
  nested: {
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                HealthCheckRequest: { fields: { service: { type: "string", id: 1 } } },
                HealthCheckResponse: {
                  fields: { status: { type: "ServingStatus", id: 1 } },
                  nested: {
                    ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
                  },
                },
                Health: {
                  methods: {
                    Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" },
                    Watch: {
                      requestType: "HealthCheckRequest",
                      responseType: "HealthCheckResponse",
                      responseStream: true,
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

interface HealthServiceOptions {
  readonly health: () => Health;
  /** Full names of the services on this server. */
  readonly services: ReadonlySet<string>;
  readonly timers: Timers;
  readonly random: Random;
  readonly watchersMax: number;
  readonly watchersPerConnectionMax: number;
  readonly connections: Pick<CallConnections, "of">;
}

export interface HealthService {
  readonly handlers: {
    Check(call: ServerUnaryCall<HealthRequest, HealthResponse>, callback: sendUnaryData<HealthResponse>): void;
    Watch(call: ServerWritableStream<HealthRequest, HealthResponse>): void;
  };
  /** Tells every watcher that the server no longer serves, ends their streams and accepts no new ones. */
  stop(): void;
}

const lookEveryMs = 250;

export function healthService(options: HealthServiceOptions): HealthService {
  const watchers = new Set<() => void>();
  const counts = new WeakMap<object, number>();
  let stopped = false;

  function statusOf(service: string): ServingStatus {
    if (service !== "" && !options.services.has(service)) return "SERVICE_UNKNOWN";
    return !stopped && options.health().status === "ok" ? "SERVING" : "NOT_SERVING";
  }

  /** Calls whose connection is not known count as one connection's. */
  function connectionOf(call: ServerWritableStream<HealthRequest, HealthResponse>): object {
    return options.connections.of(call.metadata) ?? watchers;
  }

  function hasRoomFor(call: ServerWritableStream<HealthRequest, HealthResponse>): boolean {
    const ofConnection = counts.get(connectionOf(call)) ?? 0;
    return watchers.size < options.watchersMax && ofConnection < options.watchersPerConnectionMax;
  }

  function watch(call: ServerWritableStream<HealthRequest, HealthResponse>): void {
    const ended = new AbortController();
    const connection = connectionOf(call);
    counts.set(connection, (counts.get(connection) ?? 0) + 1);
    let last: ServingStatus | undefined;
    const tell = (): void => {
      const now = statusOf(call.request.service);
      if (now !== last) call.write({ status: now });
      last = now;
    };
    const end = (): void => {
      if (ended.signal.aborted) return;
      ended.abort();
      watchers.delete(finish);
      counts.set(connection, (counts.get(connection) ?? 1) - 1);
    };
    const finish = (): void => {
      tell();
      end();
      call.end();
    };
    watchers.add(finish);
    call.once("cancelled", end);
    call.once("close", end);
    tell();
    const look = (): void => {
      if (ended.signal.aborted) return;
      tell();
      const cancel = options.timers.after(lookEveryMs, look);
      ended.signal.addEventListener("abort", cancel, { once: true });
    };
    look();
  }

  return {
    handlers: {
      Check: (call, callback) => {
        const now = statusOf(call.request.service);
        if (now !== "SERVICE_UNKNOWN") return callback(null, { status: now });
        return callback({ code: status.NOT_FOUND, details: "No such service on this server." });
      },
      Watch: (call) => {
        if (!stopped && hasRoomFor(call)) return watch(call);
        const refused = stopped
          ? new Fault("SERVICE_STOPPING", "The server is shutting down.", { retry: "later" })
          : new Fault("RESOURCE_EXHAUSTED", "Too many health watchers.", { retry: "later" });
        call.emit("error", failure(refused, requestIdFrom(undefined, options.random)));
        return undefined;
      },
    },
    stop: () => {
      stopped = true;
      for (const finish of [...watchers]) finish();
    },
  };
}

const statusNumbers = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const satisfies Record<
  ServingStatus,
  number
>;
const serviceField = 1;
const statusField = 1;

/** Two messages of one field each are written and read here: a library that can do it for any proto would take longer to load than a server to start. */
function requestOf(bytes: Uint8Array): HealthRequest {
  const reader = new BinaryReader(bytes);
  let service = "";
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === serviceField && wireType === WireType.LengthDelimited) service = reader.string();
    else reader.skip(wireType, field);
  }
  return { service };
}

function responseBytes({ status }: HealthResponse): Buffer {
  return Buffer.from(new BinaryWriter().tag(statusField, WireType.Varint).int32(statusNumbers[status]).finish());
}

function healthMethod(name: "Check" | "Watch"): MethodDefinition<HealthRequest, HealthResponse> {
  const notAClient = (): never => {
    throw new Defect("This side of the health service only answers.");
  };
  return {
    path: `/${healthServiceName}/${name}`,
    requestStream: false,
    responseStream: name === "Watch",
    requestSerialize: notAClient,
    requestDeserialize: requestOf,
    responseSerialize: responseBytes,
    responseDeserialize: notAClient,
  };
}

/** What a server serves it by. */
export const healthDefinition = { Check: healthMethod("Check"), Watch: healthMethod("Watch") };

/** The published proto as the loader takes it, which reflection hands out; loading it costs time that few need to pay. */
export async function loadHealthPackage(): Promise<PackageDefinition> {
  const { fromJSON } = await import("@grpc/proto-loader");
  return fromJSON(healthProto as Parameters<typeof fromJSON>[0], { enums: String, defaults: true });
}
