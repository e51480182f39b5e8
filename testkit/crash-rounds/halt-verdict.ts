// What must be true of halts whatever was killed, from what people were told, the rows and the events. A pure function, so that its test can show each
// rule failing.
//
//  1. A halt that was answered is there, and in force unless a lift of it was asked for; nothing is there that nobody asked for.
//  2. A lift is complete or did not happen: all of its halts, in one epoch of their own, each reported once with who asked and who signed, and its
//     request ended by it; or none, and nothing reported. An answered one is complete. Nothing is lifted that nobody asked to lift.
//  3. What follows a halt is reported as often as it is recorded, and recorded at most once; for one in force the manager has reported it once
//     and every step is proven.
//  4. No two changes share an epoch, and the newest change has the newest.
import { type HaltFacts, type HaltLedger, type HaltRow, inForce, type LiftAsked } from "./halt-ledger.ts";

const stepNames = ["BLOCKED", "CANCELLED", "NOTIFIED"] as const;

export function judgeHaltFacts(ledger: HaltLedger, facts: HaltFacts): readonly string[] {
  return [
    ...judgeRaised(ledger, facts),
    ...ledger.lifts.flatMap((lift) => judgeLift(lift, facts)),
    ...judgeSteps(facts),
    ...judgeEpochs(facts),
  ];
}

function judgeRaised({ answered, unanswered, lifts }: HaltLedger, { rows }: HaltFacts): readonly string[] {
  const byId = new Map(rows.map((row) => [row.haltId, row]));
  const asked = new Set(lifts.flatMap(({ haltIds }) => haltIds));
  return [
    ...[...answered].filter((id) => !byId.has(id)).map((id) => `the halt ${id} was answered and is gone`),
    ...rows
      .filter(({ haltId, liftedEpoch }) => liftedEpoch !== undefined && !asked.has(haltId))
      .map(({ haltId }) => `the halt ${haltId} is lifted, and nobody asked for that`),
    ...rows
      .filter(
        ({ haltId, requestedBy }) => requestedBy !== "riskengine" && !answered.has(haltId) && !unanswered.has(haltId),
      )
      .map(({ haltId }) => `the halt ${haltId} is in force, and nobody asked for it`),
  ];
}

function judgeLift(lift: LiftAsked, { rows, reported, signed }: HaltFacts): readonly string[] {
  const { haltIds, requestedBy, cosignedBy, requestId } = lift;
  const name = `the lift of ${haltIds.join(", ")}`;
  const theirs = rows.filter(({ haltId }) => haltIds.includes(haltId));
  const gone = theirs.filter(({ liftedEpoch }) => liftedEpoch !== undefined);
  const epochs = new Set(gone.map(({ liftedEpoch }) => liftedEpoch));
  // A later attempt may have lifted what this one did not: then its epoch and its people are the later one's, for all of them alike.
  const events = reported.lifted.filter(({ halt_id: id }) => haltIds.includes(id));
  const own = events.filter((event) => event.requested_by === requestedBy && event.cosigned_by === cosignedBy);
  const isSigned = requestId !== undefined && signed.includes(requestId);
  return [
    ...(lift.wasAnswered && gone.length < haltIds.length ? [`${name} was answered and is not complete`] : []),
    ...(requestId !== undefined && isSigned && (epochs.size !== 1 || own.length !== haltIds.length)
      ? [`${name} was signed, and ${gone.length} are lifted in ${epochs.size} epochs`]
      : []),
    ...(requestId !== undefined && lift.wasAnswered && !isSigned ? [`the request of ${name} did not end by it`] : []),
    ...gone
      .filter(({ haltId }) => events.filter(({ halt_id: id }) => id === haltId).length !== 1)
      .map(({ haltId }) => `the lift of ${haltId} was not reported once`),
    ...events
      .filter(({ halt_id: id, epoch }) => gone.find(({ haltId }) => haltId === id)?.liftedEpoch !== epoch)
      .map(({ halt_id: id }) => `a lift of ${id} was reported that is not so`),
    ...judgeWhole(name, theirs),
  ];
}

/** Halts of one lift go together; only a lift of a part of them that was asked for by itself may divide them, and the rounds ask for none. */
function judgeWhole(name: string, theirs: readonly HaltRow[]): readonly string[] {
  const epochs = new Set(theirs.map(({ liftedEpoch }) => liftedEpoch));
  return epochs.size > 1 ? [`${name} happened by half: ${[...epochs].map((one) => one ?? "in force").join(", ")}`] : [];
}

function judgeSteps(facts: HaltFacts): readonly string[] {
  const { rows, steps, reported } = facts;
  const count = (names: readonly string[], name: string): number => names.filter((one) => one === name).length;
  const reportedSteps = reported.steps.map(({ halt_id: id, step }) => `${step} ${id}`);
  const requested = reported.requested.map(({ halt_id: id }) => id);
  const standing = new Set(inForce(facts).map(({ haltId }) => haltId));
  return rows.flatMap(({ haltId: id }) => [
    ...stepNames.flatMap((step) => {
      const name = `${step} ${id}`;
      const [recorded, times] = [count(steps, name), count(reportedSteps, name)];
      if (recorded !== times || recorded > 1) return [`${name} is recorded ${recorded} and reported ${times} times`];
      return recorded === 0 && standing.has(id) ? [`${name} is not proven`] : [];
    }),
    ...(count(requested, id) > 1 ? [`the manager reported ${id} twice`] : []),
    ...(count(requested, id) === 0 && standing.has(id) ? [`the manager has not reported ${id}`] : []),
  ]);
}

function judgeEpochs({ rows, epoch }: HaltFacts): readonly string[] {
  const raised = rows.map((row) => row.epoch);
  const lifted = new Set(rows.flatMap(({ liftedEpoch }) => (liftedEpoch === undefined ? [] : [liftedEpoch])));
  const all = [...raised, ...lifted];
  return [
    ...(new Set(all).size === all.length ? [] : ["two changes share an epoch"]),
    ...(Math.max(0, ...all) === epoch
      ? []
      : [`the epoch is ${epoch}, and the newest change has ${Math.max(0, ...all)}`]),
  ];
}
