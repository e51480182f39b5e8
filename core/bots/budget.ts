// The arithmetic of the bot's budgets, in whole billionths of a dollar: what a run may cost at most, whether there is room for it, and which marks an amount passes.
import * as decimal from "../../contracts/src/decimal.ts";

const nanoOfUsd = 1_000_000_000n;
const scale = decimal.fromInteger(nanoOfUsd);

/** Rounded up: a cost never rounds away. */
export function nanoOf(usd: string | number): bigint {
  const amount = typeof usd === "number" ? decimal.fromNumber(usd) : decimal.parse(usd);
  return BigInt(decimal.format(decimal.round(decimal.multiply(amount, scale, "ceiling"), 0, "ceiling")));
}

export function textOf(nano: bigint): string {
  return decimal.format(decimal.divide(decimal.fromInteger(nano), scale, "ceiling"));
}

export interface Prices {
  readonly inputNanoPerMillion: bigint;
  readonly outputNanoPerMillion: bigint;
}

/** Tokens at a price, rounded up. */
export function tokenCost(prices: Prices, inputTokens: number, outputTokens: number): bigint {
  const exact = BigInt(inputTokens) * prices.inputNanoPerMillion + BigInt(outputTokens) * prices.outputNanoPerMillion;
  return (exact + 999_999n) / 1_000_000n;
}

/** The most that prompts can cost: a token is a byte at least. */
export function promptsCostMost(
  prices: Prices,
  prompts: readonly { readonly bytes: number; readonly answerTokensMax: number }[],
): bigint {
  return prompts.reduce((sum, { bytes, answerTokensMax }) => sum + tokenCost(prices, bytes, answerTokensMax), 0n);
}

/** A persona with a figure of its own costs that or what was metered, whichever is more. */
export function runCost(figure: bigint | undefined, metered: bigint): bigint {
  return figure !== undefined && figure > metered ? figure : metered;
}

export interface BudgetStanding {
  readonly dayNano: bigint;
  readonly repositoryNano: bigint;
  /** Of those, by runs that nobody with write asked for. */
  readonly dayStrangersNano: bigint;
  readonly repositoryStrangersNano: bigint;
  /** Of this person in this repository today. */
  readonly personRuns: number;
}

export interface BudgetCaps {
  readonly dailyNano: bigint;
  readonly perRepositoryNano: bigint;
}

interface BudgetNo {
  readonly which: "day" | "repository" | "strangers" | "person";
  readonly reason: string;
}

const strangerRunsMax = 20;

/** Undefined where there is room. Reaching a cap exactly is allowed. */
export function judgeReservation(
  standing: BudgetStanding,
  caps: BudgetCaps,
  { nano, byWriter }: { readonly nano: bigint; readonly byWriter: boolean },
): BudgetNo | undefined {
  if (!byWriter && standing.personRuns >= strangerRunsMax) {
    return {
      which: "person",
      reason: `This person has had ${standing.personRuns} runs here today; ${strangerRunsMax} are allowed.`,
    };
  }
  if (nano === 0n) return undefined;
  const { dailyNano, perRepositoryNano } = caps;
  if (standing.dayNano + nano > dailyNano)
    return { which: "day", reason: lacking("today", nano, dailyNano, standing.dayNano) };
  if (standing.repositoryNano + nano > perRepositoryNano) {
    return {
      which: "repository",
      reason: lacking("in this repository today", nano, perRepositoryNano, standing.repositoryNano),
    };
  }
  if (byWriter) return undefined;
  const halves = [
    [dailyNano / 2n, standing.dayStrangersNano],
    [perRepositoryNano / 2n, standing.repositoryStrangersNano],
  ] as const;
  for (const [cap, used] of halves) {
    if (used + nano > cap) {
      return { which: "strangers", reason: lacking("today for people without write", nano, cap, used) };
    }
  }
  return undefined;
}

function lacking(where: string, nano: bigint, cap: bigint, used: bigint): string {
  return `The run may cost ${textOf(nano)} USD; of the ${textOf(cap)} USD ${where}, ${textOf(used)} are used or reserved.`;
}

const marks = [50, 75, 90, 100] as const;
type BudgetMark = (typeof marks)[number];

/** Each is passed once: by the amount that reaches it. */
export function reachedMarks(beforeNano: bigint, afterNano: bigint, capNano: bigint): readonly BudgetMark[] {
  if (capNano <= 0n) return [];
  return marks.filter((mark) => {
    const at = BigInt(mark) * capNano;
    return beforeNano * 100n < at && afterNano * 100n >= at;
  });
}
