// What names the day of a fund that a verb of filings is about.
import type { Context, VerbOption } from "../verbs/verb.ts";

const regimes = ["CAT", "OATS", "MIFID-II"] as const;

export const dayOptions: readonly VerbOption[] = [
  { name: "fund-id", value: "FUND", required: true, sentence: "Of this fund." },
  { name: "date", value: "DATE", required: true, sentence: "The submission date, such as 2026-11-13." },
  { name: "regime", value: "REGIME", sentence: "For this regime; CAT when absent.", values: regimes, closed: true },
];

export function dayOf(context: Pick<Context, "option">) {
  const regime = regimes.find((one) => one === context.option("regime")) ?? "CAT";
  return { regime, fundId: context.option("fund-id") ?? "", date: context.option("date") ?? "" };
}
