// Holds every commit of the model test of halts against the rules of core/halts/halts.ts, by their numbers.
import type { ActiveHalt, HaltLifted, ResumeEnded, ResumeRequested } from "../contracts/src/records/halt.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { isDrill, isSameScope } from "../core/halts/halts.ts";
import { type HaltModel, haltPeople } from "./halt-model-state.ts";

interface Commit {
  readonly lifted: readonly HaltLifted[];
  readonly requested: readonly ResumeRequested[];
  readonly ended: readonly ResumeEnded[];
  readonly granted: readonly string[];
}

/** Holds every commit against the rules: what was in force before it, what is after it, and what it reported. */
export function watchCommits(model: HaltModel): void {
  const { fixture, throws } = model;
  const { tables } = fixture;
  const inner = tables.append;
  const lost = throws.fork("lost messages");
  const grants = new Map<string, number>();
  const reportedEver = new Set<string>();
  let before = [...tables.risk.halts];
  let epoch = tables.risk.haltEpoch;
  tables.append = (events) => {
    const of = <Payload>(name: string): Payload[] =>
      events.filter(({ subject }) => subject === name).map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)));
    const commit: Commit = {
      lifted: of<HaltLifted>(subjects.haltLifted.name),
      requested: of<ResumeRequested>(subjects.resumeRequested.name),
      ended: of<ResumeEnded>(subjects.resumeEnded.name),
      granted: of<{ readonly operator: string }>(subjects.stepUpGranted.name).map(({ operator }) => operator),
    };
    for (const operator of commit.granted) grants.set(operator, (grants.get(operator) ?? 0) + 1);
    for (const { halt_id: id } of of<ActiveHalt>(subjects.haltRequested.name)) {
      if (reportedEver.has(id)) model.complaints.push(`the halt ${id} was reported twice`);
      reportedEver.add(id);
    }
    const after = [...tables.risk.halts];
    judgeCommit(model, commit, before, after, grants);
    if (tables.risk.haltEpoch < epoch) model.complaints.push("2 the epoch went back");
    if (after.length < before.length && tables.risk.haltEpoch === epoch)
      model.complaints.push("1 a lift without an epoch");
    before = after;
    epoch = tables.risk.haltEpoch;
    // A message that never comes: the store still has the halt.
    inner(events.filter(({ subject }) => subject !== subjects.riskHaltRequested.name || !lost.chance(0.3)));
  };
}

function judgeCommit(
  model: HaltModel,
  { lifted, requested, ended }: Commit,
  before: readonly ActiveHalt[],
  after: readonly ActiveHalt[],
  grants: Map<string, number>,
): void {
  const { complaints, counts, fixture } = model;
  const gone = before.filter(({ halt_id: id }) => !after.some((one) => one.halt_id === id));
  const named = lifted.map(({ halt_id: id }) => id).sort();
  if (String(gone.map(({ halt_id: id }) => id).sort()) !== String(named)) {
    complaints.push(`1 left without being lifted by name: ${gone.map(({ halt_id: id }) => id)}; reported: ${named}`);
  }
  const spend = (operator: string): void => {
    const left = (grants.get(operator) ?? 0) - 1;
    grants.set(operator, left);
    if (left < 0) complaints.push(`4 ${operator} was believed without a code`);
  };
  for (const { requested_by: by } of requested) spend(by);
  if (gone.length === 0) return;
  counts.lifts += 1;
  if (gone.some(isDrill)) complaints.push("7 a drill's halt was lifted");
  for (const { cosigned_by: signer, requested_by: asker } of lifted) {
    for (const who of [signer, asker]) {
      if (!haltPeople.some((name) => who === `operator:${name}`)) complaints.push(`2 ${who} lifted`);
    }
  }
  const [first] = lifted;
  const signed = ended.find(({ outcome }) => outcome === "lifted");
  if (signed === undefined) {
    judgeScoped(complaints, gone, after);
    return;
  }
  counts.liftsOfAll += 1;
  spend(first?.cosigned_by ?? "");
  if (first?.cosigned_by === first?.requested_by) complaints.push("4 one person lifted everything");
  const request = fixture.tables.halts.resumes.get(signed.request_id);
  const bound = [...(request?.haltIds ?? [])].sort();
  if (String(bound) !== String(named)) complaints.push(`5 lifted ${named}, asked for ${bound}`);
  if ((request?.expiresAt ?? 0) <= fixture.time.clock.now() - 1_000_000) complaints.push("5 signed after its time");
  if (after.some((one) => !isDrill(one))) complaints.push("4 not everything was lifted");
}

/** A scope's own halts, all of them and no other level's. */
function judgeScoped(complaints: string[], gone: readonly ActiveHalt[], after: readonly ActiveHalt[]): void {
  const [first] = gone;
  if (first === undefined) return;
  if (first.severity === "FIRM_HALT") complaints.push("4 a firm halt was lifted by one person");
  if (gone.some((one) => !isSameScope(one, first))) complaints.push("3 a lift of one scope lifted another");
  if (after.some((one) => isSameScope(one, first))) complaints.push("3 a scope is free while a halt of it is in force");
}
