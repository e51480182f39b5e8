// What a fund was worth over time, oldest first, at the grain that was asked for.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ListNavsRequest, Nav, Navs } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, tryParse } from "../../contracts/src/instant.ts";
import type { NavPoint } from "../../ports/ledger-records.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { ReferenceReader } from "./reference-view.ts";
import { countOf, everyOf, knownFund, navCounts, periodOf } from "./treasury-arguments.ts";

export async function listNavs(
  request: ListNavsRequest,
  { clock, treasuryQueries }: Pick<ServicePorts, "clock" | "treasuryQueries">,
  reader: ReferenceReader,
): Promise<Navs> {
  const fund = knownFund(await reader.refresh(), request.fund_id);
  const navs = await treasuryQueries.navs({
    fundId: fund.fund_id,
    ...beforeMark(periodOf(request.from, request.to, clock.now()), request.after_as_of),
    every: everyOf(request.every),
    countMax: countOf(request.count_max, navCounts),
  });
  return { navs: navs.map(navMessage) };
}

type Period = ReturnType<typeof periodOf>;

/** What was read already lies at the end of the period. */
function beforeMark({ from, to }: Period, after: string | undefined): Period {
  const mark = after === undefined ? to : tryParse(after);
  if (mark !== undefined) return { from, to: mark < to ? mark : to };
  const sentence = "after is no time: give the as_of of the first value that you have.";
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

function navMessage(point: NavPoint): Nav {
  return {
    fund_id: point.fundId,
    nav: decimal.format(point.nav),
    cash: decimal.format(point.cash),
    positions_value: decimal.format(point.positionsValue),
    net_flows: decimal.format(point.netFlows),
    currency: point.currency,
    oldest_price_age_ms: point.oldestPriceAgeMs,
    ...(point.tradingDay !== undefined && { trading_day: point.tradingDay }),
    as_of: format(point.at),
    prices: Object.entries(point.prices ?? {}).map(([symbol, valued]) => ({ symbol, ...valued })),
  };
}
