// Remote procedures as data: a service declares which it answers, the gRPC adapter mounts them. A procedure of the proto
// that a service does not declare answers UNIMPLEMENTED by name, to callers that may call it; the operation of a procedure is
// its name in the table of authority.
import type { Denial } from "../contracts/src/codes.ts";
import type { Identity } from "./identity.ts";

export interface RpcCall {
  readonly requestId: string;
  /** Who calls, as proved; a procedure is never reached by anybody else than the table of authority allows. */
  readonly identity: Identity;
  /** Whether the caller has hung up or its deadline has passed. */
  isGone(): boolean;
  /** Aborts when that happens. Made when it is first read. */
  readonly signal: AbortSignal;
  /** A proof of the caller's second factor that came beside the request (gRPC metadata `step-up-proof`); never part of a message that is stored. */
  readonly stepUpProof?: string | undefined;
  /** The request as it came, before it was decoded; valid until the handler's promise settles. */
  readonly requestBytes: Uint8Array;
}

/** An answer that is encoded already: it goes out as it is. */
export interface EncodedAnswer {
  readonly encoded: Uint8Array;
}

/** The business says no to a command: it goes out with the status and the code of the registry. CheckOrder never answers so. */
export interface DeniedAnswer {
  readonly denial: Denial;
  /** The service has reported the attempt itself, with what it knows of it. */
  readonly isReported?: true;
}

/**
 * Requests and answers are the generated messages of contracts; the adapter decodes and encodes them, unless the answer is encoded
 * already or is a denial. Of a stream in both directions this answers one request; several are handled at once, and each is answered when it is ready.
 */
export type UnaryHandler = (request: never, call: RpcCall) => Promise<unknown>;

/**
 * Which funds a request is about that names something of theirs, such as an order; "every" for what is about all of them. Undefined for what nobody knows,
 * and for what the request says by itself. Asked only for tokens that name funds.
 */
export type FundsOf = (request: never) => Promise<readonly string[] | "every" | undefined>;

export interface RpcService {
  /** As the proto names it, without the package: "RiskEngine". */
  readonly name: string;
  readonly handlers: Readonly<Record<string, UnaryHandler>>;
  /** By the names of handlers. */
  readonly fundsOf?: Readonly<Record<string, FundsOf>>;
}
