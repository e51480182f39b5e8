// MiFID II among the regimes: transaction reports to an authority in Europe.
import {
  civilFromDays,
  formatDate,
  fromUnixMs,
  type Instant,
  millisecondsPerDay,
  toUnixMs,
} from "../../../contracts/src/instant.ts";
import { catDate } from "../eastern-time.ts";
import type { FilingRegime } from "../regime.ts";
import { documentHead, documentPart, documentTail, personsOf } from "./document.ts";
import { identityMistakes, mifidRecordOf, transactionId } from "./mifid.ts";

const numberDigits = 6;
const daysOfWeek = 7;
const thursday = 4;
const saturday = 6;

export const mifid: FilingRegime = {
  name: "MIFID-II",
  folder: "mifid-ii",
  sentence: "Transaction reports of RTS 22: every trade of the fund, and every one that is taken back.",
  hearsBeginnings: false,
  tradeMark: (event, sha256) =>
    event.details.fill_id === undefined ? undefined : `"TxId":"${transactionId(event, sha256)}"`,
  isEnabled: ({ mifid: settings }) => settings !== undefined,
  record(event, context) {
    const { mifid: settings } = context.fund;
    if (settings === undefined) return { status: "NOT_REPORTABLE", reason: "The fund is not enabled for MiFID II." };
    return mifidRecordOf(event, settings, context);
  },
  submissionDate: (at) => formatDate(civilFromDays(dayNumber(at))),
  deadline: mifidDeadline,
  repairBy: mifidDeadline,
  file: {
    name({ fund, group, date, number }) {
      const mistakes = identityMistakes(fund.mifid);
      if (mistakes.length > 0 || fund.mifid === undefined) return { mistakes };
      const count = String(number).padStart(numberDigits, "0");
      return { name: `${fund.mifid.submitterLei}_${catDate(date)}_${group}_${count}.xml` };
    },
    head: documentHead,
    part: documentPart,
    tail: () => documentTail,
    personsOf,
  },
};

/** The day of UTC. */
function dayNumber(at: Instant): number {
  return Math.floor(toUnixMs(at) / millisecondsPerDay);
}

/** The end of the next day of Monday to Friday, in UTC. Holidays of a country are not known here, so that nothing is late unseen. */
function mifidDeadline(at: Instant): Instant {
  let day = dayNumber(at) + 1;
  while (weekday(day) >= saturday) day += 1;
  return fromUnixMs((day + 1) * millisecondsPerDay);
}

/** Monday is 1, Sunday 7. Day 0 was a Thursday. */
function weekday(day: number): number {
  return ((day + thursday - 1) % daysOfWeek) + 1;
}
