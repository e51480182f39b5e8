// The reference data that alerts are judged by, read again when it changed.
import { type TradingCalendar, tradingCalendar } from "../../../contracts/src/calendar.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import { calendarDefinition, type FundReference } from "../../../contracts/src/records/reference.ts";
import type { OmsPorts } from "../oms-parts.ts";

export interface SignalReference {
  fund(fundId: string): FundReference | undefined;
  instrument(symbol: string): Instrument | undefined;
  calendar(symbol: string): TradingCalendar | undefined;
}

export function readSignalReference({
  referenceData,
}: Pick<OmsPorts, "referenceData">): () => Promise<SignalReference> {
  let change = -1;
  let known: SignalReference | undefined;
  return async () => {
    if (known !== undefined && (await referenceData.changed()) === change) return known;
    const reference = await referenceData.read();
    const funds = new Map(reference.funds.map((fund) => [fund.fund_id, fund]));
    const instruments = new Map(reference.instruments.map((one) => [one.symbol, one]));
    const calendars = new Map(reference.calendars.map((one) => [one.name, tradingCalendar(calendarDefinition(one))]));
    change = reference.change;
    known = {
      fund: (fundId) => funds.get(fundId),
      instrument: (symbol) => instruments.get(symbol),
      calendar: (symbol) => calendars.get(instruments.get(symbol)?.calendar ?? ""),
    };
    return known;
  };
}
