// Keeps resting exits within what there is to exit: when a position became smaller, orders that are marked reduce_only and rest above it are
// lowered or cancelled. The risk engine proves reductions against the fund's whole position in a symbol, so that is what is read here.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { type RestingExit, shrinkExits } from "../../core/orders/reduce-only.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { Amending } from "./amendments/amending.ts";
import type { Cancelling } from "./cancelling.ts";
import type { Bells, OmsPorts } from "./oms-parts.ts";
import { remainingOf } from "./transitions.ts";

const lookAgainMs = 1_000;

export interface Reductions {
  /** Look at this symbol of this fund soon. */
  look(fundId: string, symbol: string): void;
  stop(): Promise<void>;
}

export interface ReductionsParts {
  readonly ports: OmsPorts;
  readonly cancelling: Cancelling;
  readonly amending: Amending;
  readonly bells: Bells;
}

export function createReductions({ ports, cancelling, amending, bells }: ReductionsParts): Reductions {
  const ending = new AbortController();
  /** Bounded by what the funds trade. */
  const waiting = new Map<string, { readonly fundId: string; readonly symbol: string }>();
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;

  function look(fundId: string, symbol: string): void {
    waiting.set(JSON.stringify([fundId, symbol]), { fundId, symbol });
    if (isRunning || ending.signal.aborted) return;
    isRunning = true;
    running = run().finally(() => {
      isRunning = false;
    });
  }

  async function run(): Promise<void> {
    for (const [key, place] of waiting) {
      if (ending.signal.aborted) return;
      waiting.delete(key);
      try {
        if (!(await settle(place.fundId, place.symbol))) continue;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("resting exits cannot be read yet", { ...place, error: messageOf(thrown) });
      }
      // Trouble, or an order that is still changing: once more, a little later.
      await ports.timers.sleep(lookAgainMs, ending.signal);
      waiting.set(key, place);
    }
  }

  /** Whether it has to be read again. */
  async function settle(fundId: string, symbol: string): Promise<boolean> {
    const { position, resting } = await ports.store.transact("oms.look", async (unit) => {
      const isExit = ({ order, sliced }: StoredOrder): boolean =>
        order.fund_id === fundId && order.symbol === symbol && order.reduce_only === true && sliced !== true;
      const positions = await unit.oms.positions(fundId);
      return {
        position: positions
          .filter((one) => one.symbol === symbol)
          .reduce((sum, { quantity }) => decimal.add(sum, quantity), decimal.zero),
        resting: (await unit.oms.openOrders()).filter(isExit),
      };
    });
    const works = resting.filter(({ state }) => state === "WORKING" || state === "PARTIALLY_FILLED");
    const shrunk = shrinkExits(position, works.map(exitOf));
    for (const { orderId, remaining } of shrunk) {
      const stored = works.find(({ order }) => order.order_id === orderId);
      if (stored !== undefined) await shrink(stored, remaining);
    }
    return shrunk.length > 0;
  }

  async function shrink(stored: StoredOrder, remaining: decimal.Decimal): Promise<void> {
    const { order_id: orderId } = stored.order;
    if (stored.amendment !== undefined || stored.cancelReason !== undefined) return;
    if (remaining === decimal.zero) {
      await cancelling.request(orderId, "There is no position left for this exit to close.");
      return;
    }
    const quantity = decimal.format(decimal.add(stored.filledQuantity, remaining));
    await amending.request(orderId, `${orderId}#${quantity}#${stored.updatedAt}`, { quantity });
    bells.order(orderId);
  }

  return {
    look,
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

function exitOf(stored: StoredOrder): RestingExit {
  return { orderId: stored.order.order_id, side: stored.order.side, remaining: remainingOf(stored) };
}
