// Puts the year before the paper platform began in, in the background after the first start: nobody waits for it. A start that was killed before tries
// again; once it is in, it is never made again.
import { tradingDay } from "../../contracts/src/calendar.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { ReferenceReader, ReferenceView } from "../reference/reference-view.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { dayBefore, historyName, paperHistory } from "../shared/paper-history.ts";
import { paperCapital } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import { importHistory } from "./import-history.ts";

type SeedHistoryPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "crash" | "log" | "store" | "settings" | "marketHistory" | "sha256"
>;

/** The platform is up before this begins to work. */
const firstAfterMs = 4_000;
const againAfterMs = 30_000;

export function seedHistory(ports: SeedHistoryPorts, reader: ReferenceReader): Loop {
  async function once(): Promise<void> {
    const view = reader.current();
    // Where the funds are somebody's own, so is their past.
    if (!paperCapital.every(({ fundId }) => view.funds.get(fundId)?.mode === "PAPER")) return;
    const known = await ports.store.transact("treasury.look", (unit) => unit.ledger.imported(historyName));
    if (known !== undefined) return;
    await importHistory(ports, view, await paperHistory(ports, lastDayOf(view, ports.clock.now())));
  }

  return startLoop({
    ports,
    what: {
      failing: "the paper platform's history cannot be put in yet",
      working: "the paper platform's history could be put in",
    },
    firstAfterMs: ports.settings.seedPaperHistory ? firstAfterMs : undefined,
    // Once: there is nothing to be woken for.
    run: async () => void (await once()),
    troubleMsMin: againAfterMs,
    troubleMsMax: againAfterMs,
  });
}

/**
 * The day before the trading day that is running for any of the funds: today's values are kept under that day, over a weekend under Friday, and
 * what was told of it would be lost, and with it the value that the day's profit is counted from.
 */
export function lastDayOf(view: ReferenceView, now: Instant): string {
  const running = paperCapital.map(({ fundId }) => {
    const calendar = view.calendars.get(view.funds.get(fundId)?.calendar ?? "");
    return calendar === undefined ? format(now).slice(0, 10) : tradingDay(calendar, now);
  });
  return dayBefore(running.reduce((earliest, day) => (day < earliest ? day : earliest)));
}
