// What stands around halts, in a transaction of the memory store: who told of them, proven steps, requests to lift them all.
import type { HaltRecords, ProvenStep, StoredResume, ToldHalt } from "../../../ports/halt-records.ts";
import { layeredMap, type RecordTools } from "../layered-map.ts";

export interface HaltWorld {
  readonly told: Map<string, ToldHalt>;
  readonly steps: Map<string, ProvenStep>;
  readonly resumes: Map<string, StoredResume>;
}

export function haltWorld(): HaltWorld {
  return { told: new Map(), steps: new Map(), resumes: new Map() };
}

export function haltChanges(
  world: HaltWorld,
  { inTurn, lock }: RecordTools,
): { readonly records: HaltRecords; apply(): void } {
  const told = layeredMap(world.told);
  const steps = layeredMap(world.steps);
  const resumes = layeredMap(world.resumes);
  const byProof = (one: ProvenStep, other: ProvenStep): number =>
    one.at - other.at || (`${one.haltId} ${one.step}` < `${other.haltId} ${other.step}` ? -1 : 1);
  return {
    records: {
      tell: (one) =>
        inTurn(async () => {
          const key = `${one.teller} ${one.haltId}`;
          await lock(`halt told ${key}`);
          if (told.has(key)) return false;
          told.set(key, one);
          return true;
        }),
      told: (haltIds) =>
        inTurn(async () =>
          told
            .filter(({ haltId }) => haltIds.includes(haltId))
            .sort((one, other) => (`${one.haltId} ${one.teller}` < `${other.haltId} ${other.teller}` ? -1 : 1)),
        ),
      prove: (step) =>
        inTurn(async () => {
          const key = `${step.step} ${step.haltId}`;
          await lock(`halt step ${key}`);
          if (steps.has(key)) return false;
          steps.set(key, step);
          return true;
        }),
      proven: (haltIds) => inTurn(async () => steps.filter(({ haltId }) => haltIds.includes(haltId)).sort(byProof)),
      putResume: (resume) =>
        inTurn(async () => {
          await lock(`resume ${resume.requestId}`);
          resumes.set(resume.requestId, resume);
        }),
      resume: (requestId) => inTurn(async () => resumes.get(requestId)),
      pendingResume: () => inTurn(async () => resumes.filter(({ ended }) => ended === undefined)[0]),
    },
    apply() {
      told.apply();
      steps.apply();
      resumes.apply();
    },
  };
}
