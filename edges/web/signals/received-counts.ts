// What came in, as a desk narrows and counts it. A request that proved no secret is no fund's: it is shown whichever fund is chosen, because the alert that
// somebody misses may be the one whose secret was wrong.
import type { Received } from "../data/signal-lists.ts";
import { readSearch } from "../model/search.ts";

export type ReceivedSignal = Received["signals"][number];

interface SignalFilter {
  readonly fund?: string | undefined;
  readonly strategy?: string | undefined;
  readonly status?: string | undefined;
}

export function isOfFund({ fund_id }: Pick<ReceivedSignal, "fund_id">, fund: string | undefined): boolean {
  return fund === undefined || fund_id === undefined || fund_id === fund;
}

export function matching(
  signals: readonly ReceivedSignal[],
  { fund, strategy, status }: SignalFilter,
): readonly ReceivedSignal[] {
  return signals.filter(
    (one) =>
      isOfFund(one, fund) &&
      (strategy === undefined || one.strategy_id === strategy) &&
      (status === undefined || one.status === status),
  );
}

/** Those that one can narrow to: what a request without a right secret calls its strategy, or what cannot be the name of one, is no choice. */
export function strategiesOf(signals: readonly ReceivedSignal[], chosen: string | undefined): readonly string[] {
  const named = signals.flatMap(({ fund_id, strategy_id }) => (fund_id === undefined ? [] : (strategy_id ?? [])));
  const all = new Set([...named, chosen ?? ""]);
  return [...all].filter((one) => readSearch({ strategy: one }).strategy === one).sort();
}

/** Why it is no order, or why its order was denied. */
export function codeOf({ code, decision_code }: Pick<ReceivedSignal, "code" | "decision_code">): string | undefined {
  return code ?? decision_code;
}

export interface Counts {
  readonly byStatus: readonly (readonly [string, number])[];
  /** The most frequent first. */
  readonly byCode: readonly (readonly [string, number])[];
  /** Refused requests of which nothing was kept, as far as those that were kept say. */
  readonly notKept: number;
}

const statuses = ["REFUSED", "ACCEPTED", "SUBMITTED", "FAILED"] as const;

export function countsOf(signals: readonly ReceivedSignal[]): Counts {
  const codes = new Map<string, number>();
  for (const signal of signals) {
    const code = codeOf(signal);
    if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  return {
    byStatus: statuses.map((status) => [status, signals.filter((one) => one.status === status).length]),
    byCode: [...codes].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)),
    notKept: signals.reduce((sum, { unrecorded = 0 }) => sum + unrecorded, 0),
  };
}

/** The order's state and, where a gate denied it, its code are the answer of now; before there is an order, what the alert itself is at. */
export function gradeOfSignal({
  status,
  decision_code,
}: Pick<ReceivedSignal, "status" | "decision_code">): "critical" | "warning" | undefined {
  if (status === "REFUSED" || status === "FAILED") return "critical";
  return decision_code === undefined ? undefined : "warning";
}
