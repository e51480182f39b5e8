// Decides every recorded order of a period again, under the limits that its decision names, and holds each record against its entry of the audit log.
// Then the log is gone through for itself, and whatever it tells of that has no record is a difference, not a smaller number.
//
//  1. Nothing is judged that the log may not have taken in yet; `through` says up to where it was.
//  2. It works for 20 ms at most before others have their turn: this process latches halts.
//  3. One runs for each person. What cannot be done in the time that a caller waits ends earlier, and says so by `through`.

import { Fault } from "../../../contracts/src/fault.ts";
import type {
  DecisionDifference,
  DecisionsVerdict,
  VerifyDecisionsRequest,
} from "../../../contracts/src/generated/svc/v1/replay.ts";
import {
  earlier,
  format,
  type Instant,
  later,
  millisecondsBetween,
  minusMilliseconds,
  plusMicroseconds,
  tryParse,
} from "../../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../../contracts/src/records/envelope.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import { compileEnvelope, type Envelope } from "../../../core/envelope/envelope.ts";
import type { ReplayQueries, TimelineMark } from "../../../ports/replay-queries.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { mustKnowFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { fundId as askedFund, countLimit, countMax, invalid } from "../risk-queries-arguments.ts";
import { decidedIn, type Judged, judgeDecision, type SkipCause, skippedCauses } from "./judge-decision.ts";
import { askedPeriod } from "./replay-arguments.ts";
import { createSlices, type Slices } from "./slices.ts";
import type { Payload } from "./timeline-words.ts";

export type VerifyPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "store" | "referenceData" | "riskQueries" | "sha256OfBytes" | "stopwatch"
> & { readonly replayQueries: ReplayQueries };

const differencesUsual = 100;
const decisionsMax = 1_000_000;
/** Records that are read at once, with their entries. */
const readTogether = 200;
/** Places in the log, which are numbers. */
const marksTogether = 5_000;
/** Below what the gateway waits, with time left for the log. */
const judgingMsMax = 12_000;
/** What was decided before the log said how far it is may still have been on its way. */
const underWayMs = 5_000;
/** Decisions of two engines may be dated against their order by no more than this. */
const clockSlackMs = 60_000;
const versionsMax = 1_000;

interface Found {
  decisions: number;
  same: number;
  different: number;
  readonly skipped: Map<SkipCause, number>;
  readonly differences: DecisionDifference[];
  /** Entries that have their record. */
  readonly entries: Set<number>;
  /** The first that was left for want of time. */
  leftFrom: Instant | undefined;
}

interface Span {
  readonly fundId: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly listedMax: number;
}

type Verify = (
  request: VerifyDecisionsRequest,
  call: Pick<RpcCall, "identity" | "signal">,
) => Promise<DecisionsVerdict>;

export function createVerify(ports: VerifyPorts): Verify {
  const running = new Set<string>();
  return async (request, { identity, signal }) => {
    if (running.has(identity.actor)) {
      const sentence = "A verification of yours is running: ask again when it has ended.";
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
    }
    running.add(identity.actor);
    try {
      return await verify(ports, request, signal);
    } finally {
      running.delete(identity.actor);
    }
  };
}

async function verify(
  ports: VerifyPorts,
  request: VerifyDecisionsRequest,
  signal: AbortSignal,
): Promise<DecisionsVerdict> {
  const fundId = askedFund(request.fund_id);
  const { from, to } = askedPeriod(request.from, request.to, ports.clock.now());
  const listedMax = countMax(request.count_max, differencesUsual, countLimit);
  await mustKnowFund(ports, fundId);
  const standing = await ports.store.transact("replay.look", (unit) => unit.auditStanding.read());
  const takenIn = standing === undefined ? from : minusMilliseconds(standing.through, underWayMs);
  const span = { fundId, from, to: later(from, earlier(to, takenIn)), listedMax };
  const slices = createSlices(ports, signal);
  const found: Found = {
    decisions: 0,
    same: 0,
    different: 0,
    skipped: new Map(),
    differences: [],
    entries: new Set(),
    leftFrom: undefined,
  };
  await judgeRecords(ports, span, found, slices);
  const through = found.leftFrom === undefined ? span.to : earlier(found.leftFrom, span.to);
  await findMissing(ports, { ...span, to: through }, found, slices);
  const oldestFirst = (one: DecisionDifference, other: DecisionDifference): number =>
    one.decided_at < other.decided_at ? -1 : 1;
  return {
    fund_id: fundId,
    from: format(from),
    through: format(through),
    decisions: found.decisions,
    same: found.same,
    different: found.different,
    skipped: [...found.skipped.values()].reduce((sum, count) => sum + count, 0),
    skipped_causes: skippedCauses(found.skipped),
    differences: found.differences.sort(oldestFirst).slice(0, listedMax),
  };
}

/**
 * Where the time is over, what was decided by the newest that was judged is judged as well, and nothing else: of those that were decided in one moment, or were
 * numbered in another order than decided, none is left out of both this answer and the next, and none is in both.
 */
async function judgeRecords(ports: VerifyPorts, span: Span, found: Found, slices: Slices): Promise<void> {
  const { replayQueries, clock } = ports;
  const began = clock.now();
  const envelopeOf = envelopesOf(ports, span.fundId);
  let { to } = span;
  let newest: Instant | undefined;
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof replayQueries.decisionNumbers>> = await replayQueries.decisionNumbers({
      ...span,
      to,
      after,
    });
    after = page.through;
    for (let first = 0; first < page.ids.length; first += readTogether) {
      const ids = page.ids.slice(first, first + readTogether);
      const rows = await replayQueries.decisions(ids);
      if (found.leftFrom === undefined && millisecondsBetween(began, clock.now()) > judgingMsMax) {
        to = newest === undefined ? (rows[0]?.at ?? to) : plusMicroseconds(newest, 1);
        found.leftFrom = to;
        after = (ids[0] ?? 1n) - 1n;
        break;
      }
      for (const row of rows) {
        await slices.next();
        if (found.decisions >= decisionsMax) throw tooMany();
        const judged = await judgeDecision(row, { sha256: ports.sha256OfBytes, envelopeOf });
        count(found, judged, span.listedMax);
        if (row.entry !== undefined) found.entries.add(row.entry.sequence);
        newest = newest === undefined ? row.at : later(newest, row.at);
      }
    }
  }
}

function count(found: Found, judged: Judged, listedMax: number): void {
  found.decisions += 1;
  if (judged.kind === "same") found.same += 1;
  else if (judged.kind === "skipped") found.skipped.set(judged.cause, (found.skipped.get(judged.cause) ?? 0) + 1);
  else {
    found.different += 1;
    if (found.differences.length < listedMax) found.differences.push(judged.difference);
  }
}

/** What the log tells of and no record was read of. Only those entries are read whole. */
async function findMissing(ports: VerifyPorts, span: Span, found: Found, slices: Slices): Promise<void> {
  const { replayQueries, clock } = ports;
  const from = minusMilliseconds(span.from, clockSlackMs);
  const query = { fundId: span.fundId, actions: ["order.decided"], from, to: clock.now() };
  for (let after: TimelineMark | undefined; ; ) {
    const mark = after === undefined ? {} : { after };
    const marks = await replayQueries.entryMarks({ ...query, ...mark, countMax: marksTogether });
    await slices.next();
    const unknown = marks.flatMap(({ sequence }) => (found.entries.has(sequence) ? [] : [sequence]));
    for (let first = 0; first < unknown.length; first += readTogether) {
      const texts = await replayQueries.entryTexts(unknown.slice(first, first + readTogether));
      for (const { text } of texts) {
        await slices.next();
        if (judgeEntry(readEntry(text)?.data ?? {}, span, found) === "later") return;
      }
    }
    after = marks.at(-1);
    if (marks.length < marksTogether) return;
  }
}

/** An entry of which no record was read: it has none, or it is of another time. Entries stand in the order of the decisions. */
function judgeEntry(data: Payload, span: Span, found: Found): "later" | "judged" {
  const { fundId, difference } = decidedIn(data);
  const decidedAt = tryParse(difference.decided_at);
  if (decidedAt !== undefined && millisecondsBetween(span.to, decidedAt) > clockSlackMs) return "later";
  if (fundId !== span.fundId || decidedAt === undefined || decidedAt < span.from || decidedAt >= span.to)
    return "judged";
  if (found.decisions >= decisionsMax) throw tooMany();
  count(found, { kind: "different", difference }, span.listedMax);
  return "judged";
}

/** Each version is read once. */
function envelopesOf({ riskQueries }: VerifyPorts, fundId: string) {
  const known = new Map<number, Envelope | "unreadable">();
  return async (version: number | undefined): Promise<Envelope | "unreadable" | undefined> => {
    if (version === undefined) return undefined;
    const before = known.get(version);
    if (before !== undefined) return before;
    const record = await riskQueries.envelope(fundId, version);
    const envelope = record === undefined ? "unreadable" : compiled(record);
    if (known.size >= versionsMax) known.clear();
    known.set(version, envelope);
    return envelope;
  };
}

function compiled(record: RiskEnvelope): Envelope | "unreadable" {
  try {
    return compileEnvelope(record);
  } catch {
    // Limits that cannot be read are a finding about each decision that names them.
    return "unreadable";
  }
}

function tooMany(): Fault {
  return invalid(`The period holds more than ${decisionsMax} decisions: narrow it with from and to.`);
}
