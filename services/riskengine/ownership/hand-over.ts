// An admin hands the orders of one source to another one: a token that was issued under a new name, or a program that takes the place of one that is gone. All that
// the old source has by then, or one order.
//
//  1. Who asked stays on record; what was handed over is applied to it (core/orders/order-owner.ts).
//  2. It is kept, told and recorded in one transaction with the second factor's proof, and in force when it is answered.
//  3. Our own services neither give nor take orders: each knows its own.
import { Fault } from "../../../contracts/src/fault.ts";
import type { HandedOver, HandOverRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import { isOwnSource } from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { NamedAction } from "../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { Attempt, Attempts } from "../../shared/attempts.ts";
import { line } from "../../shared/one-line.ts";
import { ownersOf } from "../../shared/order-owners.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { OrderOwnership } from "./order-ownership.ts";

interface HandOverOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "clock" | "timers" | "log">;
  readonly engine: Pick<Engine, "approvals">;
  readonly attempts: Attempts;
  readonly ownership: Pick<OrderOwnership, "readAgain">;
}

type HandOver = (request: HandOverRequest, call: RpcCall) => Promise<HandedOver | DeniedAnswer>;

/** Counted in an answer at most. */
const countMax = 100_000;

export function createHandOver({ ports, engine, attempts, ownership }: HandOverOptions): HandOver {
  async function mustBeTheirs({ from, order_id: orderId }: HandOverRequest, attempt: Attempt): Promise<void> {
    if (orderId === undefined) return;
    const { owners } = (await ownersOf(ports, [orderId]))(orderId);
    if (owners.includes(from)) return;
    const sentence = `Order ${line(orderId, 128)} is not one of ${line(from, 200)}.`;
    throw await attempts.notFound(attempt, sentence);
  }

  return async (request, { identity }) => {
    const { from, to, order_id: orderId, reason, step_up_proof: proof } = request;
    const attempt: Attempt = { identity, verb: "HandOverSource", target: orderId ?? from, reason };
    mustBeTwoOutside(from, to);
    if (line(reason, 2_000).trim() === "") {
      const missing = "Orders are not handed over without a reason.";
      return attempts.refused(attempt, { code: "REASON_MISSING", reason: missing });
    }
    await mustBeTheirs(request, attempt);
    const at = ports.clock.now();
    const shown = { identity, named: handOverAction(request), at, proof: proof === "" ? undefined : proof };
    const given = { from, to, ...(orderId !== undefined && { order_id: orderId }) };
    const denied = await transactToKnownEnd(ports, "risk.hand-over", async (unit: UnitOfWork) => {
      const denial = await unit.stepUps.redeem(shown);
      if (denial !== undefined) return attempts.refusedIn(unit, attempt, denial);
      await unit.foreign.handOver({ from, to, orderId, at }, { actor: identity.actor, reason: line(reason, 2_000) });
      const told = { ...given, given_by: identity.actor, reason: line(reason, 2_000), at: format(at) };
      await unit.events.publish(subjects.ordersHandedOver, told);
      await attempts.allowed(unit, attempt);
      return undefined;
    });
    if (denied !== undefined) return denied;
    await ownership.readAgain();
    const open = engine.approvals({ fundId: undefined, unsent: false, owner: to, countMax });
    return { ...given, open_orders: open.length, given_by: identity.actor, at: format(at) };
  };
}

function mustBeTwoOutside(from: string, to: string): void {
  const own = [from, to].find((source) => isOwnSource(source));
  const wrong =
    own !== undefined
      ? `${own} is one of the platform's own services: its orders are its own.`
      : from === to
        ? "OLD and NEW are the same source."
        : undefined;
  if (wrong !== undefined) throw new Fault("INVALID_ARGUMENT", wrong, { retry: "never" });
}

/** What a proof of the second factor must name. */
export function handOverAction({ from, to, order_id, reason }: Omit<HandOverRequest, "step_up_proof">): NamedAction {
  const parameters = { from, to, ...(order_id !== undefined && { order_id }), reason };
  return { action: "HandOverSource", parameters };
}
