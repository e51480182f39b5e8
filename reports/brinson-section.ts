// Brinson and Fachler's split against the universe in equal weights: weights are those at the open of each day, cash is a sector, and what was traded, paid
// and received during the day stands beside the three effects, so that together they are the active return.
import * as decimal from "../contracts/src/decimal.ts";
import { mean, sum } from "../core/stats/moments.ts";
import type { BookDay } from "./books/books.ts";
import type { Cell, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { marketAxis, returnsOn } from "./market-days.ts";
import { sectorEffects } from "./metrics/brinson.ts";
import { compareText } from "./metrics/dates.ts";
import { activeLinkingFactors, compounded } from "./metrics/linking.ts";
import { type AttributedDay, fundLine } from "./position-days.ts";
import { columnsOf, type Section, sectionOf, tableOf, textOf } from "./report-parts.ts";

const cash = "cash";

interface BrinsonResult {
  readonly section: Section;
  /** Null where nothing could be linked. */
  readonly active: number | null;
  readonly effects: number | null;
  readonly exclusions: ReportDocument["exclusions"];
}

interface SectorDay {
  readonly effects: ReturnType<typeof sectorEffects>;
  /** The fund's whole return less that of what it held at the open. */
  readonly trading: number;
  readonly own: number;
}

export function brinsonSection(
  facts: ReportFacts,
  books: readonly BookDay[],
  days: readonly AttributedDay[],
  sectorOf: (symbol: string) => string,
): BrinsonResult {
  const members = universeReturns(facts);
  const held = books.flatMap((day) => day.openLines.map(({ symbol }) => sectorOf(symbol)));
  const sectors = [...new Set([...members.map(({ sector }) => sector), ...held, cash])].sort(compareText);
  const found = books.flatMap((book, index) => {
    const day = days[index];
    const rows = members.flatMap(({ sector, returns }) =>
      returns.has(book.day) ? [{ sector, return: returns.get(book.day) ?? 0 }] : [],
    );
    const isWhole = day !== undefined && day.return !== null && members.length > 0 && rows.length === members.length;
    return isWhole ? [sectorDay(book, day, rows, sectors, sectorOf)] : [];
  });
  const left = books.length - found.length;
  const exclusions =
    left === 0
      ? []
      : [
          {
            what: "Days without Brinson's split",
            why: "Some symbol of the universe has no close on them or on the day before.",
            count: left,
          },
        ];
  const linking = activeLinkingFactors(
    found.map(({ own }) => own),
    found.map(({ effects }) => effects.benchmark),
  );
  if (found.length === 0 || linking === null) {
    const text = textOf("brinson_none", "There is no day on which the fund and the whole universe have a return.");
    return { section: sectionOf("brinson", title, text), active: null, effects: null, exclusions };
  }
  return linkedResult(found, linking, sectors, exclusions);
}

const title = "Against the universe in equal weights";

function linkedResult(
  found: readonly SectorDay[],
  linking: readonly number[],
  sectors: readonly string[],
  exclusions: ReportDocument["exclusions"],
): BrinsonResult {
  const linked = (value: (day: SectorDay) => number): number =>
    sum(found.map((day, index) => value(day) * (linking[index] ?? 0)));
  const rows = sectors.map((sector, at): Cell[] => {
    const [allocation, selection, interaction] = [
      linked(({ effects }) => effects.allocation[at] ?? 0),
      linked(({ effects }) => effects.selection[at] ?? 0),
      linked(({ effects }) => effects.interaction[at] ?? 0),
    ];
    return [sector, allocation, selection, interaction, allocation + selection + interaction];
  });
  const trading = linked((day) => day.trading);
  const column = (at: number) => sum(rows.map((row) => Number(row[at])));
  const effects = column(4) + trading;
  const [own, benchmark] = [
    compounded(found.map((day) => day.own)),
    compounded(found.map((day) => day.effects.benchmark)),
  ];
  const columns = columnsOf(
    "sector:Sector",
    "allocation:Allocation:fraction",
    "selection:Selection:fraction",
    "interaction:Interaction:fraction",
    "total:Total:fraction",
  );
  const table = tableOf("brinson_table", `Effects of ${found.length} days, linked (Carino)`, columns, [
    ...rows,
    ["trading, fees and income", null, null, null, trading],
    ["all", column(1), column(2), column(3), effects],
  ]);
  const note = `The fund returned ${(own * 100).toFixed(3)} %, the universe ${(benchmark * 100).toFixed(3)} %. A sector that the universe lacks counts with the universe's whole return: holding cash shows as interaction.`;
  return {
    section: sectionOf("brinson", title, table, textOf("brinson_note", note)),
    active: own - benchmark,
    effects,
    exclusions,
  };
}

function universeReturns(facts: ReportFacts) {
  const axis = marketAxis(facts);
  return (facts.universe ?? []).map(({ symbol, sector }) => ({
    symbol,
    sector: sector ?? "unknown",
    returns: returnsOn(axis, facts.closes[symbol] ?? []),
  }));
}

function sectorDay(
  book: BookDay,
  day: AttributedDay,
  rows: readonly { readonly sector: string; readonly return: number }[],
  sectors: readonly string[],
  sectorOf: (symbol: string) => string,
): SectorDay {
  const nav = decimal.toNumber(book.opening);
  const opened = sectors.map((sector) =>
    sum(book.openLines.filter(({ symbol }) => sectorOf(symbol) === sector).map(({ value }) => decimal.toNumber(value))),
  );
  const moved = sectors.map((sector) =>
    sum(
      day.positions
        .filter(({ symbol }) => symbol !== fundLine && sectorOf(symbol) === sector)
        .map(({ price }) => decimal.toNumber(price)),
    ),
  );
  const invested = sum(opened) / nav;
  const effects = sectorEffects({
    portfolioWeights: sectors.map((sector, at) => (sector === cash ? 1 - invested : (opened[at] ?? 0) / nav)),
    benchmarkWeights: sectors.map((sector) => rows.filter((row) => row.sector === sector).length / rows.length),
    portfolioReturns: sectors.map((_sector, at) =>
      (opened[at] ?? 0) === 0 ? 0 : (moved[at] ?? 0) / (opened[at] ?? 1),
    ),
    benchmarkReturns: sectors.map(
      (sector) => mean(rows.filter((row) => row.sector === sector).map((row) => row.return)) ?? 0,
    ),
  });
  const own = day.return ?? 0;
  return { effects, own, trading: own - effects.portfolio };
}
