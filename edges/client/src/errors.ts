// What a call can end with besides an answer: the server said no (ApiError), or nobody that speaks our language answered
// (UnreachableError). Neither repeats anything of the token or the body that was sent.
import type { ErrorCode } from "./generated/codes.ts";

/** A problem document (RFC 9457) as the server sent it; members beyond these are kept. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly [member: string]: unknown;
}

export interface ApiErrorFacts {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly problem: Problem | undefined;
  readonly retryAfterS: number | undefined;
}

export type { ErrorCode };

/** The server answered with a status of 400 or more. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /**
   * A stable word of docs/codes.md; for an answer without one, the nearest that the status allows. A newer server may send one that this version does
   * not know: give a `switch` a default.
   */
  readonly code: ErrorCode;
  /** The server's sentence about this case, when it gave one. */
  readonly detail: string | undefined;
  readonly problem: Problem | undefined;
  /** How long to wait before another try, when the server said so. */
  readonly retryAfterS: number | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts.detail ?? facts.problem?.title ?? `The server answered ${facts.status} (${facts.code}).`);
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.problem = facts.problem;
    this.retryAfterS = facts.retryAfterS;
  }
}

/** No answer came, or none that this API gives; whether a request that changes something took effect is not known. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  readonly baseUrl: string;
  /** Whether another try may find the server back. */
  readonly mayPass: boolean;

  constructor(baseUrl: string, why: string, cause?: unknown, mayPass = false) {
    super(`${baseUrl} ${why}`, cause === undefined ? undefined : { cause });
    this.baseUrl = baseUrl;
    this.mayPass = mayPass;
  }
}
