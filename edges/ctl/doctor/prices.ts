// The check of `ctl doctor` that every position has a price: one that nobody quotes can neither be valued nor stopped.
import { isOpen } from "../../../contracts/src/calendar.ts";
import { calendarByName } from "../../../contracts/src/calendars.ts";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import type { Context } from "../verbs/verb.ts";

interface PricesCheck {
  readonly name: "prices";
  readonly state: "ok" | "warn";
  readonly detail: string;
  readonly advice?: string;
}

/** A corporate action leaves its symbols without a price for a moment: what still has none after so long is reported. */
const lookAgainMs = 2_000;
const timeoutMs = 5_000;
const shownMax = 10;

/** Nothing for callers who may not read the stops. */
export async function pricesCheck(context: Context): Promise<readonly PricesCheck[]> {
  const name = "prices";
  try {
    let unpriced = await unpricedSymbols(context);
    if (unpriced.size > 0) {
      await context.timers.sleep(lookAgainMs);
      const before = unpriced;
      unpriced = new Map([...(await unpricedSymbols(context))].filter(([symbol]) => before.has(symbol)));
    }
    if (unpriced.size === 0) return [{ name, state: "ok", detail: "every position has one" }];
    const shown = [...unpriced].slice(0, shownMax).map(([symbol, complaint]) => `${symbol} (${complaint})`);
    const more = unpriced.size > shownMax ? ` and ${unpriced.size - shownMax} more` : "";
    const detail = `held and without a price that a stop could fire on: ${shown.join(", ")}${more}`;
    const advice =
      "`ctl riskengine stops list` shows them; the log of operations names what the market does not quote.";
    return [{ name, state: "warn", detail, advice }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}

/** With what is wrong with each; not those whose quote is merely of before their market closed. */
async function unpricedSymbols(context: Context): Promise<ReadonlyMap<string, string>> {
  const client = await context.client();
  // A fund without limits, or an average of zero, is no matter of prices.
  const isUnquoted = (complaint = ""): boolean => complaint.includes("quote");
  const stops = (await client.listStops({}, { timeoutMs })).filter(
    ({ state, complaint }) => state === "UNPRICED" && isUnquoted(complaint),
  );
  if (stops.length === 0) return new Map();
  const instruments = await client.listInstruments({}, { timeoutMs });
  const calendars = new Map(instruments.map(({ symbol, calendar }) => [symbol, calendarByName(calendar)]));
  const isClosed = (symbol: string): boolean => {
    const calendar = calendars.get(symbol);
    return calendar !== undefined && !isOpen(calendar, context.clock.now());
  };
  const reported = stops.filter(({ symbol, complaint = "" }) => !(complaint.endsWith("s old") && isClosed(symbol)));
  return new Map(reported.map(({ symbol, complaint }) => [symbol, complaint ?? "no quote"]));
}
