// An operator says that an order of a foreign order management has ended, because nobody there will report it any more: what is reserved for it is free. It takes
// the second factor, because an order that still rests at a broker would trade uncounted.
//
//  1. Our own order management knows its orders, and cancels them: those are refused here.
//  2. The books move in the step in which the entry goes to the journal. When the journal does not take it, the same is asked again and written then.
//  3. Something dated more than 5 s later reserves the order again, as after an end that its source reported (core/orders/ended-orders.ts).
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Approval, EndApprovalRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, parse } from "../../../contracts/src/instant.ts";
import { isOwnSource } from "../../../contracts/src/platform-services.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { NamedAction } from "../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { Attempt, Attempts } from "../../shared/attempts.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { type ApprovalEvent, type ApprovalEvents, payloadOf } from "./approval-events.ts";

interface EndApprovalOptions {
  readonly ports: Pick<ServicePorts, "clock" | "log" | "store">;
  readonly engine: Pick<Engine, "approval" | "ownerOf" | "endOrder">;
  readonly commit: Pick<GroupCommit, "add" | "complaint">;
  readonly attempts: Attempts;
  readonly events: Pick<ApprovalEvents, "tell" | "tellInTime">;
}

export interface EndApproval {
  end(request: EndApprovalRequest, call: RpcCall): Promise<Approval | DeniedAnswer>;
  /** What moved the books and is not in the journal. */
  unwritten(): number;
}

type Ended = Extract<ApprovalEvent, { readonly kind: "end" }>;
type Denial = Parameters<Attempts["refused"]>[1];

export function createEndApproval({ ports, engine, commit, attempts, events }: EndApprovalOptions): EndApproval {
  /** Of those that the journal did not take, by order. */
  const unwritten = new Map<string, Ended>();

  function refusalOf(orderId: string, reason: string, { state }: Approval): Denial | undefined {
    if (line(reason, 2_000).trim() === "") {
      return { code: "REASON_MISSING", reason: "An order is not declared ended without a reason." };
    }
    const owner = engine.ownerOf(orderId);
    if (owner !== undefined && isOwnSource(owner)) {
      const ours = `Order ${orderId} is our own order management's: ctl oms orders cancel ${orderId}.`;
      return { code: "ORDER_OURS", reason: ours };
    }
    if (state !== "EXPIRED" && state !== "RELEASED") return undefined;
    return { code: "APPROVAL_EXPIRED", reason: `Nothing is reserved for order ${orderId}: it is ${state}.` };
  }

  function endedBy(actor: string, reason: string, approval: Approval): Ended {
    const { order_id, fund_id, strategy_id, symbol, side, reserved_quantity: released_quantity } = approval;
    const about = { order_id, fund_id, strategy_id, symbol, side, released_quantity };
    const at = ports.clock.now();
    engine.endOrder(order_id, at);
    return { kind: "end", payload: { ...about, ended_by: actor, reason: line(reason, 2_000), at: format(at) } };
  }

  /** Invariant 2. */
  async function write(ended: Ended, attempt: Attempt): Promise<void> {
    const { order_id: orderId, fund_id: fundId, at } = ended.payload;
    unwritten.set(orderId, ended);
    await commit.add({ kind: "end", at: parse(at), fundId, orderId, payload: payloadOf(ended) });
    unwritten.delete(orderId);
    try {
      await events.tell(ended, (unit) => attempts.allowed(unit, attempt));
    } catch (thrown) {
      ports.log.warn("the end of an order is reported later", { order_id: orderId, error: messageOf(thrown) });
      events.tellInTime(ended);
      throw thrown;
    }
  }

  return {
    async end({ order_id: orderId, reason, step_up_proof: proof }, { identity }) {
      const attempt: Attempt = { identity, verb: "EndApproval", target: orderId, reason };
      const left = unwritten.get(orderId);
      const approval = engine.approval(orderId);
      if (approval === undefined && left === undefined) throw await nothingReserved(attempts, attempt);
      const refusal = approval === undefined ? undefined : refusalOf(orderId, reason, approval);
      if (refusal !== undefined) return attempts.refused(attempt, refusal);
      const complaint = commit.complaint();
      if (complaint !== undefined) throw complaint;
      const shown = { identity, named: endAction(orderId, reason), at: ports.clock.now() };
      const redeem = (unit: UnitOfWork) => unit.stepUps.redeem({ ...shown, proof: proof === "" ? undefined : proof });
      const denial = await ports.store.transact("risk.accept", redeem);
      if (denial !== undefined) return attempts.refused(attempt, denial);
      // As it stands now: its source may have ended it meanwhile.
      const now = engine.approval(orderId);
      const ended = left ?? (now === undefined ? undefined : endedBy(identity.actor, reason, now));
      if (ended === undefined) throw await nothingReserved(attempts, attempt);
      await write(ended, attempt);
      const { ended_by: _by, reason: _why, at: _at, released_quantity: _released, ...about } = ended.payload;
      const { quantity = "0", filled_quantity = "0" } = now ?? {};
      return { ...about, quantity, filled_quantity, reserved_quantity: "0", state: "ENDED" };
    },
    unwritten: () => unwritten.size,
  };
}

/** What a proof of the second factor must name. */
export function endAction(orderId: string, reason: string): NamedAction {
  return { action: "EndApproval", parameters: { order_id: orderId, reason } };
}

function nothingReserved(attempts: Attempts, attempt: Attempt): Promise<Error> {
  const shown = JSON.stringify(line(attempt.target, 128));
  return attempts.notFound(attempt, `Nothing is reserved for an order ${shown}.`);
}
