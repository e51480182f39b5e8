// Takes what a regulator says about files and records, from its folder or from a person. It lies where others write, so that it is held against what was sent.
//
//  1. What is unreadable, too large, or about nothing of ours changes nothing, and is told. So is a file that kills whoever reads it.
//  2. The same file again changes nothing, and so does the same rejection in another file.
//  3. What it changes and the event that tells of it are one unit of work.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RegimeName } from "../../../contracts/src/records/filing.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { readFeedbackName } from "../../../core/filings/feedback.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { FilingFeedbackRow, FilingKey } from "../../../ports/filing-submissions.ts";
import type { FeedbackListed } from "../../../ports/filing-transport.ts";
import type { ReadError, ReadFeedback } from "../../../ports/filing-work.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { line } from "../../shared/one-line.ts";
import type { FilingParts } from "./filing-parts.ts";
import { idOf } from "./seal.ts";

export interface TakenFeedback {
  readonly name: string;
  readonly outcome: FilingFeedbackRow["outcome"] | "KNOWN";
  readonly rejected: number;
  readonly file?: FilingKey | undefined;
  readonly problem?: string | undefined;
}

interface Asked {
  readonly signal: AbortSignal;
}

/** Names of one question to the store, and files of one process that reads. */
const namesAtOnce = 500;
const filesAtOnce = 10;

/** What lies in the regulator's folder and was not read yet. */
export async function hearFeedback(
  parts: FilingParts,
  regime: RegimeName,
  { signal }: Asked,
): Promise<readonly TakenFeedback[]> {
  const listed = await parts.ports.filingWork.listFeedback(regime, signal);
  const fresh = await unread(parts, regime, listed);
  const taken: TakenFeedback[] = [];
  for (let at = 0; at < fresh.length && !signal.aborted; at += filesAtOnce) {
    const some = fresh.slice(at, at + filesAtOnce);
    for (const read of await readSome(parts, regime, some, signal)) taken.push(await takeFeedback(parts, regime, read));
  }
  return taken;
}

async function unread(
  { ports }: FilingParts,
  regime: RegimeName,
  listed: readonly FeedbackListed[],
): Promise<readonly FeedbackListed[]> {
  const fresh: FeedbackListed[] = [];
  for (let at = 0; at < listed.length; at += namesAtOnce) {
    const some = listed.slice(at, at + namesAtOnce);
    const names = some.map(({ name }) => name);
    const known = await ports.store.transact(
      "filings.look",
      (unit) => unit.filingSubmissions.readFeedback(regime, names),
      { isOneStatement: true },
    );
    fresh.push(...some.filter((one) => !known.some(({ name, bytes }) => name === one.name && bytes === one.bytes)));
  }
  return fresh;
}

/** One file that kills the process must not keep the others from being read: then each is read alone. */
async function readSome(
  { ports, sha256 }: FilingParts,
  regime: RegimeName,
  some: readonly FeedbackListed[],
  signal: AbortSignal,
): Promise<readonly ReadFeedback[]> {
  const bytesOf = (read: ReadFeedback): number => some.find(({ name }) => name === read.name)?.bytes ?? read.bytes;
  const ask = async (names: readonly string[]): Promise<readonly ReadFeedback[]> =>
    (await ports.filingWork.readFeedback(regime, names, signal)).map((read) => ({ ...read, bytes: bytesOf(read) }));
  try {
    return await ask(some.map(({ name }) => name));
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "FILING_WORK_DIED" || signal.aborted) throw thrown;
  }
  const read: ReadFeedback[] = [];
  for (const { name, bytes } of some) {
    try {
      read.push(...(await ask([name])));
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== "FILING_WORK_DIED" || signal.aborted) throw thrown;
      const problem = `Whoever reads it dies: ${messageOf(thrown)}.`;
      read.push({ name, bytes, sha256: sha256(`${name} ${bytes}`), problem });
    }
  }
  return read;
}

/** One feedback file, as it was read. */
export async function takeFeedback(parts: FilingParts, regime: RegimeName, read: ReadFeedback): Promise<TakenFeedback> {
  const at = parts.ports.clock.now();
  const taken = await parts.ports.store.transact("filings.feedback", async (unit): Promise<TakenFeedback> => {
    const known = await unit.filingSubmissions.readFeedback(regime, [read.name]);
    if (known.some(({ sha256 }) => sha256 === read.sha256)) return { name: read.name, outcome: "KNOWN", rejected: 0 };
    const judged = await judge(unit, regime, read);
    const { rejected, ...row } = judged;
    const seen = { regime, name: read.name, sha256: read.sha256, bytes: read.bytes, at };
    await unit.filingSubmissions.takeFeedback({ ...seen, ...row });
    let count = 0;
    for (const { recordId, error } of rejected) {
      const { errorRoeId, codes } = error;
      if (await unit.filingSubmissions.reject({ recordId, errorRoeId, codes, feedback: read.name, at })) count += 1;
    }
    await unit.events.publish(subjects.filingFeedback, {
      regime,
      name: read.name,
      sha256: read.sha256,
      outcome: row.outcome,
      ...(row.file !== undefined && { filing_id: idOf(row.file), fund_id: row.file.fundId }),
      ...(row.stage !== undefined && { stage: row.stage }),
      ...(row.status !== undefined && { status: row.status }),
      ...(row.code !== undefined && { code: row.code }),
      rejected: count,
      ...(row.problem !== undefined && { problem: row.problem }),
      at: format(at),
    });
    const { outcome, file, problem } = row;
    return { name: read.name, outcome, rejected: count, file, problem };
  });
  await tell(parts, regime, read, taken);
  return taken;
}

interface Judged extends Omit<FilingFeedbackRow, "regime" | "name" | "sha256" | "bytes" | "at"> {
  readonly rejected: readonly { readonly recordId: string; readonly error: ReadError }[];
}

async function judge(unit: UnitOfWork, regime: RegimeName, read: ReadFeedback): Promise<Judged> {
  const named = readFeedbackName(read.name);
  if ("problem" in read || named === undefined) {
    const problem = line("problem" in read ? read.problem : "Its name is not one of feedback.", 2_000);
    return { outcome: "UNREADABLE", problem, rejected: [] };
  }
  const { stage, base } = named;
  const file = stage === "linkage-error" ? undefined : await unit.filingSubmissions.named(regime, base);
  if (file === undefined && stage !== "linkage-error") {
    return { outcome: "FOREIGN", stage, problem: "It is about no file of ours.", rejected: [] };
  }
  const of = file === undefined ? {} : { file: keyOf(file) };
  if ("receipt" in read) return { outcome: "TAKEN", stage, ...of, ...read.receipt, rejected: [] };
  const rejected: { readonly recordId: string; readonly error: ReadError }[] = [];
  for (const error of read.errors) {
    const record = await recordOf(unit, regime, error.firmRoeId, file);
    if (record !== undefined) rejected.push({ recordId: record.recordId, error });
  }
  const strange = read.errors.length - rejected.length;
  if (rejected.length === 0 && strange > 0) {
    return { outcome: "FOREIGN", stage, ...of, problem: "None of its records is ours.", rejected: [] };
  }
  const problem = strange === 0 ? {} : { problem: `${strange} of its ${read.errors.length} records are not ours.` };
  return { outcome: "TAKEN", stage, ...of, errors: read.errors.length, ...problem, rejected };
}

/** The newest that is called so and was handed in; of a file's own errors the one that is in it. */
async function recordOf(
  unit: UnitOfWork,
  regime: RegimeName,
  reference: string,
  file: FilingKey | undefined,
): Promise<FilingRecord | undefined> {
  const called = await unit.filings.called(regime, reference);
  const isIn = (one: FilingRecord): boolean =>
    file === undefined || (one.fundId === file.fundId && one.date === file.date && one.number === file.number);
  return called.filter((one) => one.status === "WRITTEN" && isIn(one)).at(-1);
}

function keyOf({ regime, fundId, date, number }: FilingKey): FilingKey {
  return { regime, fundId, date, number };
}

/** The same file had arrived before: that is what was wanted. */
const arrivedBefore = "1103";

async function tell(
  { alarms }: FilingParts,
  regime: RegimeName,
  read: ReadFeedback,
  { outcome, rejected, problem, file }: TakenFeedback,
): Promise<void> {
  const about = `${regime} ${read.name}`;
  if (outcome === "UNREADABLE" || outcome === "FOREIGN") {
    const sentence = `The feedback ${read.name} changed nothing: ${problem ?? "it says nothing of ours."}`;
    await alarms.raise("FILING_FEEDBACK_UNREAD", about, sentence, { regime, name: read.name });
    return;
  }
  const isFailure = "receipt" in read && read.receipt.status === "Failure" && read.receipt.code !== arrivedBefore;
  if (outcome === "KNOWN" || (rejected === 0 && !isFailure)) return;
  const whole = file === undefined ? "a file" : idOf(file);
  const what = isFailure ? `rejected ${whole}` : `rejected ${rejected} records of ${whole}`;
  const sentence = `${regime} ${what} (${read.name}): ctl operations filings records --status REJECTED.`;
  await alarms.raise("FILING_REJECTED", about, sentence, { regime, name: read.name, records: rejected });
}
