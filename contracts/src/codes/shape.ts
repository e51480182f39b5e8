// What a code is: a stable word that programs may rely on, with one sentence for people and its status on each surface.
// The HTTP status and the exit code follow from the gRPC status, so that three surfaces can never tell three stories;
// an entry that must differ says so itself.

type GrpcStatusName =
  | "OK"
  | "CANCELLED"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

/** What `ctl` and the program itself exit with. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  declined: 3,
  notLoggedIn: 4,
  forbidden: 5,
  refused: 6,
  conflict: 7,
  pending: 8,
  unavailable: 9,
  verificationFailed: 10,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A code that answers somebody: a denial or a fault. */
export interface AnswerCode {
  readonly kind: "denial" | "fault";
  readonly sentence: string;
  readonly grpc: GrpcStatusName;
  readonly http: number;
  readonly exit: ExitCode;
}

/** A code that operators are told of; no caller asked, so there is no status. */
export interface AlarmEntry {
  readonly kind: "alarm";
  readonly sentence: string;
  /** Critical wants a person now; warning can wait for the morning. */
  readonly level: "warning" | "critical";
}

interface Surface {
  readonly http: number;
  readonly exit: ExitCode;
}

/** An OK here is CheckOrder's: the call succeeded and its answer is no. Elsewhere the same no is an unprocessable order. */
const surfaces: Readonly<Record<GrpcStatusName, Surface>> = {
  OK: { http: 422, exit: exitCodes.refused },
  CANCELLED: { http: 499, exit: exitCodes.failed },
  INVALID_ARGUMENT: { http: 400, exit: exitCodes.usage },
  DEADLINE_EXCEEDED: { http: 504, exit: exitCodes.unavailable },
  NOT_FOUND: { http: 404, exit: exitCodes.failed },
  ALREADY_EXISTS: { http: 409, exit: exitCodes.conflict },
  PERMISSION_DENIED: { http: 403, exit: exitCodes.forbidden },
  RESOURCE_EXHAUSTED: { http: 429, exit: exitCodes.unavailable },
  FAILED_PRECONDITION: { http: 409, exit: exitCodes.refused },
  ABORTED: { http: 409, exit: exitCodes.conflict },
  UNIMPLEMENTED: { http: 501, exit: exitCodes.failed },
  INTERNAL: { http: 500, exit: exitCodes.failed },
  UNAVAILABLE: { http: 503, exit: exitCodes.unavailable },
  DATA_LOSS: { http: 500, exit: exitCodes.verificationFailed },
  UNAUTHENTICATED: { http: 401, exit: exitCodes.notLoggedIn },
};

export function denial(sentence: string, grpc: GrpcStatusName = "OK", differs: Partial<Surface> = {}): AnswerCode {
  return { kind: "denial", sentence, grpc, ...surfaces[grpc], ...differs };
}

export function fault(sentence: string, grpc: GrpcStatusName, differs: Partial<Surface> = {}): AnswerCode {
  return { kind: "fault", sentence, grpc, ...surfaces[grpc], ...differs };
}

export function alarm(level: AlarmEntry["level"], sentence: string): AlarmEntry {
  return { kind: "alarm", sentence, level };
}
