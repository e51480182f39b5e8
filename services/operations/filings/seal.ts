// Seals a day's submission files: their bytes are what they are from then on, and what comes later goes into the next number.
//
//  1. A number is closed before it is read: nothing is added to it any more, whatever becomes of the sealing. One that was closed and not sealed is sealed next time.
//  2. The file and the event that tells of it are one unit of work; its bytes lie in the store, and the file in the folder is their image.
//  3. What is sealed are the rows: a file in the folder that holds something else is told of and not sealed.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Defect, Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { easternDate } from "../../../core/filings/eastern-time.ts";
import { groupOf } from "../../../core/filings/file-name.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import { filingId, folderOfFund } from "../../../core/filings/names.ts";
import { type Submission, type SubmissionName, submissionOf } from "../../../core/filings/submission.ts";
import type { FilingPath } from "../../../ports/filing-files.ts";
import type { FilingDay } from "../../../ports/filing-records.ts";
import type { FilingKey, FilingStanding, SealedFile } from "../../../ports/filing-submissions.ts";
import type { RangeToCompress } from "../../../ports/filing-work.ts";
import { bringFile, tellChanged } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";

export interface Doer {
  /** As entries name who did it. */
  readonly by: string;
  readonly reason?: string | undefined;
}

type SealedOrNot = { readonly sealed: readonly SealedFile[] } | { readonly denial: Denial };

const portion = 500;
const oneStatement = { isOneStatement: true } as const;
/** No day has more files than can be numbered. */
const numberMax = 999_999;

/** Everything of the day that is not sealed yet; several files where its mode changed or it is large. */
export async function sealDay(
  parts: FilingParts,
  day: FilingDay,
  { by, reason, signal }: Doer & { readonly signal: AbortSignal },
): Promise<SealedOrNot> {
  const settings = parts.ports.settings.filings?.funds[day.fundId] ?? {};
  const submission = submissionOf(day.regime);
  if (submission === undefined) {
    return { denial: { code: "FILING_REGIME_NOT_SEALED", reason: `Files of ${day.regime} are not sealed.` } };
  }
  const gaps = submission.identityGaps(settings);
  if (gaps.length > 0) {
    return { denial: { code: "FILING_IDENTITY_INCOMPLETE", reason: `Of ${day.fundId} ${gaps.join(", ")}.` } };
  }
  const open = await closeOpen(parts, day);
  const sealed: SealedFile[] = [];
  for (const key of open) {
    const { funds } = await parts.ports.referenceData.read();
    const group = groupOf(day.fundId, [...funds.map(({ fund_id: id }) => id)], parts.sha256);
    const name = submission.name(settings, group, day.date, key.number);
    const made = await sealOne(parts, key, { submission, name, by, reason, signal });
    if ("denial" in made) return made;
    sealed.push(made);
  }
  return { sealed };
}

/** The numbers of a day that are not sealed, all of them closed now. */
function closeOpen(parts: FilingParts, day: FilingDay): Promise<readonly FilingKey[]> {
  const { store, clock } = parts.ports;
  return parts.inTurn(() =>
    store.transact("filings.close", async (unit) => {
      const last = await unit.filings.last(day);
      if (last === undefined) return [];
      const sealed = await unit.filingSubmissions.between({ ...day, number: 0 }, { ...day, number: numberMax });
      const first = (sealed.at(-1)?.file.number ?? 0) + 1;
      const open: FilingKey[] = [];
      for (let number = first; number <= last.number; number += 1) open.push({ ...day, number });
      const newest = open.at(-1);
      if (newest !== undefined) await unit.filingSubmissions.close(newest, clock.now());
      return open;
    }),
  );
}

interface Sealing extends Doer {
  readonly submission: Submission;
  readonly name: SubmissionName;
  readonly signal: AbortSignal;
}

async function sealOne(
  parts: FilingParts,
  key: FilingKey,
  { submission, name, by, reason, signal }: Sealing,
): Promise<SealedFile | { readonly denial: Denial }> {
  const { ports } = parts;
  const { store, clock } = ports;
  const range = await store.transact("filings.look", (unit) => unit.filings.range(key), oneStatement);
  if (range === undefined) throw new Defect(`${idOf(key)} has no lines`);
  const content = await contentOf(parts, key, signal);
  if (content === undefined) return notTheRecords(key);
  const settings = ports.settings.filings?.funds[key.fundId] ?? {};
  const sha256 = hexOf(ports.sha256OfBytes(content));
  const at = clock.now();
  const hasMeta = ports.settings.filings?.regimes?.[key.regime]?.hasMetaFile !== false;
  const described = { name, records: range.count, sha256, sealedOn: easternDate(at) };
  const text = hasMeta ? submission.meta?.(settings, described) : undefined;
  const file: SealedFile = {
    ...key,
    mode: range.mode,
    fromLine: range.fromLine,
    toLine: range.fromLine + range.count,
    base: name.base,
    name: name.data,
    ...(text !== undefined && name.meta !== undefined && { meta: { name: name.meta, text } }),
    bytes: content.length,
    sha256,
    sealedBy: by,
    at,
  };
  await store.transact("filings.seal", async (unit) => {
    await unit.filingSubmissions.seal(file, content);
    await unit.events.publish(subjects.filingSealed, {
      filing_id: idOf(file),
      regime: file.regime,
      fund_id: file.fundId,
      mode: file.mode,
      submission_date: file.date,
      number: file.number,
      name: file.name,
      records: range.count,
      bytes: file.bytes,
      sha256,
      sealed_by: by,
      ...(reason !== undefined && { reason }),
      at: format(at),
    });
  });
  await bringSealed(parts, file);
  return file;
}

/** The bytes that are handed in; undefined where the folder's file is not what the rows say. */
async function contentOf(parts: FilingParts, key: FilingKey, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const written = { regime: key.regime, fundId: key.fundId, date: key.date, status: "WRITTEN" } as const;
  const brought = await bringFile(parts, written);
  if (brought === "CHANGED") return undefined;
  if (brought === undefined) {
    throw new Fault("FILING_NOT_IN_FILE", `The lines of ${idOf(key)} are not in its file yet.`, { retry: "later" });
  }
  const range = await rangeOf(parts, key, [...folderOf(parts, key), "events.ndjson"]);
  const content = await parts.ports.filingWork.compress(range, signal);
  if (content !== "CHANGED") return content;
  await tellChanged(parts, written);
  return undefined;
}

async function rangeOf(parts: FilingParts, key: FilingKey, path: FilingPath): Promise<RangeToCompress> {
  const { store } = parts.ports;
  const from = await store.transact("filings.look", (unit) => unit.filingSubmissions.bytesBefore(key), oneStatement);
  const portions: { readonly bytes: number; readonly sha256: string }[] = [];
  for (let at = 0; ; at += portion) {
    const lines = await store.transact(
      "filings.look",
      (unit) => unit.filings.linesOfNumber(key, at, portion),
      oneStatement,
    );
    if (lines.length === 0) return { path, from, portions };
    const text = lines.map((line) => `${line}\n`).join("");
    portions.push({ bytes: new TextEncoder().encode(text).length, sha256: parts.sha256(text) });
  }
}

/** The sealed file, and what goes with it, as they lie in the folder: images of what the store has. False where something else lies there. */
export async function bringSealed(parts: FilingParts, file: SealedFile): Promise<boolean> {
  const { store, filingFiles } = parts.ports;
  const content = await store.transact("filings.look", (unit) => unit.filingSubmissions.content(file), oneStatement);
  if (content === undefined) throw new Defect(`${idOf(file)} has no bytes`);
  const wanted: readonly (readonly [string, Uint8Array])[] = [
    [file.name, content],
    ...(file.meta === undefined ? [] : [[file.meta.name, new TextEncoder().encode(file.meta.text)] as const]),
  ];
  for (const [name, bytes] of wanted) {
    const path = sealedPath(parts, file, name);
    const size = (await filingFiles.size(path)) ?? 0;
    const there = size === 0 ? new Uint8Array() : await filingFiles.read(path, 0, Math.min(size, bytes.length));
    const isImage = size <= bytes.length && there.every((byte, index) => byte === bytes[index]);
    const isWhole = isImage && (size === bytes.length || (await filingFiles.append(path, size, bytes.subarray(size))));
    if (!isWhole) {
      await tellChanged(parts, { ...file, status: "WRITTEN" }, name);
      return false;
    }
  }
  return true;
}

export function sealedPath(parts: Pick<FilingParts, "sha256">, day: FilingDay, name: string): FilingPath {
  return [...folderOf(parts, day), name];
}

function folderOf({ sha256 }: Pick<FilingParts, "sha256">, { regime, fundId, date }: FilingDay): FilingPath {
  return [regimeOf(regime).folder, folderOfFund(fundId, sha256), date];
}

export function idOf({ regime, fundId, date, number }: FilingKey): string {
  return filingId(regime, fundId, date, number);
}

export function standingsOf({ ports }: Pick<FilingParts, "ports">, day: FilingDay): Promise<readonly FilingStanding[]> {
  return ports.store.transact(
    "filings.look",
    (unit) => unit.filingSubmissions.between({ ...day, number: 0 }, { ...day, number: numberMax }),
    oneStatement,
  );
}

function notTheRecords(key: FilingKey): { readonly denial: Denial } {
  const reason = `The submission file of ${key.fundId} of ${key.date} is not what its records are: it is not sealed.`;
  return { denial: { code: "FILING_NOT_THE_RECORDS", reason } };
}

/** Of a text with a byte in each character. */
function hexOf(bytes: string): string {
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}
