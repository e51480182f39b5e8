// The procedures about restrictions: which are in force or were, and a risk officer's word that one shall end before its episode does. The engine and
// research have the change within a second; the episode goes on, and does not open the restriction again.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  EndRestrictionRequest,
  ListRestrictionsRequest,
  Restrictions,
  Restriction as Wire,
} from "../../contracts/src/generated/svc/v1/watchdogs.ts";
import { format } from "../../contracts/src/instant.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import { mustKnowFund } from "../shared/must-know-fund.ts";
import type { ServicePorts } from "../shared/service.ts";
import { givenReason, missingReason, tellAttempt } from "./worker-verbs.ts";

const restrictionsDefault = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const restrictionsMax = 1_001;

type Ports = Pick<ServicePorts, "store" | "clock" | "referenceData">;

export function restrictionHandlers(ports: Ports) {
  const { store, clock } = ports;
  return {
    async ListRestrictions(request: ListRestrictionsRequest): Promise<Restrictions> {
      const { fund_id: fundId, include_ended: includesEnded, after_restriction_id: after } = request;
      const countMax = request.count_max === 0 ? restrictionsDefault : Math.min(request.count_max, restrictionsMax);
      const query = {
        ...(fundId === undefined ? {} : { fundId }),
        ...(after === undefined ? {} : { afterRestrictionId: after }),
        openOnly: !includesEnded,
        countMax,
      };
      const found = await store.transact("restrictions.look", (unit) => unit.restrictions.list(query));
      if (found.length === 0) await mustKnowFund(ports, fundId);
      return { restrictions: found.map(restrictionMessage) };
    },

    async EndRestriction(request: EndRestrictionRequest, { identity }: RpcCall): Promise<Wire | DeniedAnswer> {
      const restrictionId = request.restriction_id;
      const reason = givenReason(request.reason);
      if (reason === "") return { denial: missingReason("A restriction is not ended") };
      const at = clock.now();
      const ended = await store.transact("restrictions.end", async (unit) => {
        const [one] = await unit.restrictions.end([restrictionId], { at, by: identity.actor, reason });
        if (one === undefined) return unit.restrictions.lock(restrictionId);
        await unit.events.publish(subjects.restrictionEnded, {
          ...namesOf(one),
          ended_by: identity.actor,
          reason,
          at: format(at),
        });
        await tellAttempt(unit, identity, { verb: "EndRestriction", target: restrictionId, reason, at });
        return one;
      });
      const name = JSON.stringify(restrictionId.slice(0, 64));
      if (ended === undefined) throw new Fault("NOT_FOUND", `There is no restriction ${name}.`, { retry: "never" });
      // Ended before, by whomever: that is what was asked for.
      return restrictionMessage(ended);
    },
  };
}

function namesOf(one: Restriction) {
  return {
    restriction_id: one.restrictionId,
    kind: one.kind,
    watchdog: one.watchdog,
    episode_id: one.episodeId,
    ...(one.fundId === undefined ? {} : { fund_id: one.fundId }),
    ...(one.strategyId === undefined ? {} : { strategy_id: one.strategyId }),
    ...(one.symbol === undefined ? {} : { symbol: one.symbol }),
    ...(one.factor === undefined ? {} : { factor: decimal.format(one.factor) }),
    since: format(one.since),
  };
}

/** As it is shown; of one that has ended also when, by whom and why. */
export function restrictionMessage(one: Restriction): Wire {
  const { base, ended } = one;
  return {
    ...namesOf(one),
    ...(base === undefined ? {} : { base: decimal.format(base) }),
    ...(ended === undefined ? {} : { ended_at: format(ended.at), ended_by: ended.by, end_reason: ended.reason }),
  };
}
