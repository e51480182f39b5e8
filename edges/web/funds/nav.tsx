// A fund's value over time: what a unit is worth, so that a deposit is no profit, and how far below its peak it stands; as a chart or as its table.
import { format, fromUnixMs } from "../../../contracts/src/instant.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { msOf, utcText } from "../model/moments.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, Percent } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";
import { LineChart } from "./line-chart.tsx";
import { rangeStartMs, stepFor, type UnitValue, unitValues } from "./unit-value.ts";

const columns: readonly Column<UnitValue>[] = [
  { id: "at", head: "At", unit: "UTC", by: (one) => one.as_of, cell: (one) => utcText(one.as_of) },
  { id: "nav", head: "NAV", number: true, by: (one) => one.nav, cell: (one) => <Amount text={one.nav} /> },
  { id: "unit", head: "Unit", number: true, by: (one) => one.unit, cell: (one) => one.unit.toFixed(4) },
  {
    id: "drawdown",
    head: "Drawdown",
    unit: "%",
    number: true,
    by: (one) => one.drawdown,
    cell: (one) => <Percent fraction={one.drawdown} digits={2} />,
  },
];

const ranges = ["1d", "7d", "30d", "90d", "365d"] as const;
const minuteMs = 60_000;

/** What the address says of the range, as the list is asked for it. */
function useRange(fund: string | undefined) {
  const search = useDeskSearch();
  const now = useNow();
  // To the minute: the same question for a minute.
  const nowMs = Math.floor(msOf(now) / minuteMs) * minuteMs;
  const fromMs = rangeStartMs(search.from ?? "90d", nowMs) ?? nowMs - 90 * 86_400_000;
  const toMs = rangeStartMs(search.to, nowMs);
  return {
    fund,
    from: format(fromUnixMs(fromMs)),
    ...(toMs === undefined ? {} : { to: format(fromUnixMs(toMs)) }),
    of: stepFor(fromMs, toMs ?? nowMs),
  };
}

export function Nav() {
  const search = useDeskSearch();
  const funds = useList("funds");
  const fund = search.fund ?? funds.data?.[0]?.fund_id;
  const asked = useRange(fund);
  const navs = useList("navs", asked, fund !== undefined);
  const units = unitValues(navs.data ?? []);
  const last = units.at(-1);
  return (
    <Panel
      name="nav"
      title={`Value of a unit${fund === undefined ? "" : ` of ${fund}`}`}
      wide
      reads={funds.data?.length === 0 ? [funds] : [navs]}
      isEmpty={units.length === 0}
      empty={<p>The fund was not valued in this range. Choose a longer one.</p>}
      tools={<RangeChoice />}
      explained={[
        {
          figure: "Unit",
          formula:
            "100 at the first value shown; each next one times (NAV less what flowed in since) divided by the NAV before.",
        },
        { figure: "Drawdown", formula: "The unit divided by its highest value so far, less 1." },
      ]}
    >
      {last !== undefined && (
        <p>
          Unit <strong className="figure">{last.unit.toFixed(4)}</strong> (100 at {utcText(units[0]?.as_of)}), drawdown{" "}
          <strong className="figure">
            <Percent fraction={last.drawdown} digits={2} /> %
          </strong>{" "}
          at {utcText(last.as_of)}.
        </p>
      )}
      {search.tables === undefined ? (
        <>
          <div className="charts">
            <LineChart
              label="Value of a unit"
              points={units.map(({ as_of, unit }) => ({ as_of, value: unit }))}
              height={160}
            />
            <LineChart
              label="Drawdown, %"
              points={units.map(({ as_of, drawdown }) => ({ as_of, value: drawdown * 100 }))}
              height={160}
            />
          </div>
          <p className="note">
            <kbd>t</kbd> shows the figures as a table.
          </p>
        </>
      ) : (
        <DataTable
          panel="nav"
          caption="Value of a unit over time"
          columns={columns}
          rows={[...units].reverse()}
          id={(one) => one.as_of}
        />
      )}
    </Panel>
  );
}

function RangeChoice() {
  const search = useDeskSearch();
  const change = useChangeSearch();
  return (
    <label>
      <span className="unseen">Range</span>
      <select value={search.from ?? "90d"} onChange={(event) => change({ from: event.target.value, to: undefined })}>
        {search.from !== undefined && !ranges.some((one) => one === search.from) && <option>{search.from}</option>}
        {ranges.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}
