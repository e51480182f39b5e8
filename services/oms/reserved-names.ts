// Names that only the platform itself may give: its own exits, adjustments and slices are known by theirs, and whoever could take one first could
// keep a stop from firing or an exit from going on.

import { Fault } from "../../contracts/src/fault.ts";
import { platformServices } from "../../contracts/src/platform-services.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import type { Identity } from "../../ports/identity.ts";

const reservedBeginnings = ["stop-", "adjust-", "flatten-", "drill-", "slice-", "tv-"] as const;
/** As the slices of an order are named. */
const sliceEnding = /\/\d+$/;

type Names = Partial<Pick<Order, "order_id" | "idempotency_key">>;

/** Throws INVALID_ARGUMENT with what to do. */
export function mustBeFree(names: Names, { kind, name }: Identity): void {
  if (names.order_id !== undefined && sliceEnding.test(names.order_id)) {
    throw taken("order_id", "a slash and a number at the end name the slices of an order");
  }
  if (kind === "service" && (platformServices as readonly string[]).includes(name)) return;
  for (const field of ["order_id", "idempotency_key"] as const) {
    const begins = reservedBeginnings.find((beginning) => names[field]?.startsWith(beginning));
    if (begins !== undefined) throw taken(field, `names that begin with ${begins} are the platform's own`);
  }
}

function taken(field: string, why: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${field}: ${why}; choose another.`, { retry: "never" });
}
