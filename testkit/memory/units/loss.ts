// Losses in a transaction of the memory store.
import type { Baseline, LossSample, LossState } from "../../../contracts/src/losses.ts";
import type { LossRecords } from "../../../ports/loss-records.ts";
import type { RecordTools } from "../layered-map.ts";

interface OwnedBaseline {
  readonly fundId: string;
  readonly baseline: Baseline;
}

export interface LossTables {
  readonly states: Map<string, { readonly fundId: string; readonly state: LossState }>;
  readonly baselines: Map<string, OwnedBaseline>;
  /** By fund, oldest first. */
  readonly samples: Map<string, readonly LossSample[]>;
}

export function lossTables(): LossTables {
  return { states: new Map(), baselines: new Map(), samples: new Map() };
}

export function lossChanges(tables: LossTables, { inTurn, lock, table }: RecordTools): LossRecords {
  const states = table("loss_state", tables.states);
  const baselines = table("loss_baseline", tables.baselines);
  const samples = table("loss_sample", tables.samples);
  return {
    lock: (fundId) =>
      inTurn(async () => {
        await lock(`losses ${fundId}`);
        return states.get(fundId)?.state;
      }),
    put: (fundId, state) =>
      inTurn(async () => {
        await lock(`losses ${fundId}`);
        states.set(fundId, { fundId, state });
      }),
    all: () => inTurn(async () => states.filter(() => true).sort((one, other) => (one.fundId < other.fundId ? -1 : 1))),
    putBaseline: (fundId, baseline) =>
      inTurn(async () => {
        const key = JSON.stringify([fundId, baseline.limit, baseline.strategyId, baseline.period, baseline.version]);
        await lock(`loss baseline ${key}`);
        if (baselines.has(key)) return false;
        baselines.set(key, { fundId, baseline });
        return true;
      }),
    baselines: (fundId, countMax) =>
      inTurn(async () =>
        baselines
          .filter((owned) => owned.fundId === fundId)
          .map(({ baseline }) => baseline)
          .sort(newestFirst)
          .slice(0, countMax),
      ),
    putSample: (fundId, sample, keepFrom) =>
      inTurn(async () => {
        await lock(`loss samples ${fundId}`);
        const kept = samples.get(fundId) ?? [];
        const all = kept.some(({ at }) => at === sample.at) ? kept : [...kept, sample];
        const sorted = [...all].sort((one, other) => one.at - other.at);
        const first = sorted.findLastIndex(({ at }) => at <= keepFrom);
        samples.set(fundId, sorted.slice(Math.max(first, 0)));
      }),
    sampleAt: (fundId, moment) =>
      inTurn(async () => {
        const kept = samples.get(fundId) ?? [];
        return kept.findLast(({ at }) => at <= moment) ?? kept[0];
      }),
  };
}

function newestFirst(one: Baseline, other: Baseline): number {
  if (one.setAt !== other.setAt) return other.setAt - one.setAt;
  if (one.limit !== other.limit) return one.limit < other.limit ? -1 : 1;
  const [mine, theirs] = [one.strategyId ?? "", other.strategyId ?? ""];
  if (mine !== theirs) return mine < theirs ? -1 : 1;
  if (one.period !== other.period) return one.period > other.period ? -1 : 1;
  return other.version - one.version;
}
