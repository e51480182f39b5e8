// A report in five figures, for a chat message and the text of a mail: those that its first pages are about, in the order of the document.

import { definitions } from "../definitions.ts";
import type { ReportDocument } from "../document.ts";
import { isReconciled } from "../document.ts";
import { shownMetric } from "../render/numbers.ts";

const figuresMax = 5;

/** What people ask for first, where a report has it. */
const preferred: readonly string[] = [
  "closing_nav",
  "profit",
  "twr",
  "max_drawdown",
  "sharpe",
  "volatility",
  "n_trades",
];

export interface Summary {
  readonly title: string;
  readonly period: string;
  readonly mode: string;
  readonly reconciled: boolean;
  /** RECONCILED, or what differs. */
  readonly standing: string;
  /** Names and values, as they are printed. */
  readonly figures: readonly (readonly [string, string])[];
}

export function summaryOf(document: ReportDocument): Summary {
  const known = document.metrics.filter(({ value }) => value !== null);
  const first = preferred.flatMap((id) => known.filter((metric) => metric.id === id));
  const chosen = [...new Set([...first, ...known])].slice(0, figuresMax);
  const differing = document.reconciliation.filter(({ difference }) => Number(difference) !== 0);
  const [worst] = differing;
  return {
    title: document.title,
    period: `${document.period.start} to ${document.period.end}`,
    mode: document.mode,
    reconciled: isReconciled(document),
    standing:
      worst === undefined
        ? "reconciled: every line that must tie does"
        : `DOES NOT RECONCILE: ${worst.name} differs by ${worst.difference}, ${differing.length} of ${document.reconciliation.length} lines differ`,
    figures: chosen.map((metric) => [
      nameOf(metric.id),
      `${shownMetric(metric)}${metric.unit === "money" ? ` ${document.currency}` : ""}`,
    ]),
  };
}

function nameOf(id: string): string {
  return Object.hasOwn(definitions, id) ? definitions[id as keyof typeof definitions].name : id;
}
