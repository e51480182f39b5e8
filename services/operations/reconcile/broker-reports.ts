// A stretch of a broker's reports, read page by page and never more than a bound of them.
import type { Broker, BrokerReport } from "../../../ports/broker.ts";

const pageReports = 500;
export const reportsMax = 5_000;

/** Those after the first cursor and up to the second; `isWhole` when none was left out for want of room. */
export async function readReports(
  broker: Broker,
  after: number,
  through: number,
): Promise<{ readonly reports: readonly BrokerReport[]; readonly isWhole: boolean }> {
  const reports: BrokerReport[] = [];
  let cursor = after;
  while (cursor < through) {
    if (reports.length >= reportsMax) return { reports, isWhole: false };
    const page = await broker.reports(cursor, pageReports);
    const last = page.at(-1);
    if (last === undefined) return { reports, isWhole: false };
    reports.push(...page.filter((report) => report.cursor <= through));
    cursor = last.cursor;
  }
  return { reports, isWhole: true };
}
