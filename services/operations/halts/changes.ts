// What was halted and lifted since an epoch: the gateway follows this for the public list and the public stream of halts.
import type { HaltChanges, ListHaltChangesRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { countMax } from "../risk-queries-arguments.ts";

const changesUsual = 100;

export function haltChanges(ports: Pick<ServicePorts, "riskQueries">): RpcService["handlers"] {
  return {
    ListHaltChanges: async (request: ListHaltChangesRequest): Promise<HaltChanges> => {
      const wanted = countMax(request.count_max, changesUsual);
      const { epoch, active, changes } = await ports.riskQueries.haltChanges(request.after_epoch, wanted);
      return {
        epoch,
        halts: [...active],
        changes: changes.map((change) => ({ ...change, halts: [...change.halts], at: format(change.at) })),
      };
    },
  };
}
