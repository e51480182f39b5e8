// A fund's limits and their changes as a person reads them: fractions with their percentage beside them, changes with what they do to risk.

import { clean } from "../../../contracts/src/text/clean.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { type EnvelopeField, envelopeFields } from "../../words/envelope-fields.ts";
import type { Envelope } from "../../words/envelope-proposal.ts";
import { exactPercent } from "../../words/figures.ts";
import { isApiError } from "../failure.ts";
import type { Context } from "../verbs/verb.ts";
import type { Column } from "./listing.ts";
import { moment, pairs } from "./text.ts";

type Diff = AnswerOf<"diffEnvelopes">;
export interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
  readonly effect: string;
}

const fields: readonly EnvelopeField[] = envelopeFields;

/** For tables, where figures stand below each other. */
export function percentInTable(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}

function fractionText(value: number): string {
  return `${value} (${exactPercent(value)})`;
}

function valueText(field: EnvelopeField, value: unknown): string {
  if (value === undefined) return field.absent === undefined ? "not set" : `${field.absent} (not set)`;
  if (field.kind === "fraction" && typeof value === "number") return fractionText(value);
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  if (field.kind === "fractions") {
    const shares = Object.entries(value as Record<string, number>).map(
      ([name, share]) => `${name} ${fractionText(share)}`,
    );
    return shares.length === 0 ? "none" : shares.join(", ");
  }
  return String(value);
}

export function envelopeText(envelope: Envelope, context: Pick<Context, "clock">): string {
  const of = envelope as unknown as Readonly<Record<string, unknown>>;
  return pairs([
    ["fund_id", envelope.fund_id],
    ["version", String(envelope.version)],
    ["updated_by", envelope.updated_by],
    ["updated_at", envelope.updated_at === undefined ? undefined : moment(envelope.updated_at, context.clock.now())],
    ["reason", envelope.reason],
    ...fields.map((field) => [field.name, valueText(field, of[field.name])] as const),
    ["hash", envelope.hash],
  ]);
}

export const changeColumns: readonly Column<Change>[] = [
  { name: "field", key: true, of: ({ field }) => field },
  { name: "before", key: true, text: true, of: ({ before }) => before, shown: (one) => meant(one.field, one.before) },
  { name: "after", key: true, text: true, of: ({ after }) => after, shown: (one) => meant(one.field, one.after) },
  { name: "effect", always: true, of: ({ effect }) => effect, shown: effectText, text: true },
];

/** A value of the record as people mean it: a fraction is its percentage. */
function meant(field: string, value: string): string {
  if (value === "") return "not set";
  const kind = fields.find(({ name }) => name === field || field.startsWith(`${name}.`))?.kind;
  const isFraction = (kind === "fraction" || kind === "fractions") && /^[0-9.e+-]+$/.test(value);
  return isFraction ? exactPercent(Number(value)) : value;
}

/** "max_position_pct 5 % -> 100 %". */
function changeText({ field, before, after }: Pick<Change, "field" | "before" | "after">): string {
  return `${field} ${meant(field, before)} -> ${meant(field, after)}`;
}

/** A narrower collar refuses more prices and values market orders lower, so that more of them fit: it is both, and the server counts the graver. */
function effectText({ field, before, after, effect }: Change): string {
  const isNarrower = field === "price_collar_pct" && (before === "" || Number(after) < Number(before)) && after !== "";
  if (effect !== "LOOSENS" || !isNarrower) return effect;
  return "MIXED (counts as loosening): it refuses more prices, and values market orders lower, so that more fit the limits";
}

/** What each version changed against the one before it, of versions newest first; the oldest has nothing to be held against. */
export function changedText(versions: readonly Envelope[], at: number): string {
  const [after, before] = [versions[at], versions[at + 1]];
  if (after === undefined) return "";
  if (before === undefined) return after.version === 1 ? "the first limits" : "";
  return listed(before, after)
    .flatMap((change) => (change.field === "sector_limits_pct" ? sectorTexts(before, after) : [changeText(change)]))
    .join("; ");
}

function sectorTexts(before: Envelope, after: Envelope): readonly string[] {
  const [was, is]: Readonly<Record<string, number>>[] = [before.sector_limits_pct, after.sector_limits_pct];
  const written = (share: number | undefined): string => (share === undefined ? "" : String(share));
  return [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])]
    .filter((sector) => was?.[sector] !== is?.[sector])
    .map((sector) =>
      changeText({
        field: `sector_limits_pct.${sector}`,
        before: written(was?.[sector]),
        after: written(is?.[sector]),
      }),
    );
}

export interface Compared extends Pick<Diff, "preview" | "preview_missing"> {
  readonly changes: readonly Change[];
  /** Null where nobody could say. */
  readonly loosens: boolean | null;
}

/** Who compares lives beside the engine; limits can be tightened without it, so its absence only costs the words. */
export async function comparedOrListed(
  client: Client,
  context: Context,
  fundId: string,
  current: Envelope | undefined,
  proposed: NonNullable<Parameters<Client["diffEnvelopes"]>[0]["proposed"]>,
): Promise<Compared> {
  try {
    return await client.diffEnvelopes({ fundId, proposed });
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.status !== 503) throw thrown;
    context.terminal.say(`What loosens and what tightens cannot be reported now: ${clean(thrown.message)}`);
    return { changes: listed(current ?? {}, proposed), loosens: null };
  }
}

function listed(current: object, proposed: object): readonly Change[] {
  const [before, after] = [current as Record<string, unknown>, proposed as Record<string, unknown>];
  const written = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));
  return fields
    .map(({ name }) => ({ field: name, before: written(before[name]), after: written(after[name]), effect: "" }))
    .filter((change) => change.before !== change.after);
}
