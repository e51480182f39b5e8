// What was halted and lifted: since an epoch, which the gateway follows for the public list and stream of halts, and page by page into the past,
// for people.
import type {
  HaltChanges,
  HaltHistory,
  ListHaltChangesRequest,
  ListHaltHistoryRequest,
} from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import { countDefault, countMax, mustBeKnown, pagedLimit, type RiskQueriesPorts } from "../risk-queries-arguments.ts";

export function haltChanges(ports: RiskQueriesPorts): RpcService["handlers"] {
  return {
    ListHaltChanges: async (request: ListHaltChangesRequest): Promise<HaltChanges> => {
      const wanted = countMax(request.count_max, countDefault);
      const { epoch, active, changes } = await ports.riskQueries.haltChanges(request.after_epoch, wanted);
      return {
        epoch,
        halts: [...active],
        changes: changes.map((change) => ({ ...change, halts: [...change.halts], at: format(change.at) })),
      };
    },
    ListHaltHistory: async (request: ListHaltHistoryRequest): Promise<HaltHistory> => {
      const { fund_id: fundId, id_prefix: idPrefix, after_halt_id: afterHaltId } = request;
      const found = await ports.riskQueries.pastHalts({
        countMax: countMax(request.count_max, countDefault, pagedLimit),
        ...(fundId !== undefined && { fundId }),
        ...(idPrefix !== undefined && { idPrefix }),
        ...(afterHaltId !== undefined && { afterHaltId }),
      });
      if (found.length === 0 && fundId !== undefined) await mustBeKnown(ports, fundId);
      return {
        halts: found.map(({ halt, liftedAt }) => ({
          halt_id: halt.halt_id,
          severity: halt.severity,
          fund_id: halt.fund_id,
          ...(halt.strategy_id !== undefined && { strategy_id: halt.strategy_id }),
          reason: halt.reason,
          requested_by: halt.requested_by,
          since: halt.since,
          ...(liftedAt !== undefined && { lifted_at: format(liftedAt) }),
        })),
      };
    },
  };
}
