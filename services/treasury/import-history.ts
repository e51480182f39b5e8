// Puts a year of values from before the paper platform began into the history, once: in one transaction with the event that tells it, so the audit
// log has one entry with the hash of the whole.
import { startOfDate, tradingDay } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  civilFromDays,
  daysFromCivil,
  format,
  type Instant,
  plusMicroseconds,
  tryParseDate,
} from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { NavPoint } from "../../ports/ledger-records.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import type { HistoryNav, PaperHistory } from "../shared/paper-history.ts";
import { paperActor } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";

type HistoryPorts = Pick<ServicePorts, "clock" | "log" | "store">;

/** False when it was put in before. Days from the running trading day on are left out: they are valued, not reported. */
export async function importHistory(ports: HistoryPorts, view: ReferenceView, history: PaperHistory): Promise<boolean> {
  const at = ports.clock.now();
  const points = history.navs.flatMap((one) => pointOf(one, view, at));
  const isNew = await ports.store.transact("treasury.history", async (unit) => {
    if (!(await unit.ledger.firstImport(history.name, history.hash, at))) return false;
    await unit.ledger.importNavs(points);
    await unit.events.publish(subjects.seedImported, {
      name: history.name,
      hash: history.hash,
      from: history.from,
      to: history.to,
      counts: { fills: history.fills.length, navs: history.navs.length, backtests: history.backtests.length },
      imported_by: paperActor,
      at: format(at),
    });
    return true;
  });
  if (isNew) ports.log.info("the paper platform's history of values was put in", { values: points.length });
  return isNew;
}

/** As of the last moment of that day where the fund is at home. */
function pointOf({ fundId, day, ...parts }: HistoryNav, view: ReferenceView, now: Instant): readonly NavPoint[] {
  const fund = view.funds.get(fundId);
  const calendar = fund === undefined ? undefined : view.calendars.get(fund.calendar);
  const date = tryParseDate(day);
  if (fund === undefined || calendar === undefined || date === undefined || day >= tradingDay(calendar, now)) return [];
  const next = startOfDate(calendar, civilFromDays(daysFromCivil(date) + 1));
  return [
    {
      fundId,
      at: plusMicroseconds(next, -1),
      nav: decimal.parse(parts.nav),
      cash: decimal.parse(parts.cash),
      positionsValue: decimal.parse(parts.positionsValue),
      netFlows: decimal.zero,
      currency: fund.currency,
      oldestPriceAgeMs: 0,
      ...(parts.prices !== undefined && { prices: parts.prices }),
      tradingDay: day,
    },
  ];
}
