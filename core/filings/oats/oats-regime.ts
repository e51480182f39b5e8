// OATS among the regimes: retired, and kept as an archive only.
import { catDeadline, catRepairBy } from "../deadlines.ts";
import { catDate, easternDate } from "../eastern-time.ts";
import type { FilingRegime } from "../regime.ts";
import { oatsRecordOf } from "./oats.ts";

const numberDigits = 6;
const version = "OATS D1999-01";

export const oats: FilingRegime = {
  name: "OATS",
  folder: "oats",
  sentence: "Archives in the form of the order audit trail that FINRA retired on 2021-09-01; nobody takes them.",
  hearsBeginnings: true,
  answersWith: "FILING_REGIME_RETIRED",
  isEnabled: ({ oats: settings }) => settings !== undefined,
  record(event, { fund, known, sha256 }) {
    if (fund.oats === undefined) return { status: "NOT_REPORTABLE", reason: "The fund keeps no archives of OATS." };
    return oatsRecordOf(event, fund.oats, known, sha256);
  },
  submissionDate: easternDate,
  deadline: catDeadline,
  repairBy: catRepairBy,
  file: {
    name: ({ group, date, number }) => ({
      name: `${catDate(date)}_${group}_${String(number).padStart(numberDigits, "0")}.fore`,
    }),
    // A name and a password of the service that took them have a place here, and stay empty.
    head: ({ fund, sealedAt }) => {
      const mpid = fund.oats?.mpid ?? "";
      return `${["#HD#", version, catDate(easternDate(sealedAt)), mpid, "", "", "", mpid].join(",")}\n`;
    },
    part: (line) => `${line}\n`,
    tail: ({ records }) => `#TR#,${records},\n`,
    personsOf: () => [],
  },
};
