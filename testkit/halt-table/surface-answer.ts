// What a surface is asked for, and what it answers.
import type { Level, Verb } from "./rows.ts";

/** One request, as far as it was said; what is absent is not sent. */
export interface Request {
  readonly verb: Verb;
  readonly level: Level;
  /** The fund or strategy; empty for everything. */
  readonly target: string;
  readonly reason?: string;
  readonly word?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly cosignedBy?: string;
  readonly haltIds?: readonly string[];
  readonly rebase?: true;
}

export interface SurfaceAnswer {
  /** Empty when it was granted. */
  readonly code: string;
  /** The gRPC status, the HTTP status or the exit code. */
  readonly reported: string | number;
  /** What was answered, or the problem. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly sentence: string;
}
