// Counts requests that are no requests: malformed and oversized ones, per caller, for both faces. Who sends them is worth knowing: a client that was
// deployed wrong, or somebody who tries what happens.
//
//  1. A caller is who was proved, never what a request claims; whoever proved nothing is `nobody`.
//  2. A process keeps at most `callersMax` callers apart; all further ones are counted together as `other`.
import type { Metrics } from "../../ports/metrics.ts";

export type BadRequestKind = "malformed" | "oversized";

export interface BadRequests {
  /** `actor` is undefined for whoever proved nothing. */
  count(kind: BadRequestKind, actor: string | undefined): void;
}

const callersMax = 100;
const callerLengthMax = 128;
const nobody = "nobody";
const other = "other";

export function badRequests(metrics: Metrics, face: "grpc" | "http"): BadRequests {
  const total = metrics.counter(
    "portcullis_bad_requests_total",
    "Requests that could not be read (malformed) or were too large (oversized), by the caller that was proved.",
    ["face", "caller", "kind"],
  );
  const callers = new Set<string>();
  const labelOf = (actor: string | undefined): string => {
    if (actor === undefined) return nobody;
    const caller = actor.slice(0, callerLengthMax);
    if (!callers.has(caller) && callers.size >= callersMax) return other;
    callers.add(caller);
    return caller;
  };
  return {
    count: (kind, actor) => total.add(1, { face, caller: labelOf(actor), kind }),
  };
}
