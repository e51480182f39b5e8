// Whose orders are, in the risk engine: it judges what foreign programs report on them by that, and has what admins hand from one source to another.
//
//  1. Of an order that is open or ended lately the engine itself knows the asker; of any other the journal says it.
//  2. An order that was approved before askers were kept goes to the first source that reports on it, once, with an entry of the audit log. A login of NATS that
//     no token names takes none, because nobody knows for which program it speaks.
import { format } from "../../../contracts/src/instant.ts";
import { isOwnSource } from "../../../contracts/src/platform-services.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { OrderStanding } from "../../../core/foreign/judge-order.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { KeptHandOver } from "../../../ports/foreign-records.ts";
import { isUnpairedLogin } from "../../shared/foreign-intake.ts";
import { type OrderOwners, orderIdOf, orderStanding, ownersOf } from "../../shared/order-owners.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";

interface OrderOwnershipOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "clock" | "timers" | "log">;
  readonly engine: Pick<Engine, "ownerOf" | "setHandOvers" | "approval">;
}

export interface OrderOwnership {
  /** What a foreign event is judged by; undefined of one that names no order. */
  standingOf(event: BusEvent, source: string): Promise<OrderStanding | undefined>;
  /** Of an event that may be taken: its order is its source's from now on where nobody knows whose it is. Whether anything changed. */
  claim(event: BusEvent, order: OrderStanding | undefined): Promise<boolean>;
  /** What was handed over is in force when it resolves. */
  readAgain(): Promise<void>;
}

const claimReason = "It was approved before askers were kept, and this source is the first that reports on it.";

export async function createOrderOwnership({ ports, engine }: OrderOwnershipOptions): Promise<OrderOwnership> {
  /** One of an order whose asker nobody knows counts only while the engine has the order: of any other the store is asked. */
  const isOfUse = ({ from, orderId = "" }: KeptHandOver): boolean =>
    from !== "" || engine.approval(orderId) !== undefined;

  async function readAgain(): Promise<void> {
    const kept = await transactToKnownEnd(ports, "risk.foreign-look", (unit) => unit.foreign.handOvers());
    engine.setHandOvers(kept.filter(isOfUse));
  }

  async function ownersIn(event: BusEvent, orderId: string, source: string): Promise<OrderOwners> {
    const owner = engine.ownerOf(orderId);
    const isTheirs = owner === source || (owner !== undefined && isUnpairedLogin(event) && !isOwnSource(owner));
    if (owner !== undefined && isTheirs) return { owners: [owner], isUnclaimed: false };
    return (await ownersOf(ports, [orderId]))(orderId);
  }

  await readAgain();
  return {
    async standingOf(event, source) {
      const orderId = orderIdOf(event);
      if (orderId === undefined) return undefined;
      return orderStanding(event, await ownersIn(event, orderId, source));
    },
    async claim(event, order) {
      const orderId = orderIdOf(event);
      if (orderId === undefined || order?.isUnclaimed !== true || order.isUnpaired) return false;
      const { source } = order;
      const at = ports.clock.now();
      await transactToKnownEnd(ports, "risk.hand-over", async (unit) => {
        const handOver = { from: "", to: source, orderId, at };
        if (!(await unit.foreign.handOver(handOver, { actor: "riskengine", reason: claimReason }))) return;
        const given = { to: source, order_id: orderId, given_by: "riskengine", reason: claimReason, at: format(at) };
        await unit.events.publish(subjects.ordersHandedOver, given);
      });
      await readAgain();
      return true;
    },
    readAgain,
  };
}
