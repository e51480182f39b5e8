// Idempotency keys: which requests take one, what one looks like, and how long it counts. A caller that repeats a request under its key gets the first
// answer, and nothing is done twice.
import { type Operation, operations } from "./authority.ts";
import { gatewayOperations } from "./gateway-operations.ts";
import { declaredRoutes } from "./generated/routes.ts";

/** The request's header, and the metadata of a call between processes. */
export const idempotencyKeyHeader = "idempotency-key";
/** Beside it in metadata: the path that was asked for, so that one key at two paths is two. */
export const idempotencyPathHeader = "idempotency-path";
/** `true` on the first answer when it is given again. */
export const replayHeader = "idempotent-replay";

export const keyLengthMax = 255;
/** For so long a repeat gets the first answer. */
export const keyHoursMax = 24;

const printable = /^[ -~]+$/;

export function isIdempotencyKey(text: string): boolean {
  return text.length <= keyLengthMax && printable.test(text) && text.trim() !== "";
}

interface Placed {
  readonly method: string;
  readonly operation: Operation;
  readonly listeners: readonly string[];
}

/** Every operator's POST that changes something. */
export function takesIdempotencyKey({ method, operation, listeners }: Placed): boolean {
  return method === "POST" && listeners.includes("operator") && !operations[operation].reads;
}

/** Whether the gateway does it by itself; what it only asks of a service, the service does once. */
export function isDoneByGateway(operation: Operation): boolean {
  return Object.hasOwn(gatewayOperations, operation);
}

/** Of what the gateway does: done again after it was cut off, it comes to the same. */
export function isRepeatable(operation: Operation): boolean {
  return "repeatable" in operations[operation];
}

interface KeyedProcedure {
  /** Done again after it was cut off, it comes to the same. */
  readonly repeatable: boolean;
}

/**
 * The procedures that a key makes once, by service and name. A halt is none of them: it never waits for its key and is never refused for it; its
 * halt_id makes it one.
 */
export const keyedProcedures: ReadonlyMap<string, KeyedProcedure> = new Map(
  Object.values(declaredRoutes)
    .filter(({ method, operation, listener, id }) => {
      return id !== "requestHalt" && takesIdempotencyKey({ method, operation, listeners: [listener] });
    })
    .map((route) => [`${route.service}/${route.procedure}`, { repeatable: "repeatable" in route }]),
);
