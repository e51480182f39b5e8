// What risk officers book: deposits and withdrawals; and what a reconciler that is wrong would adjust. Keys come again, with the same body and with
// another.

import * as decimal from "../../contracts/src/decimal.ts";
import { flowAction } from "../../services/treasury/book-flow.ts";
import { rebuildAction } from "../../services/treasury/rebuild-ledger.ts";
import { giveProof } from "../../testkit/memory/units/step-up.ts";
import { one } from "../people.ts";
import { operatorIdentity } from "../platform.ts";
import {
  type Act,
  type ActionParts,
  asOfficer,
  asService,
  earlier,
  freshKey,
  funds,
  reason,
  someReason,
} from "./action.ts";

interface Flow {
  readonly fund_id: string;
  readonly idempotency_key: string;
  readonly currency: string;
  readonly amount: string;
  readonly reason: string;
}

/** With a proof of the second factor, now and then with none. */
export const bookFlow: Act = (parts) => {
  const { prng, platform, time } = parts;
  const flow = flowOf(parts);
  const named = flowAction(flow, flow.reason);
  const proof = giveProof(platform.tables.stepUps, { identity: operatorIdentity("duty"), named, at: time.clock.now() });
  return asOfficer(parts, "Treasury", "BookFlow", { ...flow, step_up_proof: prng.chance(0.95) ? proof : "" });
};

function flowOf(parts: ActionParts): Flow {
  const { prng } = parts;
  const thrown = prng.below(100);
  const again = thrown < 20 ? earlier<Flow>(parts, "BookFlow") : undefined;
  // The same once more, and the same key for another amount or another fund.
  if (again !== undefined && thrown < 12) return again;
  if (again !== undefined && thrown < 16) return { ...again, amount: "777" };
  if (again !== undefined) return { ...again, fund_id: one(prng, funds) };
  const amount = String((prng.chance(0.6) ? 1 : -1) * (1_000 + prng.below(200_000)));
  const fresh = { fund_id: one(prng, funds), idempotency_key: freshKey(parts, "flow"), currency: "USD", amount };
  const flow = { ...fresh, reason: someReason(parts) };
  if (thrown < 24) return { ...flow, amount: "-1000000000" };
  if (thrown < 27) return { ...flow, fund_id: "omega" };
  if (thrown < 30) return { ...flow, currency: "EUR" };
  return flow;
}

interface Adjustment {
  readonly adjustment_id: string;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly from_quantity: string;
  readonly to_quantity: string;
  readonly price: string;
  readonly broker: string;
  readonly reason: string;
}

/** Only what must change nothing: what is right is adjusted by the reconciler itself. */
export const adjustPosition: Act = (parts) => {
  const { prng, platform } = parts;
  const thrown = prng.below(100);
  const again = thrown < 25 ? earlier<Adjustment>(parts, "AdjustPosition") : undefined;
  const held = [...platform.tables.oms.positions.values()];
  if (held.length === 0) return Promise.resolve();
  const { fundId, strategyId, symbol, quantity } = one(prng, held);
  const present = decimal.format(quantity);
  const outdated = decimal.format(decimal.add(quantity, decimal.one));
  const fresh: Adjustment = {
    adjustment_id: freshKey(parts, "adjustment"),
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    from_quantity: outdated,
    to_quantity: present,
    price: "100",
    broker: "paper",
    reason,
  };
  const wrong =
    thrown < 50
      ? fresh
      : thrown < 75
        ? { ...fresh, from_quantity: present }
        : { ...fresh, fund_id: "omega", strategy_id: "omega-one", from_quantity: "0", to_quantity: "5" };
  return asService(parts, "operations", "Oms", "AdjustPosition", again ?? wrong);
};

/** With a proof of the second factor, with one for another fund, with none, or only to look. */
export const rebuildLedger: Act = (parts) => {
  const { prng, platform, time } = parts;
  const fund_id = prng.chance(0.95) ? one(prng, funds) : "omega";
  const given = someReason(parts);
  const named = rebuildAction(prng.chance(0.9) ? fund_id : "beta", given);
  const proof = giveProof(platform.tables.stepUps, { identity: operatorIdentity("duty"), named, at: time.clock.now() });
  const request = { fund_id, reason: given, dry_run: prng.chance(0.2), step_up_proof: prng.chance(0.9) ? proof : "" };
  return asOfficer(parts, "Treasury", "RebuildLedger", request);
};
