// What a compliance officer asks about a day: whether anything is missing, whether anything was changed, and that both were looked at.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  FilingDayChange,
  FilingDayRequest,
  FilingReconciliation,
  FilingReview,
  FilingVerification,
  RebuiltFile,
  RebuiltFilings,
} from "../../../contracts/src/generated/svc/v1/filingchecks.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { filingRegime } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import type { RegimeRecord, RegulatoryEvent } from "../../../core/filings/regulatory-event.ts";
import type { FilingFile, FilingRecord } from "../../../ports/filing-records.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import { oneAtATime } from "../../reference/one-at-a-time.ts";
import { noSuchFund } from "../../shared/must-know-fund.ts";
import { givenReason, missingReason, tellAttempt } from "../worker-verbs.ts";
import { pathOf } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";
import { type DayToReconcile, isComplete, type Reconciliation, reconcileDay } from "./reconcile.ts";
import { repairDay } from "./repair.ts";
import { type Verification, verifyDay } from "./verify.ts";

interface FilingChecks {
  /** Until when the subscription has heard everything. */
  heardUntil(): Instant | undefined;
  /** A file has lines that are not in it yet. */
  touched(record: FilingFile): void;
}

interface Day {
  readonly regime: FilingRegime;
  readonly fundId: string;
  readonly date: string;
}

/** Whoever looks through the log waits for whoever does already; more are refused. */
const waitingMax = 4;

export function filingChecks(parts: FilingParts, checks: FilingChecks): RpcService {
  const inTurn = oneAtATime();
  let waiting = 0;
  async function taking<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (waiting >= waitingMax) {
      const sentence = `${waitingMax} callers have days held against the audit log already. Ask again later.`;
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
    }
    waiting += 1;
    try {
      return await inTurn(work);
    } finally {
      waiting -= 1;
    }
  }
  const asked = (day: Day, { signal }: RpcCall): DayToReconcile => ({
    ...day,
    heardUntil: checks.heardUntil(),
    signal,
  });
  return {
    name: "FilingChecks",
    handlers: {
      async ReconcileFilings(request: FilingDayRequest, call: RpcCall): Promise<FilingReconciliation> {
        const day = derivable(await dayOf(parts, request));
        return taking(async () => reconciliationOf(day, await reconcileAndTell(parts, asked(day, call)), 0));
      },
      async RepairFilings(request: FilingDayChange, call: RpcCall): Promise<FilingReconciliation | DeniedAnswer> {
        const day = derivable(await dayOf(parts, request));
        const reason = givenReason(request.reason);
        if (reason === "") return { denial: missingReason("Nothing was recorded") };
        return taking(async () => {
          const found = await reconcileAndTell(parts, asked(day, call));
          const { identity } = call;
          const attempt = { verb: "RepairFilings", target: targetOf(day), reason, at: parts.ports.clock.now() };
          await parts.ports.store.transact("filings.repair", (unit) => tellAttempt(unit, identity, attempt));
          const made = await repairDay(parts, day, found);
          for (const record of made) checks.touched(record);
          return reconciliationOf(day, await reconcileAndTell(parts, asked(day, call)), made.length);
        });
      },
      async VerifyFilings(request: FilingDayRequest, call: RpcCall): Promise<FilingVerification> {
        const day = await dayOf(parts, request);
        return taking(async () => verificationOf(day, await verifyDay(parts, asked(day, call))));
      },
      async ReviewFilings(request: FilingDayChange, call: RpcCall): Promise<FilingReview | DeniedAnswer> {
        const day = derivable(await dayOf(parts, request));
        const reason = givenReason(request.reason);
        if (reason === "") return { denial: missingReason("Nothing was reviewed") };
        return taking(() => review(parts, asked(day, call), call.identity.actor, reason));
      },
      async RebuildFilings(request: FilingDayChange, call: RpcCall): Promise<RebuiltFilings | DeniedAnswer> {
        const day = await dayOf(parts, request);
        const reason = givenReason(request.reason);
        if (reason === "") return { denial: missingReason("Nothing was made again") };
        const { identity } = call;
        const attempt = { verb: "RebuildFilings", target: targetOf(day), reason, at: parts.ports.clock.now() };
        await parts.ports.store.transact("filings.rebuild", (unit) => tellAttempt(unit, identity, attempt));
        return { files: await rebuildDay(parts, day) };
      },
    },
  };
}

async function dayOf({ ports }: FilingParts, request: FilingDayRequest): Promise<Day> {
  const { fund_id: fundId, date } = request;
  const regime = regimeOf(filingRegime.parse(request.regime));
  const { funds } = await ports.referenceData.read();
  const isKnown = funds.some((fund) => fund.fund_id === fundId);
  if (!isKnown) throw new Fault("INVALID_ARGUMENT", noSuchFund(fundId), { retry: "never" });
  return { regime, fundId, date };
}

/** What a regime wants of trades is not derived from the audit log. */
function derivable(day: Day): Day {
  if (day.regime.tradeMark === undefined) return day;
  const sentence = `What ${day.regime.name} wants of trades is not derived from the audit log: verify holds its records against their entries.`;
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

const targetOf = ({ regime, fundId, date }: Day): string => `${regime.name} ${fundId} ${date}`;

/** A day that is not what it must be is an alarm until it is. */
async function reconcileAndTell(parts: FilingParts, day: DayToReconcile): Promise<Reconciliation> {
  const found = await reconcileDay(parts, day);
  const about = targetOf(day);
  if (isComplete(found)) {
    parts.alarms.clear("FILING_INCOMPLETE", about);
    return found;
  }
  const { missing, unexpected, different } = found;
  const counts = `${missing.count} missing, ${unexpected.count} unexpected, ${different.count} different`;
  const { regime, fundId, date } = day;
  const sentence = `${regime.name} of ${fundId} on ${date}: ${counts}. ctl operations filings reconcile --regime ${regime.name} --fund-id ${fundId} --date ${date}.`;
  const facts = { fund_id: fundId, regime: regime.name, submission_date: date, missing: missing.count };
  await parts.alarms.raise("FILING_INCOMPLETE", about, sentence, facts);
  return found;
}

async function review(parts: FilingParts, day: DayToReconcile, by: string, reason: string): Promise<FilingReview> {
  const { regime, fundId, date } = day;
  const found = await reconcileAndTell(parts, day);
  const verified = await verifyDay(parts, day);
  const at = format(parts.ports.clock.now());
  await parts.ports.store.transact("filings.review", (unit) =>
    unit.events.publish(subjects.filingReviewed, {
      regime: regime.name,
      fund_id: fundId,
      submission_date: date,
      reviewed_by: by,
      reason,
      expected: found.expected,
      recorded: found.recorded,
      by_call: found.byCall,
      quarantined: found.quarantined,
      not_reportable: found.notReportable,
      before_enabled: found.beforeEnabled,
      pending: found.pending,
      missing: found.missing.count,
      unexpected: found.unexpected.count,
      different: found.different.count,
      findings: verified.findingCount,
      audited_until: verified.until,
      at,
    }),
  );
  return {
    reviewed_at: at,
    reviewed_by: by,
    reconciliation: reconciliationOf(day, found, 0),
    verification: verificationOf(day, verified),
  };
}

function reconciliationOf(
  { regime, fundId, date }: Day,
  found: Reconciliation,
  repaired: number,
): FilingReconciliation {
  const { missing, unexpected, different } = found;
  return {
    regime: regime.name,
    fund_id: fundId,
    date,
    expected: found.expected,
    recorded: found.recorded,
    by_call: found.byCall,
    quarantined: found.quarantined,
    not_reportable: found.notReportable,
    before_enabled: found.beforeEnabled,
    pending: found.pending,
    missing_count: missing.count,
    missing: missing.first.map(missingMessage),
    unexpected_count: unexpected.count,
    unexpected: unexpected.first.map(unexpectedMessage),
    different_count: different.count,
    different: different.first.map(({ record, made }) => differentMessage(record, made)),
    repaired,
    audited_until: found.until,
  };
}

function missingMessage({ order, type, at }: RegulatoryEvent) {
  return { order_id: order.order_id, event_type: type, event_at: format(at) };
}

function unexpectedMessage({ recordId, orderId, type, source }: FilingRecord) {
  return { record_id: recordId, order_id: orderId, type, source };
}

function differentMessage({ recordId, orderId, type, text }: FilingRecord, made: RegimeRecord) {
  const expected = made.status === "WRITTEN" ? made.line : "";
  return { record_id: recordId, order_id: orderId, type, record: text, expected };
}

function verificationOf({ regime, fundId, date }: Day, found: Verification): FilingVerification {
  return {
    regime: regime.name,
    fund_id: fundId,
    date,
    records: found.records,
    pending: found.pending,
    files: found.files.map((file) => ({ ...file })),
    finding_count: found.findingCount,
    findings: found.findings.map((finding) => ({ ...finding })),
    audited_until: found.until,
  };
}

/** Files of the day that hold something else than their records are made again. What they held stays beside them under another name: nothing is deleted. */
async function rebuildDay(
  { ports, images, alarms, sha256 }: FilingParts,
  { regime, fundId, date }: Day,
): Promise<RebuiltFile[]> {
  const rebuilt: RebuiltFile[] = [];
  for (const status of ["WRITTEN", "QUARANTINED"] as const) {
    const file = { regime: regime.name, fundId, date, status };
    const path = pathOf(file, sha256);
    const before = await images.look(file, path);
    if (before.state === "IMAGE" || before.state === "NONE") continue;
    const aside = `${path.at(-1)}.changed-${format(ports.clock.now()).replaceAll(/[:-]/g, "")}`;
    const state = await images.makeAgain(file, path, aside);
    const name = path.join("/");
    if (state === "IMAGE") alarms.clear("FILING_FILE_CHANGED", name);
    rebuilt.push({ path: name, state: state ?? "IMAGE", set_aside_as: before.state === "CHANGED" ? aside : "" });
  }
  return rebuilt;
}
