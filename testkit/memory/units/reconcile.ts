// Differences with brokers, in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  AccountAgreement,
  DifferenceLook,
  ReconcileRecords,
  StoredDifference,
} from "../../../ports/reconcile-records.ts";
import type { RecordTools } from "../layered-map.ts";
import { pageAfter } from "../page-after.ts";

export interface ReconcileTables {
  readonly differences: Map<string, StoredDifference>;
  readonly looks: Map<string, DifferenceLook>;
  readonly agreements: Map<string, AccountAgreement>;
}

export function reconcileTables(): ReconcileTables {
  return { differences: new Map(), looks: new Map(), agreements: new Map() };
}

const isOpen = ({ status }: StoredDifference): boolean => status === "SUSPECTED" || status === "CONFIRMED";
const oldestFirst = (one: StoredDifference, other: StoredDifference): number =>
  one.firstSeenAt - other.firstSeenAt || (one.differenceId < other.differenceId ? -1 : 1);
const agreementKey = (broker: string, account: string): string => JSON.stringify([broker, account]);

export function reconcileChanges(tables: ReconcileTables, { inTurn, lock, table }: RecordTools): ReconcileRecords {
  const differences = table("reconcile_difference", tables.differences);
  const looks = table("reconcile_look", tables.looks);
  const agreements = table("reconcile_agreement", tables.agreements);
  const ofAccount = (broker: string, account: string): StoredDifference[] =>
    differences.filter((one) => isOpen(one) && one.broker === broker && one.account === account).sort(oldestFirst);
  const records: ReconcileRecords = {
    lockOpen: (broker, account) =>
      inTurn(async () => {
        for (const { differenceId } of ofAccount(broker, account)) await lock(`difference ${differenceId}`);
        return ofAccount(broker, account);
      }),
    put: (difference) =>
      inTurn(async () => {
        await lock(`difference ${difference.differenceId}`);
        const twin = ofAccount(difference.broker, difference.account).find((one) => one.symbol === difference.symbol);
        if (isOpen(difference) && twin !== undefined && twin.differenceId !== difference.differenceId) {
          throw new Fault("STORE_CONFLICT", `an open difference in ${difference.symbol} exists already`, {
            retry: "now",
          });
        }
        differences.set(difference.differenceId, difference);
      }),
    looks: (differenceIds) =>
      inTurn(async () =>
        looks
          .filter(({ differenceId }) => differenceIds.includes(differenceId))
          .sort((one, other) => (one.differenceId < other.differenceId ? -1 : 1)),
      ),
    putLook: (look) =>
      inTurn(async () => {
        await lock(`difference look ${look.differenceId}`);
        looks.set(look.differenceId, look);
      }),
    list: ({ fundId, openOnly, countMax, afterDifferenceId }) =>
      inTurn(async () => {
        const newestFirst = (one: StoredDifference, other: StoredDifference): number => oldestFirst(other, one);
        const asked = differences
          .filter((one) => (fundId === undefined || one.fundId === fundId) && (!openOnly || isOpen(one)))
          .sort(newestFirst);
        return pageAfter(asked, countMax, afterDifferenceId, (id) => differences.get(id), newestFirst);
      }),
    confirmed: () => inTurn(async () => differences.filter(({ status }) => status === "CONFIRMED").sort(oldestFirst)),
    agreement: (broker, account) => inTurn(async () => agreements.get(agreementKey(broker, account))),
    putAgreement: (agreement) =>
      inTurn(async () => {
        const key = agreementKey(agreement.broker, agreement.account);
        await lock(`agreement ${key}`);
        agreements.set(key, agreement);
      }),
  };
  return records;
}
