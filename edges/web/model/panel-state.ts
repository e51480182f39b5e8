// The one state that a panel shows. Old figures never look new, and loading never looks empty: a panel without an answer is loading or an error, one with an
// answer that may be old is stale, whatever it holds.
import type { LinkWord } from "../live/link.ts";

export type PanelState = "loading" | "empty" | "ready" | "partial" | "stale" | "error" | "forbidden";

export interface PanelFacts {
  /** One for each list that the panel shows. */
  readonly reads: readonly ReadFacts[];
  readonly link: LinkWord;
  /** What was read before this may lack what happened while nothing was heard. */
  readonly liveSinceMs: number;
  readonly nowMs: number;
  readonly isEmpty: boolean;
  /** Something that belongs here is not known. */
  readonly isPartial: boolean;
}

export interface ReadFacts {
  readonly hasData: boolean;
  readonly updatedAtMs: number;
  readonly everyMs: number;
  /** What was read before this is old: the process that answers it has fallen silent or was replaced since. */
  readonly goodSinceMs: number;
  /** What is wrong with that process. */
  readonly complaint: string | undefined;
  readonly failure: Failure | undefined;
}

interface Failure {
  readonly status: number | undefined;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | undefined;
}

/** An answer may be one turn late on a busy machine, and a little more. */
export function oldMs(everyMs: number): number {
  return everyMs * 2 + 4_000;
}

export function panelState({ reads, link, liveSinceMs, nowMs, isEmpty, isPartial }: PanelFacts): PanelState {
  if (reads.some(({ failure }) => failure?.status === 403)) return "forbidden";
  if (reads.some(({ hasData, failure }) => !hasData && failure !== undefined)) return "error";
  if (reads.some(({ hasData }) => !hasData)) return "loading";
  const isOld = reads.some(({ failure, updatedAtMs, everyMs, goodSinceMs }) => {
    const isFromBefore = updatedAtMs < Math.max(liveSinceMs, goodSinceMs);
    return failure !== undefined || isFromBefore || nowMs - updatedAtMs > oldMs(everyMs);
  });
  if (isOld || link !== "live") return "stale";
  if (isPartial) return "partial";
  return isEmpty ? "empty" : "ready";
}

/** Why it is stale, where the link is not the reason. */
export function whyStale(reads: readonly ReadFacts[]): string | undefined {
  const failed = reads.find(({ failure }) => failure !== undefined)?.failure;
  const silent = reads.find(({ complaint }) => complaint !== undefined)?.complaint;
  return silent ?? (failed === undefined ? undefined : `${failed.code}: ${failed.detail}`);
}

interface ErrorLike {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly problem?: unknown;
}

/** By shape: what the client throws, or whatever else went wrong. */
export function failureOf(thrown: unknown): Failure | undefined {
  if (thrown === null || thrown === undefined) return undefined;
  const { name, status, code, message, problem } = thrown as ErrorLike;
  const requestId = (problem as { readonly request_id?: unknown } | undefined)?.request_id;
  return {
    status: typeof status === "number" ? status : undefined,
    code: typeof code === "string" ? code : name === "UnreachableError" ? "UNREACHABLE" : "INTERNAL",
    detail: typeof message === "string" ? message : String(thrown),
    requestId: typeof requestId === "string" ? requestId : undefined,
  };
}
