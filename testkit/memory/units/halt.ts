// What stands around halts, in a transaction of the memory store: who reported them, proven steps, requests to lift them all.
import type { HaltRecords, ProvenStep, ReportedHalt, StoredResume } from "../../../ports/halt-records.ts";
import type { RecordTools } from "../layered-map.ts";

export interface HaltTables {
  readonly reported: Map<string, ReportedHalt>;
  readonly steps: Map<string, ProvenStep>;
  readonly resumes: Map<string, StoredResume>;
}

export function haltTables(): HaltTables {
  return { reported: new Map(), steps: new Map(), resumes: new Map() };
}

export function haltChanges(tables: HaltTables, { inTurn, lock, table }: RecordTools): HaltRecords {
  const reported = table("halt_told", tables.reported);
  const steps = table("halt_step", tables.steps);
  const resumes = table("resume_request", tables.resumes);
  const byProof = (one: ProvenStep, other: ProvenStep): number =>
    one.at - other.at || (`${one.haltId} ${one.step}` < `${other.haltId} ${other.step}` ? -1 : 1);
  return {
    tell: (one) =>
      inTurn(async () => {
        const key = `${one.publisher} ${one.haltId}`;
        await lock(`halt reported ${key}`);
        if (reported.has(key)) return false;
        reported.set(key, one);
        return true;
      }),
    reported: (haltIds) =>
      inTurn(async () =>
        reported
          .filter(({ haltId }) => haltIds.includes(haltId))
          .sort((one, other) => (`${one.haltId} ${one.publisher}` < `${other.haltId} ${other.publisher}` ? -1 : 1)),
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
  };
}
