// Brings sealed submission files to the regulator: by a person's word, and by itself once a day.
//
//  1. A file goes in its number's turn, its data before what goes with it; that it arrived is a row with its event. After an outcome that is not known the same
//     call looks first, so that nothing goes twice.
//  2. Records of a paper fund never reach production, nor those of a live fund test.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { FilingDay } from "../../../ports/filing-records.ts";
import type { FilingSending, SealedFile } from "../../../ports/filing-submissions.ts";
import type { RegimeSettings } from "../../../ports/settings.ts";
import type { FilingParts } from "./filing-parts.ts";
import { bringSealed, type Doer, idOf, sealDay, sealedPath, standingsOf } from "./seal.ts";

type UploadedOrNot = { readonly uploaded: readonly FilingSending[] } | { readonly denial: Denial };

/** The day's sealed files that have not arrived; with `byHand` a person says that they did. */
export async function uploadDay(
  parts: FilingParts,
  day: FilingDay,
  asked: Doer & { readonly isByHand: boolean; readonly signal: AbortSignal },
): Promise<UploadedOrNot> {
  const standings = await standingsOf(parts, day);
  if (standings.length === 0) {
    const reason = `Nothing of ${day.fundId} of ${day.date} is sealed.`;
    return { denial: { code: "FILING_NOT_SEALED", reason } };
  }
  const waiting = standings.filter(({ sending }) => sending === undefined).map(({ file }) => file);
  const uploaded: FilingSending[] = [];
  for (const file of waiting) {
    const how = asked.isByHand ? "BY_HAND" : await bring(parts, file, asked.signal);
    if (typeof how !== "string") return how;
    uploaded.push(await tellSent(parts, file, how, asked));
  }
  return { uploaded };
}

async function bring(
  parts: FilingParts,
  file: SealedFile,
  signal: AbortSignal,
): Promise<"SENT" | "THERE" | { readonly denial: Denial }> {
  const refused = mayGo(parts.ports.settings.filings?.regimes?.[file.regime], file);
  if (refused !== undefined) return { denial: refused };
  if (!(await bringSealed(parts, file))) {
    const reason = `What lies in the folder as ${file.name} is not what was sealed.`;
    return { denial: { code: "FILING_NOT_THE_RECORDS", reason } };
  }
  const files = [{ path: sealedPath(parts, file, file.name), name: file.name, sha256: file.sha256 }];
  if (file.meta !== undefined) {
    const { name, text } = file.meta;
    files.push({ path: sealedPath(parts, file, name), name, sha256: parts.sha256(text) });
  }
  try {
    const [outcome] = await parts.ports.filingWork.send(file.regime, files, signal);
    return outcome ?? "THERE";
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const reason = `${file.name} did not get to the regulator's folder: ${messageOf(thrown)}.`;
    return { denial: { code: "FILING_UPLOAD_REFUSED", reason } };
  }
}

/** Why a file of that mode goes nowhere. */
export function mayGo(
  settings: RegimeSettings | undefined,
  { regime, mode }: Pick<SealedFile, "regime" | "mode">,
): Denial | undefined {
  if (settings === undefined || settings.transport === "none") {
    return { code: "FILING_NO_TRANSPORT", reason: `The configuration names no way for ${regime}.` };
  }
  const isMeant = settings.environment === (mode === "LIVE" ? "production" : "test");
  if (isMeant) return undefined;
  const reason = `Records of a ${mode} fund do not go to ${settings.environment}.`;
  return { code: "FILING_MODE_MISMATCH", reason };
}

async function tellSent(
  { ports }: FilingParts,
  file: SealedFile,
  how: FilingSending["how"],
  { by, reason }: Doer,
): Promise<FilingSending> {
  const at = ports.clock.now();
  const { regime, fundId, date, number } = file;
  const sending: FilingSending = { regime, fundId, date, number, at, how, sentBy: by };
  await ports.store.transact("filings.sent", async (unit) => {
    if (!(await unit.filingSubmissions.sent(sending))) return;
    await unit.events.publish(subjects.filingUploaded, {
      filing_id: idOf(file),
      regime,
      fund_id: fundId,
      name: file.name,
      sha256: file.sha256,
      how,
      uploaded_by: by,
      ...(reason !== undefined && { reason }),
      at: format(at),
    });
  });
  return sending;
}

/** Seals what is open of a day and sends what has not arrived, and tells when that does not work. Whether it did. */
export async function fileDay(parts: FilingParts, day: FilingDay, signal: AbortSignal): Promise<boolean> {
  const { alarms } = parts;
  const about = `${day.regime} ${day.fundId} ${day.date}`;
  const failed = async (why: string): Promise<false> => {
    const facts = { fund_id: day.fundId, regime: day.regime, submission_date: day.date };
    await alarms.raise("FILING_UPLOAD_FAILED", about, `${day.regime} of ${day.fundId} of ${day.date}: ${why}`, facts);
    return false;
  };
  try {
    const doer = { by: "operations", signal };
    const sealed = await parts.sealing(() => sealDay(parts, day, doer));
    if ("denial" in sealed) return await failed(sealed.denial.reason);
    const uploaded = await parts.sealing(() => uploadDay(parts, day, { ...doer, isByHand: false }));
    if ("denial" in uploaded) return await failed(uploaded.denial.reason);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || signal.aborted) throw thrown;
    return failed(`${messageOf(thrown)}.`);
  }
  alarms.clear("FILING_UPLOAD_FAILED", about);
  return true;
}
