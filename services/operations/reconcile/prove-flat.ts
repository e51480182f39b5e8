// After a flatten: what the broker itself says is left, recorded with who asked and when. Without two complete answers there is no proof at all.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { FlatProof, ProveFlatRequest } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { earlier, format, type Instant } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Broker, BrokerAnswer } from "../../../ports/broker.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { givenReason, missingReason, tellAttempt } from "../worker-verbs.ts";

interface ProveFlatPorts extends Pick<ServicePorts, "store" | "clock" | "random"> {
  readonly broker: Broker;
}

/** Orders first: one that trades in between shows up in the positions. */
const asked = ["open orders", "positions"] as const;

export function createProveFlat(ports: ProveFlatPorts, mustKnowFund: (fundId: string) => Promise<void>) {
  return async (
    { fund_id: fundId, reason: given }: ProveFlatRequest,
    { identity }: RpcCall,
  ): Promise<FlatProof | DeniedAnswer> => {
    const reason = givenReason(given);
    if (reason === "") return { denial: missingReason("A fund is not proved flat") };
    await mustKnowFund(fundId);
    return proveFlat(ports, { fundId, askedBy: identity.actor, reason }, (unit, at) =>
      tellAttempt(unit, identity, { verb: "ProveFlat", target: fundId, reason, at }),
    );
  };
}

interface FlatQuestion {
  readonly fundId: string;
  readonly askedBy: string;
  readonly reason: string;
}

/** Asks the broker and records its answer, together with whatever else follows from it. */
export async function proveFlat(
  { broker, clock, random, store }: ProveFlatPorts,
  { fundId, askedBy, reason }: FlatQuestion,
  also: (unit: UnitOfWork, at: Instant, proof: FlatProof) => Promise<void>,
): Promise<FlatProof> {
  const askedAt = clock.now();
  const orders = completed(await broker.openOrders(fundId));
  const positions = completed(await broker.positions(fundId));
  const left = positions.items.filter(({ quantity }) => quantity !== 0n);
  const flat = left.length === 0 && orders.items.length === 0;
  const proof = {
    proof_id: `flat-${random.uuid()}`,
    fund_id: fundId,
    account: fundId,
    broker: broker.name,
    flat,
    asked_at: format(askedAt),
    broker_as_of: format(earlier(orders.asOf, positions.asOf)),
    open_orders: orders.items.length,
    asked_by: askedBy,
    reason,
    asked: [...asked],
  };
  const answer: FlatProof = {
    ...proof,
    left: left.map(({ symbol, quantity }) => ({ symbol, quantity: decimal.format(quantity) })),
  };
  await store.transact("reconcile.flat", async (unit) => {
    const at = clock.now();
    await unit.events.publish(subjects.flatProved, {
      ...proof,
      left: Object.fromEntries(answer.left.map(({ symbol, quantity }) => [symbol, quantity])),
      at: format(at),
    });
    await also(unit, at, answer);
  });
  return answer;
}

function completed<One>(answer: BrokerAnswer<One>): Extract<BrokerAnswer<One>, { readonly complete: true }> {
  if (answer.complete) return answer;
  throw new Fault("BROKER_UNAVAILABLE", `The broker's answer is not complete, so it proves nothing: ${answer.why}`, {
    retry: "later",
  });
}
