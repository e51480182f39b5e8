// Inputs of theta_watchdog: a fund's option positions with the greeks of their newest quotes.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../../../contracts/src/instant.ts";
import type { OptionPosition, ThetaWatchdogInput } from "../../../../core/watchdogs/theta-watchdog.ts";
import type { StoredPosition } from "../../../../ports/oms-records.ts";
import type { Reader, Watched } from "../assigned.ts";
import type { Facts } from "./facts.ts";

type Held = Pick<StoredPosition, "fundId" | "strategyId" | "symbol">;

export function thetaReader<Config>(facts: Facts): Reader<ThetaWatchdogInput, Config> {
  return {
    async read(request) {
      const { instruments } = await facts.reference();
      const navs = new Map((await facts.ports.riskStore.navs()).map((nav) => [nav.fund_id, Number(nav.nav)]));
      const { positions, closing } = await held(facts);
      const watched: Watched<ThetaWatchdogInput>[] = [];
      for (const { fund_id: fundId } of await facts.funds()) {
        if (!request.isDue(fundId)) continue;
        // A fund without options is watched as well: an episode that its last option was bought back in ends like any other.
        const options = positions.filter(
          (one) => one.fundId === fundId && instruments.get(one.symbol)?.asset_class === "OPTION",
        );
        let oldest: Instant = request.at;
        const quoted = options.map(({ strategyId, symbol, quantity }): OptionPosition => {
          const quote = facts.newest.get(symbol);
          const quotedAt = quote === undefined ? undefined : parse(quote.quoted_at);
          if (quotedAt !== undefined && quotedAt < oldest) oldest = quotedAt;
          return {
            strategyId,
            symbol,
            contracts: decimal.toNumber(quantity),
            closing: closing({ fundId, strategyId, symbol }, decimal.sign(quantity)),
            multiplier: Number(instruments.get(symbol)?.multiplier ?? "1"),
            thetaPerDay: quote?.greeks?.theta ?? null,
            gamma: quote?.greeks?.gamma ?? null,
          };
        });
        watched.push({ scope: { fundId }, input: { positions: quoted, nav: navs.get(fundId) ?? null, asOf: oldest } });
      }
      return watched;
    },
  };
}

/** What is held and which orders close how much of it, at one moment: what an order has done is in one of the two and not in both. */
async function held(facts: Facts) {
  const { positions, orders } = await facts.ports.store.transact("watchdogs.look", async (unit) => ({
    positions: await unit.oms.positions(),
    orders: await unit.oms.openOrders(),
  }));
  function closing({ fundId, strategyId, symbol }: Held, side: number): number {
    const closes = orders.filter(({ order, sliced }) => {
      const isOwn = order.fund_id === fundId && order.strategy_id === strategyId && order.symbol === symbol;
      const direction = order.side === "BUY" || order.side === "BUY_TO_COVER" ? 1 : -1;
      // Of one that goes out in slices each slice is an order of its own.
      return isOwn && sliced !== true && direction === -side;
    });
    return closes.reduce(
      (total, { order, filledQuantity }) =>
        total + decimal.toNumber(decimal.subtract(decimal.parse(order.quantity), filledQuantity)),
      0,
    );
  }
  return { positions: positions.filter(({ quantity }) => quantity !== decimal.zero), closing };
}
