// What the verbs of filings are narrowed by.
import type { Context, VerbOption } from "../verbs/verb.ts";

const regimes = ["CAT", "OATS", "MIFID-II"] as const;

export const filingOptions: readonly VerbOption[] = [
  { name: "fund-id", value: "FUND", sentence: "Only of this fund." },
  { name: "regime", value: "REGIME", sentence: "Only of this regime.", values: regimes, closed: true },
  { name: "date", value: "DATE", sentence: "Only of this submission date, such as 2026-11-13." },
];

export function filterOf(context: Pick<Context, "option">) {
  const [fundId, regime, date] = [context.option("fund-id"), context.option("regime"), context.option("date")];
  const known = regimes.find((one) => one === regime);
  return {
    ...(fundId !== undefined && { fundId }),
    ...(known !== undefined && { regime: known }),
    ...(date !== undefined && { date }),
  };
}
