// Which lists an event makes old. The desk reads those again instead of applying payloads by hand: what it shows is always an answer of the server. Loaded after
// the first screen is drawn, because it brings the declarations of every event with it.
import { subjects } from "../../contracts/src/subjects.ts";
import type { ListName } from "./lists.ts";

type SubjectKey = keyof typeof subjects;

const ofOrders: readonly ListName[] = ["orders", "use"];
const ofHalts: readonly ListName[] = ["halts", "funds", "blocks", "strategies"];
const ofStops: readonly ListName[] = ["stops", "blocks"];
const ofWatchdogs: readonly ListName[] = ["watchdogs", "blocks"];

/** What is not named here moves nothing that the desk shows: gates of single orders, the audit log, identity. Prices come with the funds' values. */
const touched: Partial<Readonly<Record<SubjectKey, readonly ListName[]>>> = {
  ordersCreated: ofOrders,
  ordersAccepted: ofOrders,
  ordersRejected: ofOrders,
  ordersUpdated: ofOrders,
  ordersCancelled: ofOrders,
  ordersExpired: ofOrders,
  fillsCreated: ["orders", "positions", "use"],
  fillsBusted: ["positions", "use", "blocks"],
  ledgerRebuilt: ["positions", "funds", "blocks"],
  corporateActionChanged: ["positions", "blocks"],
  strategyChanged: ["strategies", "blocks"],
  navUpdated: ["funds", "positions", "use", "losses"],
  referenceChanged: ["use", "blocks"],
  envelopeUpdated: ["use", "losses", "blocks"],
  riskHaltRequested: ofHalts,
  haltRequested: ofHalts,
  haltLifted: [...ofHalts, "losses"],
  haltStep: ["halts"],
  resumeRequested: ["halts"],
  resumeEnded: ["halts"],
  lossBaseline: ["losses", "use", "blocks"],
  lossesUnjudged: ["losses", "blocks"],
  throttleReleased: ["strategies", "blocks"],
  blockOpened: ["blocks"],
  blockEnded: ["blocks"],
  stopTriggered: ofStops,
  stopAttempted: ofStops,
  stopEnded: ofStops,
  flatProved: ["differences", "blocks"],
  reconcileDifference: ["differences", "blocks"],
  flattenRequested: ["orders", "positions"],
  flattenLine: ["positions"],
  restrictionEnded: ofWatchdogs,
  watchdogHealth: ofWatchdogs,
  watchdogDrift: ofWatchdogs,
  watchdogVpin: ofWatchdogs,
  watchdogNews: ofWatchdogs,
  watchdogPosition: ofWatchdogs,
  watchdogDb: ofWatchdogs,
  watchdogStrategy: ofWatchdogs,
  watchdogTheta: ofWatchdogs,
  watchdogDependency: ofWatchdogs,
  watchdogVolDd: ofWatchdogs,
  busParked: ["blocks"],
  busRetried: ["blocks"],
  busDiscarded: ["blocks"],
  serviceStarted: ["blocks", "watchdogs"],
  serviceStopped: ["blocks", "watchdogs"],
  serviceLost: ["blocks", "watchdogs"],
};

const byName: ReadonlyMap<string, readonly ListName[]> = new Map(
  Object.entries(touched).map(([key, lists]) => [subjects[key as SubjectKey].name, lists]),
);

/** What the desk follows, in no more patterns than a stream may be asked for: where a service's every event of one kind counts, the pattern stands for all. */
export const followedPatterns: readonly string[] = patternsOf([...byName.keys()]);

export function touchedBy(subject: string): readonly ListName[] {
  return byName.get(subject) ?? [];
}

/** Names that share all but their last word become one pattern, unless it would bring what nobody asked for. */
function patternsOf(names: readonly string[]): readonly string[] {
  const every = Object.values(subjects).map(({ name }) => name);
  const stemOf = (name: string): string => name.slice(0, name.lastIndexOf("."));
  return [
    ...new Set(
      names.map((name) => {
        const kin = every.filter((each) => stemOf(each) === stemOf(name));
        return kin.every((each) => byName.has(each)) ? `${stemOf(name)}.*` : name;
      }),
    ),
  ];
}
