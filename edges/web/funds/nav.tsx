// A fund's value over time: what a unit is worth, so that a deposit is no profit, and how far below its peak it stands; as a chart or as its table.
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { rangeText } from "../model/range.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, Percent } from "../panels/figures.tsx";
import { NoFund, Panel } from "../panels/panel.tsx";
import { LineChart } from "./line-chart.tsx";
import { type UnitValue, unitValues } from "./unit-value.ts";

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

export function Nav() {
  const search = useDeskSearch();
  const funds = useList("funds");
  const fund = search.fund ?? funds.data?.[0]?.fund_id;
  const navs = useList("navs", { fund, from: search.from, to: search.to }, fund !== undefined);
  const units = unitValues(navs.data ?? []);
  const last = units.at(-1);
  return (
    <Panel
      name="nav"
      title={`Value of a unit${fund === undefined ? "" : ` of ${fund}`}, ${rangeText(search, "last 90 d")}`}
      wide
      reads={fund === undefined ? [funds] : [navs]}
      isEmpty={units.length === 0}
      empty={fund === undefined ? <NoFund /> : <p>The fund was not valued in this range. Choose a longer one.</p>}
      explained={[
        {
          figure: "Unit",
          formula:
            "100 at the first value shown; each next one times (NAV less what flowed in since) divided by the NAV before.",
        },
        { figure: "NAV", formula: "Cash plus the value of the positions at the prices of that moment." },
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
