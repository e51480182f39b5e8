// Reports sources that touch orders of others: all of it was refused, and nothing moved, but either a program is set up wrongly or somebody lies.
import type { ServicePorts } from "./service.ts";
import { byTheMinute } from "./telling/by-the-minute.ts";

export interface TouchedOrders {
  /** Something was refused because the order is another source's. */
  refused(source: string, orderId: string): void;
  stop(): Promise<void>;
}

export function createTouchedOrders(
  ports: Pick<ServicePorts, "timers" | "log">,
  /** Raises `ORDER_OF_ANOTHER` about a source, once for each call. */
  raise: (source: string, sentence: string) => void,
): TouchedOrders {
  const reports = byTheMinute<string>(ports, (source, { count, ids }) => {
    const some = ids.join(", ");
    const which = ids.length < count ? `the first: ${some}` : some;
    const times = count === 1 ? "once" : `${count} times`;
    const sentence = `${source} confirmed, released, amended, cancelled or reported on orders that another source asked for, ${times} (${which}). All of it was refused. If they are its own, an admin hands them over: ctl riskengine sources hand-over.`;
    raise(source, sentence);
  });
  return { refused: (source, orderId) => reports.heard(source, orderId, source), stop: reports.stop };
}
