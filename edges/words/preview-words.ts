// What a dry run says of limits and headroom, as people read it: a line for each that would be another, before and after.
import type { AnswerOf } from "../client/src/types.ts";
import { amount } from "./figures.ts";

export type Preview = NonNullable<AnswerOf<"diffEnvelopes">["preview"]>;
type Fund = Preview["funds"][number];
type Limit = Fund["limits"][number]["before"];
type Room = Fund["headroom"][number]["before"];

export interface PreviewRow {
  readonly fund_id: string;
  /** "max_gross_exposure_pct", "max_position_pct AAPL", "BUY AAPL". */
  readonly of: string;
  readonly before: string;
  readonly after: string;
}

/** Those that would be as they are are left out. */
export function previewRows({ funds }: Preview): readonly PreviewRow[] {
  return funds.flatMap(({ fund_id, limits, headroom }) =>
    [
      ...limits.map(({ before, after }) => ({
        of: limitName(before ?? after),
        before: limitText(before),
        after: limitText(after),
      })),
      ...headroom.map(({ symbol, side, before, after }) => ({
        of: `${side} ${symbol}`,
        before: roomText(before),
        after: roomText(after),
      })),
    ]
      .filter(({ before, after }) => before !== after)
      .map((row) => ({ fund_id, ...row })),
  );
}

/** What the rows do not say. */
export function previewNotes(preview: Preview | undefined, missing: string | undefined): readonly string[] {
  if (preview === undefined) return missing === undefined ? [] : [missing];
  const { funds, more } = preview;
  const unpriced = funds.filter((fund) => fund.unpriced.length > 0);
  return [
    ...(funds.length === 0
      ? ["It touches no fund."]
      : [`It touches ${funds.map(({ fund_id }) => fund_id).join(", ")}.`]),
    ...(funds.length > 0 && previewRows(preview).length === 0 ? ["No limit and no headroom would be another."] : []),
    ...unpriced.map(
      (fund) => `${fund.fund_id} holds without a price, and no limit has it: ${fund.unpriced.join(", ")}.`,
    ),
    ...(more || funds.some((fund) => fund.more) ? ["There is more than one answer holds."] : []),
  ];
}

function limitName(use: Limit): string {
  if (use === undefined) return "";
  const isNamed = use.scope === "" || use.limit.endsWith(`.${use.scope}`);
  return isNamed ? use.limit : `${use.limit} ${use.scope}`;
}

function limitText(use: Limit): string {
  if (use === undefined) return "none";
  if (use.used === undefined || use.allowed === undefined) return use.reason ?? "not counted";
  return `${amount(use.used)} of ${amount(use.allowed)}`;
}

function roomText({ quantity, notional, binding }: Room): string {
  const most = quantity === undefined ? "" : `${quantity}, `;
  const why = binding === "" ? "" : ` (${binding})`;
  return `${most}worth ${amount(notional)}${why}`;
}
