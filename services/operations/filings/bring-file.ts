// Brings a submission file up to its records, and tells operators when that cannot be done, or when it holds something else.
import { messageOf } from "../../../contracts/src/fault.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import { folderOfFund } from "../../../core/filings/names.ts";
import type { HexSha256 } from "../../../core/filings/regulatory-event.ts";
import type { FilingFile, FilingRecord } from "../../../ports/filing-records.ts";
import type { Brought } from "./file-images.ts";
import type { FilingParts } from "./filing-parts.ts";

/** More days of a fund are not counted in an alarm. */
const daysMax = 1_000;

/** Undefined when the file cannot be reached. */
export async function bringFile(
  { images, alarms, sha256 }: Pick<FilingParts, "images" | "alarms" | "sha256">,
  file: FilingFile,
): Promise<Brought | undefined> {
  const path = pathOf(file, sha256);
  const name = path.join("/");
  const facts = { fund_id: file.fundId, regime: file.regime, submission_date: file.date };
  try {
    const brought = await images.bring(file, path);
    alarms.clear("FILING_FILE_BEHIND", name);
    if (brought === "IMAGE") alarms.clear("FILING_FILE_CHANGED", name);
    else await tellChanged({ alarms, sha256 }, file);
    return brought;
  } catch (thrown) {
    const sentence = `The submission file ${name} could not be written: ${messageOf(thrown)}.`;
    await alarms.raise("FILING_FILE_BEHIND", name, sentence, facts);
    return undefined;
  }
}

/** That a file of a day holds something else: the day's lines, or the one of that name. */
export async function tellChanged(
  { alarms, sha256 }: Pick<FilingParts, "alarms" | "sha256">,
  file: FilingFile,
  called?: string,
): Promise<void> {
  const own = pathOf(file, sha256);
  const name = (called === undefined ? own : [...own.slice(0, -1), called]).join("/");
  const facts = { fund_id: file.fundId, regime: file.regime, submission_date: file.date };
  await alarms.raise("FILING_FILE_CHANGED", name, `The submission file ${name} is not what its records are.`, facts);
}

/** Under the folder of filings. */
export function pathOf({ regime, fundId, date, status }: FilingFile, sha256: HexSha256): readonly string[] {
  const name = status === "WRITTEN" ? "events.ndjson" : "quarantine.ndjson";
  return [regimeOf(regime).folder, folderOfFund(fundId, sha256), date, name];
}

/** One alarm for a fund and regime, with how many there are. */
export async function tellQuarantined(
  { ports, alarms }: Pick<FilingParts, "alarms"> & { readonly ports: Pick<FilingParts["ports"], "store"> },
  { fundId, regime }: Pick<FilingRecord, "fundId" | "regime">,
): Promise<void> {
  const query = { regime, fundId, countMax: daysMax };
  const days = await ports.store.transact("filings.look", (unit) => unit.filings.days(query), { isOneStatement: true });
  const count = days.reduce((sum, { quarantined }) => sum + quarantined, 0);
  if (count === 0) return alarms.clear("FILING_QUARANTINED", `${regime} ${fundId}`);
  const those = count === 1 ? "1 record" : `${count} records`;
  const sentence = `${regime} would refuse ${those} of ${fundId}: ctl operations filings records --fund-id ${fundId} --status QUARANTINED.`;
  await alarms.raise("FILING_QUARANTINED", `${regime} ${fundId}`, sentence, {
    fund_id: fundId,
    regime,
    records: count,
  });
}
