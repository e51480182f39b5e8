// The three ways to say no. A Denial is the business saying no and is a plain value; a Fault is the world saying no and
// carries what a caller may do about it; a Defect means that we were wrong: new risk is halted and the process exits.
import type { FaultCode } from "./codes.ts";

/** What a caller may do after a fault: try again at once, try again later, or not at all. */
export type Retry = "now" | "later" | "never";

export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly retry: Retry;
  readonly facts: Facts;
  /** Whether the attempt that ended so is on record already; a server records it otherwise. */
  readonly isReported: boolean;

  constructor(
    code: FaultCode,
    message: string,
    options: { retry: Retry; facts?: Facts; cause?: unknown; isReported?: boolean },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retry = options.retry;
    this.facts = options.facts ?? {};
    this.isReported = options.isReported ?? false;
  }
}

/**
 * We were wrong. Whoever catches one hands it to the Crash port: there is no going on. The one exception is the bus, which
 * cannot tell whose fault an event is: there the event is parked and reported like any other that fails.
 */
export class Defect extends Error {
  override readonly name = "Defect";
}

/** The message of anything that was thrown, for a log line or a sentence to a person. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
