// Reference data as the engine needs it: read whole at the start, and again whenever its counter moved. At the start the rates of a moment ago come first, so that
// one that jumped just before has jumped after it.
import { type TradingCalendar, tradingCalendar } from "../../contracts/src/calendar.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import { calendarDefinition, type FundReference, type FxRate } from "../../contracts/src/records/reference.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { confirmMs } from "../../core/exposure/price-jump.ts";
import type { Reference } from "../../ports/reference-data.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { startLoop } from "../shared/loop.ts";
import { namedSources } from "../shared/price-sources.ts";
import type { ServicePorts } from "../shared/service.ts";

const askEveryMs = 1_000;

export interface ReferenceWatch {
  fund(fundId: string): FundReference | undefined;
  funds(): Iterable<FundReference>;
  /** The fund that a strategy trades for. */
  fundOfStrategy(strategyId: string): FundReference | undefined;
  /** The calendar that a fund's trading day follows; undefined for a fund or a calendar that is not known. */
  calendarOf(fundId: string): TradingCalendar | undefined;
  /** The calendar that an instrument is traded by; undefined for an instrument or a calendar that is not known. */
  tradingCalendarOf(symbol: string): TradingCalendar | undefined;
  /** Of an instrument; undefined when there is none. */
  currencyOf(symbol: string): string | undefined;
  /** Whose prices of an instrument count, in order; undefined where nobody is named. */
  pricedBy(symbol: string): readonly string[] | undefined;
  /** Every sector that an instrument has, in order. */
  sectors(): readonly string[];
  /** Has what was set a moment ago. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "referenceData" | "store" | "clock" | "timers" | "log" | "crash">;

/** Resolves when the engine has it; `eachLook` runs once a second for whoever has something to tell as often. */
export async function watchReference(ports: Ports, engine: Engine, eachLook: () => void): Promise<ReferenceWatch> {
  let funds: ReadonlyMap<string, FundReference> = new Map();
  let owners: ReadonlyMap<string, FundReference> = new Map();
  /** By name, with what each was made of: one that has not changed stays the same object. */
  let calendars: ReadonlyMap<string, { readonly content: string; readonly calendar: TradingCalendar }> = new Map();
  /** By symbol, with the name of its calendar. */
  let instruments: ReadonlyMap<string, { readonly calendar: string; readonly currency: string }> = new Map();
  let priced: ReadonlyMap<string, readonly string[]> = new Map();
  let sectors: readonly string[] = [];
  let change = 0;

  function adopt(reference: Reference): void {
    engine.setReference(reference);
    funds = new Map(reference.funds.map((fund) => [fund.fund_id, fund]));
    owners = new Map(reference.funds.flatMap((fund) => fund.strategies.map((strategy) => [strategy, fund] as const)));
    instruments = new Map(
      reference.instruments.map(({ symbol, calendar, currency }) => [symbol, { calendar, currency }]),
    );
    priced = namedSources(reference);
    sectors = [...new Set(reference.instruments.map(({ sector }) => sector))].filter((name) => name !== "").sort();
    calendars = new Map(
      reference.calendars.map((definition) => {
        const content = JSON.stringify(definition);
        const known = calendars.get(definition.name);
        const isSame = known?.content === content;
        return [
          definition.name,
          isSame ? known : { content, calendar: tradingCalendar(calendarDefinition(definition)) },
        ] as const;
      }),
    );
    change = reference.change;
  }

  async function refresh(): Promise<void> {
    if ((await ports.referenceData.changed()) !== change) adopt(await ports.referenceData.read());
  }

  async function adoptFirst(): Promise<void> {
    const now = ports.clock.now();
    const at = minusMilliseconds(now, confirmMs);
    const read = (unit: UnitOfWork) => unit.reference.asOf("fx", at);
    const before = await ports.store.transact("risk.earlier-rates", read, { isOneStatement: true });
    const reference = await ports.referenceData.read();
    engine.noteClock(now);
    if (before !== undefined) adopt({ ...reference, fx: before.content as FxRate[] });
    adopt(reference);
  }

  await adoptFirst();
  const loop = startLoop({
    ports,
    what: { failing: "reference data cannot be read", working: "reference data can be read again" },
    firstAfterMs: askEveryMs,
    async run() {
      eachLook();
      await refresh();
      return askEveryMs;
    },
    troubleMsMax: askEveryMs,
  });
  return {
    fund: (fundId) => funds.get(fundId),
    funds: () => funds.values(),
    fundOfStrategy: (strategyId) => owners.get(strategyId),
    calendarOf: (fundId) => calendars.get(funds.get(fundId)?.calendar ?? "")?.calendar,
    tradingCalendarOf: (symbol) => calendars.get(instruments.get(symbol)?.calendar ?? "")?.calendar,
    currencyOf: (symbol) => instruments.get(symbol)?.currency,
    pricedBy: (symbol) => priced.get(symbol),
    sectors: () => sectors,
    refresh,
    stop: loop.stop,
  };
}
