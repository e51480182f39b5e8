// Tells of sources that touch orders of others: all of it was refused, and nothing moved, but either a program is set up wrongly or somebody lies. The first is
// told at once; what follows is told once a minute and source, with how many there were and the first of their ids.
import type { ServicePorts } from "./service.ts";

export interface TouchedOrders {
  /** Something was refused because the order is another source's. */
  refused(source: string, orderId: string): void;
  stop(): Promise<void>;
}

const windowMs = 60_000;
const idsMax = 10;
/** Sources are tokens and logins, and those are few. */
const sourcesMax = 1_000;

interface Touched {
  count: number;
  readonly ids: Set<string>;
}

export function createTouchedOrders(
  { timers }: Pick<ServicePorts, "timers">,
  /** Raises `ORDER_OF_ANOTHER` about a source, once for each call. */
  raise: (source: string, sentence: string) => void,
): TouchedOrders {
  /** Since the last alarm of each. */
  const touched = new Map<string, Touched>();
  const windows = new Map<string, () => void>();

  function tell(source: string, { count, ids }: Touched): void {
    const some = [...ids].join(", ");
    const which = ids.size < count ? `the first: ${some}` : some;
    const times = count === 1 ? "once" : `${count} times`;
    const sentence = `${source} confirmed, released, amended, cancelled or reported on orders that another source asked for, ${times} (${which}). All of it was refused. If they are its own, an admin hands them over: ctl riskengine sources hand-over.`;
    raise(source, sentence);
    touched.set(source, { count: 0, ids: new Set() });
    windows.set(
      source,
      timers.after(windowMs, () => endWindow(source)),
    );
  }

  function endWindow(source: string): void {
    const since = touched.get(source);
    windows.delete(source);
    touched.delete(source);
    if (since !== undefined && since.count > 0) tell(source, since);
  }

  return {
    refused(source, orderId) {
      const since = touched.get(source);
      if (since === undefined) {
        if (touched.size < sourcesMax) tell(source, { count: 1, ids: new Set([orderId]) });
        return;
      }
      since.count += 1;
      if (since.ids.size < idsMax) since.ids.add(orderId);
    },
    stop: async () => {
      for (const cancel of windows.values()) cancel();
    },
  };
}
