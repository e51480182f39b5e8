// Which orders that a halt covers a foreign order management may still have with a broker: what the risk engine holds room for and our own order management
// does not know. An order counts until its end is reported, an approval of which nothing shows that it was sent until it is released or has expired.
import { platformServices } from "../../../contracts/src/platform-services.ts";
import type { BelievedApproval } from "../../../contracts/src/records/books.ts";
import type { RiskBooks } from "../../../ports/peers.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";

/** Orders that our own order management is asked about one by one; beyond these each counts as a stranger's. */
const askedMax = 5_000;
const prefix = "service:";
const ours: ReadonlySet<string> = new Set(platformServices.map((name) => `${prefix}${name}`));
/** Who asked for what was approved before the risk engine's last start is not known. */
const unnamed = "a foreign order management";

/** What the engine holds room for is asked of it. */
export type Reservations = { readonly riskBooks: Pick<RiskBooks, "approvals"> };
type LookPorts = Pick<ServicePorts, "store"> & Reservations;

export interface ForeignOrder extends BelievedApproval {
  /** The name of the token that asked for it. */
  readonly system: string;
}

export async function foreignOrders({ store, riskBooks }: LookPorts): Promise<readonly ForeignOrder[]> {
  const open = (await riskBooks.approvals()).filter(
    ({ state, askedBy }) => state !== "ENDED" && (askedBy === undefined || !ours.has(askedBy)),
  );
  const nameless = open.filter(({ askedBy }) => askedBy === undefined).slice(0, askedMax);
  const own = nameless.length === 0 ? new Set() : await store.transact("halts.look", (unit) => known(unit, nameless));
  return open.flatMap((order) => (own.has(order.orderId) ? [] : [{ ...order, system: systemOf(order) }]));
}

async function known({ oms }: Pick<UnitOfWork, "oms">, asked: readonly BelievedApproval[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { orderId } of asked) if ((await oms.order(orderId)) !== undefined) found.add(orderId);
  return found;
}

function systemOf({ askedBy }: BelievedApproval): string {
  if (askedBy === undefined) return unnamed;
  return askedBy.startsWith(prefix) ? askedBy.slice(prefix.length) : askedBy;
}

const namedMax = 5;

/** "waiting for order-management: 2 orders (o-1 SENT, o-2 UNSENT)", for each system; empty when there are none. */
export function waitingFor(orders: readonly ForeignOrder[]): string {
  const systems = [...new Set(orders.map(({ system }) => system))].sort();
  const texts = systems.map((system) => {
    const own = orders.filter((order) => order.system === system);
    const named = own.slice(0, namedMax).map(({ orderId, state }) => `${orderId} ${state}`);
    const more = own.length > namedMax ? " and more" : "";
    return `waiting for ${system}: ${own.length} ${own.length === 1 ? "order" : "orders"} (${named.join(", ")}${more})`;
  });
  return texts.join("; ");
}
