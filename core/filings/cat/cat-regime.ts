// CAT among the regimes: the consolidated audit trail of US equities and options.
import type { CatSettings } from "../../../contracts/src/records/filing.ts";
import { catDeadline, catRepairBy } from "../deadlines.ts";
import { catDate, easternDate } from "../eastern-time.ts";
import type { FilingMistake } from "../mistake.ts";
import type { FilingRegime } from "../regime.ts";
import { catRecordOf } from "./cat.ts";

const numberDigits = 6;
const fdidLengthMax = 40;

export const cat: FilingRegime = {
  name: "CAT",
  folder: "cat",
  sentence: "The consolidated audit trail of US equities and options: every step of an order, not its trades.",
  hearsBeginnings: true,
  isEnabled: ({ cat: settings }) => settings !== undefined,
  record(event, { fund, known, sha256 }) {
    if (fund.cat === undefined) return { status: "NOT_REPORTABLE", reason: "The fund is not enabled for CAT." };
    return catRecordOf(event, fund.cat, known, sha256);
  },
  submissionDate: easternDate,
  deadline: catDeadline,
  repairBy: catRepairBy,
  file: {
    name({ fund, group, date, number }) {
      const mistakes = identityMistakes(fund.cat);
      if (mistakes.length > 0 || fund.cat === undefined) return { mistakes };
      const { submitterId, imid } = fund.cat;
      const count = String(number).padStart(numberDigits, "0");
      return { name: `${submitterId}_${imid}_${catDate(date)}_${group}_OrderEvents_${count}.json` };
    },
    head: () => "",
    part: (line) => `${line}\n`,
    tail: () => "",
    personsOf: () => [],
  },
};

/** What no file can be handed in without. */
function identityMistakes(settings: CatSettings | undefined): readonly FilingMistake[] {
  const { submitterId, imid, fdid = "" } = settings ?? {};
  const checks: readonly (readonly [field: string, isRight: boolean, expected: string])[] = [
    ["cat_subscriber_id", /^[0-9]+$/.test(submitterId ?? ""), "a number"],
    ["cat_reporter_imid", /^[A-Z0-9]{1,7}$/i.test(imid ?? ""), "1 to 7 letters and digits"],
    ["cat_fdid", fdid.length <= fdidLengthMax, `at most ${fdidLengthMax} characters`],
  ];
  return checks
    .filter(([, isRight]) => !isRight)
    .map(([field, , expected]) => {
      const sentence = `compliance.${field} of the fund is to be ${expected}.`;
      return { code: "FILING_IDENTITY_INCOMPLETE", field, sentence };
    });
}
