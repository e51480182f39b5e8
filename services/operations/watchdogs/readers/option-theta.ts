// Inputs of theta_watchdog: a fund's option positions with the greeks of their newest quotes.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../../../contracts/src/instant.ts";
import type { OptionPosition, ThetaWatchdogInput } from "../../../../core/watchdogs/theta-watchdog.ts";
import type { Reader, Watched } from "../assigned.ts";
import type { Facts } from "./facts.ts";

export function thetaReader<Config>(facts: Facts): Reader<ThetaWatchdogInput, Config> {
  return {
    async read(request) {
      const { instruments } = await facts.reference();
      const navs = new Map((await facts.ports.riskStore.navs()).map((nav) => [nav.fund_id, Number(nav.nav)]));
      const positions = await facts.positions();
      const watched: Watched<ThetaWatchdogInput>[] = [];
      for (const { fund_id: fundId } of await facts.funds()) {
        if (!request.isDue(fundId)) continue;
        const held = new Map<string, decimal.Decimal>();
        for (const { fundId: of, symbol, quantity } of positions) {
          if (of !== fundId || instruments.get(symbol)?.asset_class !== "OPTION") continue;
          held.set(symbol, decimal.add(held.get(symbol) ?? decimal.zero, quantity));
        }
        // A fund without options has no theta to watch.
        if (held.size === 0) continue;
        let oldest: Instant = request.at;
        const options = [...held].map(([symbol, quantity]): OptionPosition => {
          const quote = facts.newest.get(symbol);
          const quotedAt = quote === undefined ? undefined : parse(quote.quoted_at);
          if (quotedAt !== undefined && quotedAt < oldest) oldest = quotedAt;
          return {
            symbol,
            contracts: decimal.toNumber(quantity),
            multiplier: Number(instruments.get(symbol)?.multiplier ?? "1"),
            thetaPerDay: quote?.greeks?.theta ?? null,
            gamma: quote?.greeks?.gamma ?? null,
          };
        });
        watched.push({ scope: { fundId }, input: { positions: options, nav: navs.get(fundId) ?? null, asOf: oldest } });
      }
      return watched;
    },
  };
}
