// What the strategies of ours said, and what each symbol returned since, once the horizon is over.
import type { Instant } from "../../../contracts/src/instant.ts";
import { age, span } from "../../words/times.ts";
import type { Ours as OursRead } from "../data/signal-lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch, useRange } from "../frame/use-search.ts";
import { msOf, utcText } from "../model/moments.ts";
import { isWithin } from "../model/range.ts";
import { At, ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { signed } from "../panels/figures.tsx";
import { type Explained, Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";
import { waitText } from "./horizon.ts";

type Said = OursRead["signals"][number];

const exactText = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));
const digits = 4;
const explained: readonly Explained[] = [
  { figure: "Signal", formula: "What the strategy said of the symbol; larger wants more of it." },
  {
    figure: "Over, Returned",
    formula:
      "The signal's horizon, and the symbol's simple return from its price then to the price at the horizon's end.",
  },
];

function columnsOf(fundOf: (id: string) => string | undefined, now: Instant): readonly Column<Said>[] {
  return [
    {
      id: "at",
      head: "At",
      unit: "UTC",
      by: (one) => one.at,
      cell: (one) => (
        <ToReplay text={one.at} shown={utcText(one.at)} fund={fundOf(one.strategy_id)} symbol={one.symbol} />
      ),
    },
    { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
    { id: "symbol", head: "Symbol", by: (one) => one.symbol },
    {
      id: "value",
      head: "Signal",
      number: true,
      by: (one) => one.value,
      cell: (one) => (one.value === undefined ? "?" : signed(one.value.toFixed(digits))),
      exact: (one) => exactText(one.value),
    },
    { id: "horizon", head: "Over", by: (one) => one.horizon_s, cell: (one) => span(one.horizon_s * 1_000) },
    {
      id: "return",
      head: "Returned",
      unit: "%",
      number: true,
      by: (one) => one.realised_return,
      cell: (one) =>
        one.realised_return === undefined ? (
          <span className="quiet">{waitText(one, msOf(now))}</span>
        ) : (
          signed((one.realised_return * 100).toFixed(3))
        ),
      exact: (one) => exactText(one.realised_return),
    },
    {
      id: "age",
      head: "Age",
      by: () => undefined,
      cell: (one) => <At text={one.at} shown={`${age(one.at, now)} ago`} />,
    },
  ];
}

export function Ours() {
  const { fund, strategy } = useDeskSearch();
  const ours = useList("ours", { fund, strategy });
  const strategies = useList("strategies", { fund });
  const range = useRange();
  const now = useNow();
  const rows = (ours.data?.signals ?? []).filter(({ at }) => isWithin(at, range));
  const fundOf = (id: string): string | undefined =>
    strategies.data?.find(({ strategy_id }) => strategy_id === id)?.fund_id ?? fund;
  const columns = columnsOf(fundOf, now);
  return (
    <Panel
      name="ours"
      title={strategy === undefined ? "Signals of our strategies" : `Signals of ${strategy}`}
      wide
      reads={[ours]}
      isEmpty={rows.length === 0}
      empty={
        <p>
          {ours.data?.strategies.length === 0 ? "There is no such strategy" : "No signal in this range"}
          {fund === undefined ? "" : ` of ${fund}`}. A strategy says one every few minutes while its market has prices.
        </p>
      }
      explained={explained}
    >
      <DataTable
        panel="ours"
        caption="Signals of our strategies"
        columns={columns}
        rows={rows}
        id={(one) => `${one.strategy_id} ${one.symbol} ${one.at}`}
      />
    </Panel>
  );
}
