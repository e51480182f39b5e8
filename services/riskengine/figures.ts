// The engine's figures for whoever watches it. Label sets are made once, and decisions are counted here and reported once for all that were answered
// together: a counter with labels costs as much as a gate.
import type { Checked } from "../../core/engine/engine.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Timers } from "../../ports/timers.ts";

export interface Figures {
  decided(checked: Checked): void;
  dryRun(): void;
  refusedEarly(): void;
  committed(entryCount: number, microseconds: number): void;
  undecided(count: number): void;
  openOrders(count: number): void;
  heard(subject: string): void;
  haltEpoch(epoch: number): void;
}

const approved = { outcome: "approved" };
const denied = { outcome: "denied" };

export function createFigures(metrics: Metrics, timers: Pick<Timers, "soon">): Figures {
  const decisions = metrics.counter("portcullis_risk_decisions_total", "Decisions by outcome.", ["outcome"]);
  const dryRuns = metrics.counter("portcullis_risk_dry_runs_total", "Orders that were asked about without spending.");
  const early = metrics.counter("portcullis_risk_refused_early_total", "Checks that were refused before deciding.");
  const commitSeconds = metrics.histogram(
    "portcullis_risk_commit_seconds",
    "Time that the store took for a batch of decisions.",
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  );
  const entries = metrics.counter("portcullis_risk_journal_entries_total", "Entries that became durable.");
  const undecided = metrics.gauge("portcullis_risk_undecided", "Entries that wait for the store.");
  const open = metrics.gauge("portcullis_risk_open_orders", "Approved orders that may still trade.");
  const heard = metrics.counter("portcullis_risk_inputs_total", "Events that the engine took in.", ["subject"]);
  const epoch = metrics.gauge("portcullis_risk_halt_epoch", "The newest halt epoch that the engine knows.");
  let approvedCount = 0;
  let deniedCount = 0;
  const tell = (): void => {
    if (approvedCount > 0) decisions.add(approvedCount, approved);
    if (deniedCount > 0) decisions.add(deniedCount, denied);
    approvedCount = 0;
    deniedCount = 0;
  };
  return {
    decided(checked) {
      if (approvedCount + deniedCount === 0) timers.soon(tell);
      if (checked.outcome === "approved") approvedCount += 1;
      else deniedCount += 1;
    },
    dryRun: () => dryRuns.add(1),
    refusedEarly: () => early.add(1),
    committed(entryCount, microseconds) {
      commitSeconds.observe(microseconds / 1_000_000);
      entries.add(entryCount);
    },
    undecided: (count) => undecided.set(count),
    openOrders: (count) => open.set(count),
    heard: (subject) => heard.add(1, { subject }),
    haltEpoch: (value) => epoch.set(value),
  };
}
