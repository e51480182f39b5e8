// The procedures of the reconciler: compare now, and what differs.
import * as decimal from "../../../contracts/src/decimal.ts";
import type {
  Difference,
  Differences,
  ListDifferencesRequest,
  ReconcileRequest,
  Reconciliation,
} from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { DifferenceLook, StoredDifference } from "../../../ports/reconcile-records.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { mustKnowFund as mustBeFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { tellAttempt } from "../worker-verbs.ts";
import type { Looked } from "./looked.ts";

const countDefault = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const countMaxMax = 1_001;

interface ReconcileQueriesOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "referenceData">;
  look(fundId?: string): Promise<Looked>;
  /** Whether it is one whose account is compared. */
  mustKnowFund(fundId: string): Promise<void>;
}

export function reconcileQueries({ ports, look, mustKnowFund }: ReconcileQueriesOptions) {
  const { store, clock } = ports;
  return {
    async Reconcile({ fund_id: fundId }: ReconcileRequest, { identity }: RpcCall): Promise<Reconciliation> {
      if (fundId !== undefined) await mustKnowFund(fundId);
      await store.transact("workers.attempt", (unit) =>
        tellAttempt(unit, identity, { verb: "Reconcile", target: fundId ?? "", reason: "", at: clock.now() }),
      );
      const { compared, unanswered, symbols, differences } = await look(fundId);
      return {
        compared: [...compared],
        unanswered: unanswered.map(({ account, why }) => `${account}: ${why}`),
        symbols,
        differences: differences.map((one) => shownDifference(one)),
        at: format(clock.now()),
      };
    },

    async ListDifferences(request: ListDifferencesRequest): Promise<Differences> {
      const { fund_id: asked } = request;
      const differences = await store.transact("reconcile.list", async (unit) => {
        const countMax = Math.min(request.count_max === 0 ? countDefault : request.count_max, countMaxMax);
        const { fund_id: fundId, open_only: openOnly, after_difference_id: afterDifferenceId } = request;
        const found = await unit.reconcile.list({
          ...(fundId !== undefined && { fundId }),
          ...(afterDifferenceId !== undefined && { afterDifferenceId }),
          openOnly,
          countMax,
        });
        const looks = await unit.reconcile.looks(found.map(({ differenceId }) => differenceId));
        return found.map((one) =>
          shownDifference(
            one,
            looks.find(({ differenceId }) => differenceId === one.differenceId),
          ),
        );
      });
      if (differences.length === 0) await mustBeFund(ports, asked);
      return { differences };
    },
  };
}

/** An open one with the quantities of the newest look at it. */
function shownDifference(difference: StoredDifference, look?: DifferenceLook): Difference {
  const isOpen = difference.status === "SUSPECTED" || difference.status === "CONFIRMED";
  const { ourQuantity, brokerQuantity } = isOpen && look !== undefined ? look : difference;
  const { differenceId, fundId, account, broker, symbol, status, evidence } = difference;
  return {
    difference_id: differenceId,
    fund_id: fundId,
    account,
    broker,
    symbol,
    our_quantity: decimal.format(ourQuantity),
    broker_quantity: decimal.format(brokerQuantity),
    class: difference.class,
    status,
    evidence,
    first_seen_at: format(difference.firstSeenAt),
    at: format(difference.at),
  };
}
