// The replay's procedures: what was known at a moment of the past. They run beside the process that latches halts, so each waits for its turn, works
// for a little at a time, and ends when nobody waits for it.
import type {
  GetMomentRequest,
  ListReplayBarsRequest,
  ListTimelineRequest,
  VerifyDecisionsRequest,
} from "../../../contracts/src/generated/svc/v1/replay.ts";
import type { ReplayQueries } from "../../../ports/replay-queries.ts";
import type { RpcCall, RpcService } from "../../../ports/rpc.ts";
import { takeTurns } from "../take-turns.ts";
import { getMoment, type MomentPorts } from "./moment.ts";
import { listReplayBars, type ReplayBarsPorts } from "./replay-bars.ts";
import { encodedTimeline, type TimelinePorts } from "./timeline.ts";
import { createVerify, type VerifyPorts } from "./verify-decisions.ts";

type ReplayPorts = ReplayBarsPorts &
  Omit<TimelinePorts & VerifyPorts & MomentPorts, "replayQueries"> & {
    readonly replayQueries?: ReplayQueries | undefined;
  };
type Call = Pick<RpcCall, "identity" | "signal">;

/** All of them are answered well within the time that the gateway waits. */
const waitingMax = 8;

/** Bars alone where there is no database to read histories from. */
export function replayQueries(ports: ReplayPorts): RpcService {
  const bars = takeTurns(waitingMax, "questions about recorded prices");
  const timelines = takeTurns(waitingMax, "questions about what happened");
  const moments = takeTurns(waitingMax, "questions about moments of the past");
  const prices = {
    ListReplayBars: (request: ListReplayBarsRequest, { signal }: Call) =>
      bars(signal, () => listReplayBars(ports, request, signal)),
  };
  const { replayQueries: queries } = ports;
  if (queries === undefined) return { name: "Replay", handlers: prices };
  const all = { ...ports, replayQueries: queries };
  const verify = createVerify(all);
  return {
    name: "Replay",
    handlers: {
      ...prices,
      ListTimeline: (request: ListTimelineRequest, { signal }: Call) =>
        timelines(signal, () => encodedTimeline(all, request, signal)),
      GetMoment: (request: GetMomentRequest, { signal }: Call) =>
        moments(signal, () => getMoment(all, request, signal)),
      VerifyDecisions: (request: VerifyDecisionsRequest, call: Call) => verify(request, call),
    },
  };
}
