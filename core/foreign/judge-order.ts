// Whether a foreign program may speak of an order: an order belongs to the source that asked for it, and nobody else reports its states and fills. Of an order
// that nobody asked about anybody may: it holds nothing, and its fills are vouched for by nobody.
import { isOwnSource } from "../../contracts/src/platform-services.ts";
import type { Refusal } from "./refusal.ts";

/** What is known of the order that an event names. */
export interface OrderStanding {
  /** Who published the event: the token's name over gRPC, the login's over NATS. */
  readonly source: string;
  /** Whether that is a login of NATS which no token names: it speaks for every foreign program, as it did before tokens named logins. */
  readonly isUnpaired: boolean;
  /** The login under which it came, where a token speaks through it: what the login had before the token named it is the token's. */
  readonly login?: string | undefined;
  /** Those who asked for an order of that id, or have it from them. Empty: nobody asked. */
  readonly owners: readonly string[];
  /** It was approved, and nobody knows for whom: the first source that reports on it has it. */
  readonly isUnclaimed: boolean;
}

export function refusedOrder(
  orderId: string,
  { source, isUnpaired, login, owners, isUnclaimed }: OrderStanding,
): Refusal | undefined {
  if (isUnclaimed || owners.length === 0 || owners.includes(source)) return undefined;
  if (login !== undefined && owners.includes(login)) return undefined;
  if (isUnpaired && owners.some((owner) => !isOwnSource(owner))) return undefined;
  const sentence = `Order ${orderId} was not asked for by ${source}: only the source that asked for it reports what becomes of it. An admin hands orders over with: ctl riskengine sources hand-over.`;
  return { code: "EVENT_ORDER_NOT_YOURS", sentence };
}
