// Keeps resting exits within what there is to exit: when a position became smaller, orders that are marked reduce_only and rest above it are
// lowered or cancelled. The risk engine proves reductions against the fund's whole position in a symbol, so that is what is read here.
import * as decimal from "../../contracts/src/decimal.ts";
import { type RestingExit, shrinkExits } from "../../core/orders/reduce-only.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import { startLoop } from "../shared/loop.ts";
import type { Amending } from "./amendments/amending.ts";
import type { Cancelling } from "./cancelling.ts";
import type { Bells, OmsPorts } from "./oms-parts.ts";
import { remainingOf } from "./transitions.ts";

const lookAgainMs = 1_000;

interface Reductions {
  /** Look at this symbol of this fund soon. */
  look(fundId: string, symbol: string): void;
  stop(): Promise<void>;
}

interface ReductionsParts {
  readonly ports: OmsPorts;
  readonly cancelling: Cancelling;
  readonly amending: Amending;
  readonly bells: Bells;
}

export function createReductions({ ports, cancelling, amending, bells }: ReductionsParts): Reductions {
  /** Bounded by what the funds trade. */
  const waiting = new Map<string, { readonly fundId: string; readonly symbol: string }>();

  async function run(ending: AbortSignal): Promise<number | undefined> {
    for (const [key, place] of [...waiting]) {
      if (ending.aborted) return undefined;
      waiting.delete(key);
      let isAgain = true;
      try {
        isAgain = await settle(place.fundId, place.symbol);
      } finally {
        // Trouble, or an order that is still changing: once more, a little later, and behind the others.
        if (isAgain) waiting.set(key, place);
      }
    }
    return waiting.size === 0 ? undefined : lookAgainMs;
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

  const what = { failing: "resting exits cannot be read yet", working: "resting exits can be read again" };
  const loop = startLoop({ ports, what, run, troubleMsMax: lookAgainMs });
  return {
    look(fundId, symbol) {
      waiting.set(JSON.stringify([fundId, symbol]), { fundId, symbol });
      loop.wake();
    },
    stop: loop.stop,
  };
}

function exitOf(stored: StoredOrder): RestingExit {
  return { orderId: stored.order.order_id, side: stored.order.side, remaining: remainingOf(stored) };
}
