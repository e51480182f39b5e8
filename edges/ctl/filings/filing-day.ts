// Which day's submission files a verb is about, and how they are shown.
import type { AnswerOf } from "../../client/src/types.ts";
import { reasonOption } from "../reason.ts";
import type { Column } from "../text/listing.ts";
import type { Context, VerbOption } from "../verbs/verb.ts";

export const regimes = ["CAT"] as const;

export const dayOptions: readonly VerbOption[] = [
  { name: "regime", value: "REGIME", sentence: "Of this regime.", values: regimes, closed: true, required: true },
  { name: "fund-id", value: "FUND", sentence: "Of this fund.", required: true },
  { name: "date", value: "DATE", sentence: "Of this submission date, such as 2026-11-13.", required: true },
  reasonOption,
];

export function dayOf(context: Pick<Context, "option">) {
  return {
    regime: regimeOf(context),
    fundId: context.option("fund-id") ?? "",
    date: context.option("date") ?? "",
  };
}

export function regimeOf(context: Pick<Context, "option">): (typeof regimes)[number] {
  return regimes.find((one) => one === context.option("regime")) ?? regimes[0];
}

type Filing = AnswerOf<"listFilings">[number];

export const filingColumns: readonly Column<Filing>[] = [
  { name: "filing_id", key: true, of: (one) => one.filing_id },
  { name: "regime", minor: 3, of: (one) => one.regime },
  { name: "fund_id", minor: 2, of: (one) => one.fund_id },
  { name: "mode", minor: 4, of: (one) => one.mode },
  { name: "submission_date", minor: 1, of: (one) => one.submission_date },
  { name: "state", of: (one) => one.state },
  { name: "records", of: (one) => one.records },
  { name: "quarantined", of: (one) => one.quarantined },
  { name: "rejected", of: (one) => one.rejected },
  { name: "late", of: (one) => one.late },
  { name: "deadline", of: (one) => one.deadline, time: true },
  { name: "repair_by", of: (one) => one.repair_by, onlyCsv: true },
  { name: "name", of: (one) => one.name ?? "", onlyCsv: true },
  { name: "bytes", of: (one) => one.bytes ?? "", onlyCsv: true },
  { name: "sha256", of: (one) => one.sha256 ?? "", onlyCsv: true },
];
