// How the price of one symbol had moved by the moment of the clock, as it was heard, with what we did; as candles or as their table.
import { useId, useMemo } from "react";
import { format, fromUnixMs } from "../../../contracts/src/instant.ts";
import { price } from "../../words/money.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { At } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { CandleChart } from "./candle-chart.tsx";
import { candlesOf, type Gap, gapsOf, marksOf } from "./candles.ts";
import { intervals } from "./intervals.ts";
import { readOf } from "./panel-read.ts";
import type { PastBars } from "./past-answers.ts";
import { PastPanel } from "./past-panel.tsx";
import type { Shown } from "./replay-clock.ts";
import type { ReplayView } from "./use-replay.ts";

type Bar = PastBars[number];

const heightPx = 280;

const priceColumn = (id: "open" | "high" | "low" | "close", head: string): Column<Bar> => ({
  id,
  head,
  number: true,
  by: (one) => one[id],
  cell: (one) => price(one[id]),
  exact: (one) => one[id],
});

const columns: readonly Column<Bar>[] = [
  {
    id: "start",
    head: "From",
    unit: "UTC",
    by: (one) => one.start,
    cell: (one) => <At text={one.start} shown={utcText(one.start)} />,
  },
  priceColumn("open", "Open"),
  priceColumn("high", "High"),
  priceColumn("low", "Low"),
  priceColumn("close", "Close"),
  { id: "quotes", head: "Quotes", number: true, by: (one) => one.quote_count },
  {
    id: "state",
    head: "State",
    by: stateOf,
    cell: (one) => <StateWord word={stateOf(one)} grade={one.cut ? "warning" : undefined} />,
  },
  { id: "source", head: "Source", by: (one) => one.feed ?? one.source },
];

function stateOf({ closed, cut }: Bar): string {
  return [closed ? "" : "forming", cut ? "not heard whole" : ""].filter(Boolean).join(", ");
}

const nothing: PastBars = [];

export function ChartPanel({ view }: { readonly view: ReplayView }) {
  const { shown } = view.state;
  const { tables } = useDeskSearch();
  const bars = shown?.bars ?? nothing;
  const symbol = shown?.symbol;
  const last = bars.at(-1);
  return (
    <PastPanel
      name="chart"
      title={symbol === undefined ? "Price" : `${symbol}, as it was heard`}
      wide
      read={readOf(view, "chart")}
      isEmpty={bars.length === 0}
      empty={
        <p>
          {symbol === undefined
            ? "Nothing was held or done by then that has a symbol. Name one above, or step on."
            : `No price of ${symbol} is known of that time.`}
        </p>
      }
      tools={<ChartTools shown={shown} />}
      explained={[
        {
          figure: "Open, High, Low, Close",
          formula: "Of the middles of bid and ask, in the order in which they were heard; recorded, and never changed.",
        },
        { figure: "Quotes", formula: "How many the bar is made of; history does not say." },
        { figure: "Forming", formula: "The clock stands within it: it is made of what had been heard by then." },
        {
          figure: "Not heard whole",
          formula: "For a part of its time nobody listened; where there is no bar nobody did.",
        },
        {
          figure: "Source",
          formula: "Who quoted; history where nothing was kept yet, which the market may tell otherwise another day.",
        },
        {
          figure: "Marks",
          formula:
            "Circles are new orders, arrows fills (up bought, down sold), squares stops: at the time when we learned of them.",
        },
      ]}
    >
      {last !== undefined && (
        <p>
          Close{" "}
          <strong className="figure" data-testid="replay-close" data-value={last.close}>
            {price(last.close)}
          </strong>
          , bar from <At text={last.start} shown={utcText(last.start)} />
          {last.closed ? "" : ", still forming"}.
        </p>
      )}
      {tables === undefined ? (
        <Chart shown={shown} />
      ) : (
        <DataTable
          panel="chart"
          caption={`Bars of ${symbol ?? ""}, newest first`}
          columns={columns}
          rows={[...bars].reverse()}
          id={(one) => one.start}
          rowName={(one) => `bar-${one.start}`}
        />
      )}
      {shown !== undefined && <Gaps gaps={gapsOf(bars, shown.interval)} />}
    </PastPanel>
  );
}

function Chart({ shown }: { readonly shown: Shown | undefined }) {
  const candles = useMemo(() => (shown?.bars === undefined ? [] : candlesOf(shown.bars, shown.interval)), [shown]);
  const marks = useMemo(
    () => (shown?.symbol === undefined ? [] : marksOf(shown.events, shown.symbol, shown.interval, candles)),
    [shown, candles],
  );
  if (shown === undefined) return null;
  return (
    <>
      <CandleChart
        key={`${shown.symbol} ${shown.interval}`}
        label={`${shown.symbol ?? ""}, bars of ${shown.interval}, UTC`}
        candles={candles}
        marks={marks}
        isBack={shown.isBack}
        height={heightPx}
      />
      <p className="note">
        <kbd>t</kbd> shows the figures as a table.
      </p>
    </>
  );
}

const gapsShown = 3;
const minuteText = (seconds: number): string => utcText(format(fromUnixMs(seconds * 1_000))).slice(0, 16);

/** A hole in the candles is easily overlooked. */
function Gaps({ gaps }: { readonly gaps: readonly Gap[] }) {
  if (gaps.length === 0) return null;
  const newest = gaps.slice(-gapsShown).map(({ from, to }) => `${minuteText(from)} to ${minuteText(to)}`);
  return (
    <p className="note" data-testid="replay-gaps">
      Nothing was heard {gaps.length > gapsShown ? `${gaps.length} times, last ` : ""}from {newest.join(", ")}.
    </p>
  );
}

function ChartTools({ shown }: { readonly shown: Shown | undefined }) {
  const change = useChangeSearch();
  const { symbol, interval } = useDeskSearch();
  const listId = useId();
  // Of what was known by then: an instrument that came later is not among them.
  const known = new Set([
    ...(shown?.moment.positions ?? []).map((one) => one.symbol),
    ...(shown?.moment.open_orders ?? []).map((one) => one.symbol),
    ...(shown?.events ?? []).flatMap((one) => one.symbol ?? []),
  ]);
  const choose = (typed: string): void => {
    const wanted = typed.trim().toUpperCase();
    if (wanted !== "") change({ symbol: wanted });
  };
  return (
    <>
      <label>
        <span className="unseen">Symbol</span>
        <input
          key={symbol ?? shown?.symbol ?? ""}
          className="short"
          list={listId}
          placeholder="symbol"
          defaultValue={symbol ?? shown?.symbol ?? ""}
          onBlur={(event) => choose(event.target.value)}
          onKeyDown={(event) => (event.key === "Enter" ? choose(event.currentTarget.value) : undefined)}
        />
        <datalist id={listId}>
          {[...known].sort().map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </label>
      <label>
        <span className="unseen">What a bar covers</span>
        <select
          data-testid="replay-interval"
          value={interval ?? shown?.interval ?? "1m"}
          onChange={(event) => change({ interval: event.target.value })}
        >
          {intervals.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    </>
  );
}
