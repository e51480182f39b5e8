// Runs a past period's orders against a proposed envelope, each with the world as it stood when it was asked, and tells which decisions would
// have been different. It reads page by page and lets others have their turn in between, because operations has more to do than this.
import { Fault } from "../../contracts/src/fault.ts";
import type {
  EnvelopeReplay,
  ReplayChange,
  ReplayEnvelopeRequest,
} from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { replayDecision } from "../../core/engine/replay.ts";
import { compileEnvelope, type Envelope, readEnvelope } from "../../core/envelope/envelope.ts";
import { partsOf } from "../../core/state/rejection.ts";
import type { StoredDecision } from "../../ports/risk-queries.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import { nextTurn } from "../shared/waiting.ts";
import {
  countLimit,
  countMax,
  fundId,
  invalid,
  mustBeKnown,
  period,
  type RiskQueriesPorts,
} from "./risk-queries-arguments.ts";
import { fromRecord } from "./risk-queries-records.ts";

export interface ReplayOptions {
  /** Decisions read at once. */
  readonly pageCount: number;
  /** Decisions replayed before others have their turn. */
  readonly sliceCount: number;
  /** Decisions of one replay; a longer period is refused, so that nobody waits for an answer that never comes. */
  readonly decisionsMax: number;
  readonly replay: typeof replayDecision;
}

export const replayOptionsDefault: ReplayOptions = {
  pageCount: 200,
  sliceCount: 20,
  decisionsMax: 1_000_000,
  replay: replayDecision,
};

export async function replayEnvelope(
  ports: RiskQueriesPorts,
  request: ReplayEnvelopeRequest,
  call: Pick<RpcCall, "signal">,
  options: ReplayOptions = replayOptionsDefault,
): Promise<EnvelopeReplay | DeniedAnswer> {
  if (request.proposed === undefined)
    throw invalid("There is no proposed envelope: give one, complete, with its fund_id.");
  const fund = fundId(request.proposed.fund_id);
  const { from, to } = period(request.from, request.to, ports.clock.now());
  const listedMax = countMax(request.count_max, countLimit);
  const read = readEnvelope(request.proposed);
  if (!("record" in read)) return { denial: read };
  const envelope = compileEnvelope(read.record);
  const replay: EnvelopeReplay = {
    fund_id: fund,
    replayed: 0,
    skipped: 0,
    changed: 0,
    newly_approved: 0,
    newly_denied: 0,
    changes: [],
    earlier_rules: undefined,
  };
  let after = 0n;
  for (let seen = 0; ; ) {
    stopWhenAborted(call.signal);
    const page = await ports.riskQueries.decisionsBetween(fund, from, to, after, options.pageCount);
    seen += page.length;
    if (seen > options.decisionsMax) throw tooMany(options.decisionsMax);
    for (let at = 0; at < page.length; at += options.sliceCount) {
      for (const stored of page.slice(at, at + options.sliceCount)) {
        replayOne(stored, envelope, replay, { listedMax, run: options.replay });
      }
      await nextTurn(ports.timers);
      stopWhenAborted(call.signal);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < options.pageCount) break;
    after = last.id;
  }
  if (replay.replayed + replay.skipped === 0) await mustBeKnown(ports, fund);
  return replay;
}

/** A denial for another reason counts as a change too: the reason is what people act on. */
function replayOne(
  stored: StoredDecision,
  envelope: Envelope,
  replay: EnvelopeReplay,
  { listedMax, run }: { readonly listedMax: number; readonly run: ReplayOptions["replay"] },
): void {
  const { order, decision, result } = fromRecord(stored, (record) => ({
    ...partsOf(record),
    result: run(record, envelope),
  }));
  if (typeof result === "string") {
    replay.skipped += 1;
    if (result === "EARLIER_RULES") replay.earlier_rules = (replay.earlier_rules ?? 0) + 1;
    return;
  }
  replay.replayed += 1;
  if (result.approved === decision.approved && result.code === decision.code) return;
  replay.changed += 1;
  if (result.approved && !decision.approved) replay.newly_approved += 1;
  if (!result.approved && decision.approved) replay.newly_denied += 1;
  if (replay.changes.length >= listedMax) return;
  const change: ReplayChange = {
    order_id: decision.order_id,
    decision_id: stored.decisionId,
    symbol: order.symbol,
    side: order.side,
    quantity: order.quantity,
    approved_before: decision.approved,
    approved_after: result.approved,
    code_before: decision.code,
    code_after: result.code,
    reason_after: result.reason,
    decided_at: decision.decided_at,
  };
  replay.changes.push(change);
}

function stopWhenAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new Fault("CANCELLED", "Nobody waits for this replay any more.", { retry: "later" });
}

function tooMany(decisionsMax: number): Fault {
  return invalid(`The period holds more than ${decisionsMax} decisions: narrow it with from and to.`);
}
