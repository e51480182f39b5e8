// Restrictions, in a transaction of the memory store.
import { Defect } from "../../../contracts/src/fault.ts";
import type { Restriction } from "../../../contracts/src/records/restriction.ts";
import { restrictionComplaint, restrictionKey } from "../../../core/blocks/restriction.ts";
import type { RestrictionRecords } from "../../../ports/restriction-records.ts";
import type { RecordTools } from "../layered-map.ts";
import { pageAfter } from "../page-after.ts";

export type RestrictionTables = Map<string, Restriction>;

const oldestFirst = (one: Restriction, other: Restriction): number =>
  one.since - other.since || (one.restrictionId < other.restrictionId ? -1 : 1);

export function restrictionChanges(
  tables: RestrictionTables,
  { inTurn, lock, table }: RecordTools,
): RestrictionRecords {
  const restrictions = table("restriction", tables);
  const records: RestrictionRecords = {
    open: (restriction) =>
      inTurn(async () => {
        const complaint = restrictionComplaint(restriction);
        if (complaint !== undefined) throw new Defect(complaint);
        const key = restrictionKey(restriction);
        await lock(`restriction of ${key}`);
        const first = restrictions.filter((each) => restrictionKey(each) === key)[0];
        if (first !== undefined) return first;
        if (restrictions.has(restriction.restrictionId)) {
          throw new Defect(`the restriction ${restriction.restrictionId} is another episode's`);
        }
        restrictions.set(restriction.restrictionId, restriction);
        return restriction;
      }),
    end: (restrictionIds, ending) =>
      inTurn(async () => {
        for (const restrictionId of [...restrictionIds].sort()) await lock(`restriction ${restrictionId}`);
        const open = restrictions
          .filter(({ restrictionId, ended }) => ended === undefined && restrictionIds.includes(restrictionId))
          .sort(oldestFirst);
        const ended = open.map((each): Restriction => ({ ...each, ended: ending }));
        for (const each of ended) restrictions.set(each.restrictionId, each);
        return ended;
      }),
    listOpen: () => inTurn(async () => restrictions.filter(({ ended }) => ended === undefined).sort(oldestFirst)),
    ofEpisode: (episodeId) =>
      inTurn(async () => restrictions.filter((each) => each.episodeId === episodeId).sort(oldestFirst)),
    lock: (restrictionId) =>
      inTurn(async () => {
        await lock(`restriction ${restrictionId}`);
        return restrictions.get(restrictionId);
      }),
    list: ({ fundId, openOnly, countMax, afterRestrictionId }) =>
      inTurn(async () => {
        const newestFirst = (one: Restriction, other: Restriction): number => oldestFirst(other, one);
        const asked = restrictions.filter(
          (each) =>
            (fundId === undefined || each.fundId === undefined || each.fundId === fundId) &&
            (!openOnly || each.ended === undefined),
        );
        const find = (id: string): Restriction | undefined => restrictions.get(id);
        return pageAfter(asked.sort(newestFirst), countMax, afterRestrictionId, find, newestFirst);
      }),
  };
  return records;
}
