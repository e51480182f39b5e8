// Remote procedures as data: a service declares which it answers, the gRPC adapter mounts them. A procedure of the proto
// that a service does not declare answers UNIMPLEMENTED by name, to callers that may call it; the operation of a procedure is
// its name in the table of authority.
import type { Identity } from "./identity.ts";

export interface RpcCall {
  readonly requestId: string;
  /** Who calls, as proved; a procedure is never reached by anybody else than the table of authority allows. */
  readonly identity: Identity;
  /** Aborts when the caller hangs up or its deadline passes. */
  readonly signal: AbortSignal;
}

/** Requests and answers are the generated messages of contracts; the adapter encodes and decodes them. */
export type UnaryHandler = (request: never, call: RpcCall) => Promise<unknown>;

export interface RpcService {
  /** As the proto names it, without the package: "RiskEngine". */
  readonly name: string;
  readonly handlers: Readonly<Record<string, UnaryHandler>>;
}
