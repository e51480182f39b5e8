// What is handed in to a regulator: how a sealed file is called, what goes with it, and which identity it cannot be without. One entry for each regime.
import type { FundFilings, RegimeName } from "../../contracts/src/records/filing.ts";
import { catVersion } from "./cat/layouts.ts";
import { catDate } from "./eastern-time.ts";
import { numberText } from "./file-name.ts";

export interface SubmissionName {
  /** Without what stands behind its last word; feedback repeats it. */
  readonly base: string;
  /** Of the file that is handed in. */
  readonly data: string;
  /** Of what goes with it; none where the regime has none. */
  readonly meta?: string;
}

interface Sealed {
  readonly name: SubmissionName;
  readonly records: number;
  /** Of the bytes that are handed in. */
  readonly sha256: string;
  /** YYYY-MM-DD, on the day that it is sealed. */
  readonly sealedOn: string;
}

export interface Submission {
  /** What the fund's configuration lacks, or has in a form that the regime cannot hold: a sentence for each, with the key's name. */
  identityGaps(settings: FundFilings): readonly string[];
  /** Asked only where there are no gaps. */
  name(settings: FundFilings, group: string, date: string, number: number): SubmissionName;
  /** What goes with it. */
  meta?(settings: FundFilings, sealed: Sealed): string;
}

const cat: Submission = {
  identityGaps({ cat: settings }) {
    const { submitterId = "", imid = "", fdid = "" } = settings ?? {};
    return [
      ...gap(/^\d{1,20}$/.test(submitterId), "cat_subscriber_id", submitterId, "digits"),
      ...gap(/^[A-Z0-9]{1,7}$/i.test(imid), "cat_reporter_imid", imid, "1 to 7 letters and digits"),
      ...gap(fdid.length >= 1 && fdid.length <= 40, "cat_fdid", fdid, "at most 40 characters"),
    ];
  },
  name({ cat: settings }, group, date, number) {
    const words = [settings?.submitterId, settings?.imid, catDate(date), group, "OrderEvents", numberText(number)];
    const base = words.join("_");
    return { base, data: `${base}.json.bz2`, meta: `${base}.meta.json` };
  },
  meta: ({ cat: settings }, { name, records, sha256, sealedOn }) =>
    JSON.stringify({
      type: "META",
      fileGenerationDate: catDate(sealedOn),
      submitter: settings?.submitterId ?? "",
      reporter: settings?.imid ?? "",
      fileVersion: catVersion(sealedOn),
      files: [{ fileName: name.data, recordCount: records, compressedHash: sha256 }],
      doneForDay: false,
    }),
};

/** Of the regimes whose files are sealed; those of the others are handed in as they are fetched. */
const submissions: Readonly<Partial<Record<RegimeName, Submission>>> = { CAT: cat };

export function submissionOf(regime: RegimeName): Submission | undefined {
  return submissions[regime];
}

function gap(isRight: boolean, key: string, value: string, expected: string): readonly string[] {
  if (isRight) return [];
  return [value === "" ? `compliance.${key} is missing` : `compliance.${key} must be ${expected}`];
}
