// What people ask the audit log beyond appending and verifying: pages of it, the proof of one entry, the head of a bundle, its state, a thorough
// inspection, and its tree as static tiles. Everything comes from the store and is proved against the newest checkpoint.
import { Fault } from "../../../../contracts/src/fault.ts";
import type {
  AuditBundleHead,
  AuditBundleRequest,
  AuditConsistencyRequest,
  AuditInspection,
  AuditProofRequest,
  AuditRun,
  AuditStatus,
  AuditTile,
  AuditTileRequest,
  BeginAuditVerificationRequest,
  InspectAuditRequest,
  WatchAuditRunRequest,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import * as instant from "../../../../contracts/src/instant.ts";
import { utf8Of } from "../../../../core/audit/base64.ts";
import { bundleHead, bundleSpans } from "../../../../core/audit/bundle/bundle.ts";
import { createTreeHash, type perfectSubtrees, type TreeHash } from "../../../../core/audit/merkle.ts";
import { encodeEntries, readTilePath, tileOf, tileWidthMax } from "../../../../core/audit/tiles.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { RpcCall, RpcService } from "../../../../ports/rpc.ts";
import type { Sha256OfBytes } from "../../../../ports/signing.ts";
import { type AnewQueriesPorts, anewHandlers } from "../anew/anew-queries.ts";
import { closedLogMessages, logOf } from "../anew/closed-logs.ts";
import type { RunningAudit, RunResult } from "../audit-ports.ts";
import { sentenceOf } from "../checking/finding-sentence.ts";
import type { FsckReport } from "../checking/fsck.ts";
import type { RunState } from "../checking/runs.ts";
import { type KeyQueriesPorts, keyHandlers } from "../keys/key-queries.ts";
import { hashesOf } from "../log/growing-tree.ts";
import { invalid } from "../log/reserved.ts";
import { type EraseQueriesPorts, eraseHandlers } from "../personal/erase-queries.ts";
import { type AlarmQueriesPorts, alarmHandlers } from "./alarm-queries.ts";
import { atMost } from "./at-most.ts";
import { broken } from "./audit-rpc.ts";
import { anchored, consistencyOf, handoversIn, proofOf, tilesMissing } from "./proof-queries.ts";
import { type TailQueriesPorts, tailHandlers } from "./tail-queries.ts";

interface AuditQueriesPorts
  extends Pick<RunningAudit, "status" | "fsck" | "flush" | "beginVerification" | "beginInspection" | "watchRun">,
    TailQueriesPorts,
    AlarmQueriesPorts,
    KeyQueriesPorts,
    AnewQueriesPorts,
    EraseQueriesPorts {
  readonly auditLog: AuditLog;
  readonly sha256OfBytes: Sha256OfBytes;
}

const hashBytes = 32;
const inspectionsMax = 1;

export function auditQueries(ports: AuditQueriesPorts): RpcService {
  const tree = createTreeHash(ports.sha256OfBytes);
  const oneInspection = atMost(inspectionsMax, "inspection of the audit log is running");
  return {
    name: "AuditDesk",
    handlers: {
      GetAuditProof: (request: AuditProofRequest) => proofOf(ports, tree, request),
      GetAuditConsistency: (request: AuditConsistencyRequest) => consistencyOf(ports, tree, request),
      GetAuditBundleHead: (request: AuditBundleRequest) => bundleHeadOf(ports, tree, request),
      GetAuditStatus: () => statusOf(ports),
      InspectAudit: (request: InspectAuditRequest, call: RpcCall) => oneInspection(() => inspect(ports, request, call)),
      GetAuditTile: (request: AuditTileRequest) => tileAt(ports, request),
      async BeginAuditVerification({ from_sequence: from, log = 0 }: BeginAuditVerificationRequest): Promise<AuditRun> {
        const { size } = await (await logOf(ports.auditLog, log, ports.status().number)).head();
        if (from > size) throw invalid(`from_sequence is ${from}: the log has ${size} entries, counted from 0.`);
        return runMessage(await ports.beginVerification(from, log));
      },
      BeginAuditInspection: async ({ rebuild }: InspectAuditRequest) =>
        runMessage(await ports.beginInspection(rebuild)),
      WatchAuditRun: async ({ run_id: runId }: WatchAuditRunRequest) => runMessage(await ports.watchRun(runId)),
      ...alarmHandlers(ports),
      ...tailHandlers({ ...ports, logOf: (number) => logOf(ports.auditLog, number, ports.status().number) }),
      ...keyHandlers(ports),
      ...anewHandlers(ports),
      ...eraseHandlers(ports),
    },
  };
}

async function bundleHeadOf(
  ports: AuditQueriesPorts,
  tree: TreeHash,
  { from_sequence: from, count, log = 0 }: AuditBundleRequest,
): Promise<AuditBundleHead> {
  const auditLog = await logOf(ports.auditLog, log, ports.status().number);
  const { size: logSize } = await auditLog.head();
  if (from >= logSize) throw invalid(`There is no entry ${from}: the log has ${logSize}.`);
  const wanted = count === 0 ? logSize : Math.min(logSize, from + count);
  const isWritten = auditLog === ports.auditLog;
  // What a closed log has not signed it will never sign; what it has signed may be more than it has.
  const { size, note } = await anchored({ ...ports, auditLog, isWritten }, isWritten ? wanted : 1);
  const entries = (count === 0 ? size : Math.min(wanted, size)) - from;
  if (entries <= 0) throw invalid(`No checkpoint covers entry ${from}: the newest is of size ${size}.`);
  const spans = bundleSpans(from, entries, size);
  const subtrees = [...spans.left, ...spans.right];
  const hashAt = await hashesOf(
    auditLog,
    tree,
    subtrees.map(({ level, index }) => tileOf(level, index, size).tile),
    size,
  );
  if (hashAt === undefined) throw tilesMissing();
  const hashesAt = (parts: ReturnType<typeof perfectSubtrees>) => parts.map(({ level, index }) => hashAt(level, index));
  const handovers = await handoversIn({ ...ports, auditLog }, await keysOf(ports, log), { from, entries });
  const head = bundleHead({
    from,
    entries,
    checkpoint: note,
    handovers,
    left: hashesAt(spans.left),
    right: hashesAt(spans.right),
  });
  return { head, from_sequence: from, count: entries };
}

/** The name of a log and the sizes that its keys begin with. */
async function keysOf(
  { status, auditLog }: AuditQueriesPorts,
  log: number,
): Promise<{ readonly origin: string; readonly keyTerms: readonly { readonly fromSize: number }[] }> {
  const now = status();
  if (log === 0 || log === now.number) return now;
  const closed = (await closedLogMessages(auditLog)).find((one) => one.log === log);
  return { origin: closed?.origin ?? "", keyTerms: [] };
}

async function statusOf({ auditLog, status }: AuditQueriesPorts): Promise<AuditStatus> {
  const now = status();
  const [head, newest] = [await auditLog.head(), await auditLog.newestCheckpoint()];
  return {
    origin: now.origin,
    size: head.size,
    hash: head.hash,
    checkpoint_size: newest?.size ?? 0,
    checkpoint: newest?.note ?? "",
    trust: now.trust,
    witnesses_needed: now.witnessesNeeded,
    witnesses: [...now.witnesses],
    keys: [...now.keys],
    verified_at: now.lastVerified === undefined ? "" : instant.format(now.lastVerified.at),
    verified: now.lastVerified?.result ?? "",
    key_terms: now.keyTerms.map(({ key, fromSize, toSize, revoked }) => ({
      vkey: key.vkey,
      key_id: key.id,
      from_size: fromSize,
      revoked,
      to_size: toSize === Number.MAX_SAFE_INTEGER ? 0 : toSize,
    })),
    anchors: now.anchors.map(({ name, size, behindMs, complaint }) => ({
      name,
      size,
      behind_s: Math.floor(behindMs / 1_000),
      complaint: complaint ?? "",
    })),
    complaint: now.complaint ?? "",
    broken: now.broken !== undefined,
    witnessed_size: now.witnessedSize,
    witness_complaints: [...now.witnessComplaints],
    log: now.number,
    closed_logs: [...(await closedLogMessages(auditLog))],
  };
}

async function inspect(
  { fsck }: AuditQueriesPorts,
  { rebuild }: InspectAuditRequest,
  call: RpcCall,
): Promise<AuditInspection> {
  return inspectionMessage(await fsck({ rebuild, signal: call.signal }));
}

function inspectionMessage(report: FsckReport): AuditInspection {
  const { indexWrong, indexFaults, indexRepaired, tilesRebuilt } = report;
  const findings = report.tilesWrong.map((path) => `The tile ${path} is missing or is not what the entries say.`);
  findings.unshift(...indexFaults.map(sentenceOf));
  if (indexWrong > indexFaults.length) findings.push(`${indexWrong} rows of the index differ; these are the first.`);
  // Until it is rebuilt a wrong index is a fault like any other; a chain that is broken stands before all of it.
  if (report.fault !== undefined && report.verified === undefined) findings.unshift(sentenceOf(report.fault));
  return {
    entry_count: report.verified?.entries ?? 0,
    trust_level: report.verified?.level ?? "",
    unanchored_count: report.verified?.unanchoredTail ?? 0,
    findings,
    rebuilt: [
      ...(tilesRebuilt === 0 ? [] : [`${tilesRebuilt} tiles were written anew.`]),
      ...(indexRepaired === 0 ? [] : [`${indexRepaired} of ${indexWrong} rows of the index were put right.`]),
    ],
    covered_size: report.verified?.coveredSize ?? 0,
    fault: report.fault,
  };
}

/** A run that found the chain broken is reported as VerifyAudit tells it; an inspection has it among its findings. */
function runMessage({ runId, nextSequence, size, result }: RunState<RunResult>): AuditRun {
  const run = { run_id: runId, next_sequence: nextSequence, size, done: result !== undefined };
  const none = { verification: undefined, inspection: undefined };
  if (result === undefined) return { ...run, ...none };
  if (result.kind === "inspected") return { ...run, ...none, inspection: inspectionMessage(result.report) };
  const { verdict } = result;
  if ("fault" in verdict) throw broken(verdict.fault);
  const { entries, level, unanchoredTail, coveredSize } = verdict;
  const reported = {
    entry_count: entries,
    trust_level: level,
    unanchored_count: unanchoredTail,
    covered_size: coveredSize,
    // A chain with a gap is a broken one.
    gap_count: 0,
  };
  return { ...run, ...none, verification: reported };
}

async function tileAt({ auditLog }: AuditQueriesPorts, { path }: AuditTileRequest): Promise<AuditTile> {
  const content = await contentAt(auditLog, path);
  if (content === undefined) throw new Fault("NOT_FOUND", `There is no ${JSON.stringify(path)}.`, { retry: "later" });
  return { content: content as AuditTile["content"] };
}

async function contentAt(auditLog: AuditLog, path: string): Promise<Uint8Array | undefined> {
  if (path === "checkpoint") {
    const newest = await auditLog.newestCheckpoint();
    return newest === undefined ? undefined : utf8Of(newest.note);
  }
  const asked = readTilePath(path);
  if (asked === undefined) throw invalid(`${JSON.stringify(path.slice(0, 100))} is not the path of a tile.`);
  if (asked.kind === "entries") {
    const rows = await auditLog.read(asked.index * tileWidthMax, asked.width);
    return rows.length < asked.width ? undefined : encodeEntries(rows.map(({ text }) => text));
  }
  const stored = await auditLog.readTile(asked.level, asked.index);
  return stored === undefined || stored.length < asked.width * hashBytes
    ? undefined
    : stored.subarray(0, asked.width * hashBytes);
}
