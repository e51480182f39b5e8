// Synthetic stops, those that owe an exit first; and differences with the broker.
import { price } from "../../words/money.ts";
import { age } from "../../words/times.ts";
import { endStopAsk, reconcileAsk } from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { grouped, StateWord, signed } from "../panels/figures.tsx";
import { type Explained, Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Stop = Lists["stops"][number];
type Difference = Lists["differences"][number];

const isOwed = ({ state }: Stop): boolean => state === "OWED" || state === "EXITING" || state === "REACHED";

function gradeOfStop(stop: Stop) {
  if (isOwed(stop)) return "critical" as const;
  return stop.state === "UNPRICED" ? ("warning" as const) : undefined;
}

const seenAt = ({ fired_at, observed_at }: Stop): string | undefined => fired_at ?? observed_at;

const explainedStops: readonly Explained[] = [
  { figure: "Quantity", formula: "What the stop would close: the strategy's position in the symbol." },
  { figure: "Price", formula: "The newest price that the engine judged the stop by." },
  { figure: "Trigger", formula: "The average price less (for a short: plus) synthetic_stop_pct of it." },
  { figure: "Fired or seen", formula: "When it fired; of one that did not, when its price was true." },
  {
    figure: "State",
    formula:
      "RESTING waits; OWED and EXITING owe an exit until the broker has confirmed it; UNPRICED has no fresh price.",
  },
];

export function Stops() {
  const { fund } = useDeskSearch();
  const stops = useList("stops", { fund });
  const open = useDanger();
  const now = useNow();
  const rows = [...(stops.data ?? [])].sort((one, other) => Number(isOwed(other)) - Number(isOwed(one)));
  const unpriced = rows.filter(({ state }) => state === "UNPRICED").length;
  const columns: readonly Column<Stop>[] = [
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
    { id: "symbol", head: "Symbol", by: (one) => one.symbol },
    { id: "quantity", head: "Quantity", number: true, by: (one) => one.quantity, cell: (one) => signed(one.quantity) },
    {
      id: "trigger",
      head: "Trigger",
      number: true,
      by: (one) => one.trigger_price,
      cell: (one) => grouped(price(one.trigger_price)),
    },
    {
      id: "price",
      head: "Price",
      number: true,
      by: (one) => one.observed_price,
      cell: (one) => grouped(price(one.observed_price)) || "?",
    },
    {
      id: "state",
      head: "State",
      by: (one) => one.state,
      cell: (one) => <StateWord word={one.state} grade={gradeOfStop(one)} />,
    },
    {
      id: "at",
      head: "Fired or seen",
      unit: "UTC",
      by: seenAt,
      cell: (one) => <ToReplay text={seenAt(one)} fund={one.fund_id} symbol={one.symbol} />,
    },
    { id: "owed", head: "Owed for", by: (one) => one.fired_at, cell: (one) => age(one.fired_at, now) },
    { id: "complaint", head: "Complaint", by: (one) => one.complaint ?? "" },
    {
      id: "act",
      head: "Action",
      by: () => undefined,
      cell: (one) =>
        isOwed(one) && one.stop_id !== undefined ? (
          <button type="button" onClick={() => open(endStopAsk(one))}>
            End…
          </button>
        ) : (
          ""
        ),
    },
  ];
  return (
    <Panel
      name="stops"
      title="Stops"
      wide
      reads={[stops]}
      isEmpty={rows.length === 0}
      partial={unpriced === 0 ? undefined : `${unpriced} stops have no fresh price.`}
      empty={<p>No position is held that a stop watches. A fill makes one.</p>}
      explained={explainedStops}
    >
      <DataTable
        panel="stops"
        caption="Synthetic stops"
        columns={columns}
        rows={rows}
        id={(one) => `${one.fund_id}/${one.strategy_id}/${one.symbol}/${one.stop_id ?? ""}`}
        rowClass={gradeOfStop}
      />
    </Panel>
  );
}

export function Differences() {
  const { fund } = useDeskSearch();
  const differences = useList("differences", { fund });
  const open = useDanger();
  const now = useNow();
  const rows = differences.data ?? [];
  const columns: readonly Column<Difference>[] = [
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    { id: "symbol", head: "Symbol", by: (one) => one.symbol },
    { id: "ours", head: "Ours", number: true, by: (one) => one.our_quantity, cell: (one) => signed(one.our_quantity) },
    {
      id: "brokers",
      head: "Broker's",
      number: true,
      by: (one) => one.broker_quantity,
      cell: (one) => signed(one.broker_quantity),
    },
    {
      id: "status",
      head: "Status",
      by: (one) => one.status,
      cell: (one) => <StateWord word={one.status} grade="critical" />,
    },
    { id: "class", head: "Class", by: (one) => one.class },
    { id: "since", head: "Since", by: (one) => one.first_seen_at, cell: (one) => `${age(one.first_seen_at, now)} ago` },
    { id: "evidence", head: "Evidence", by: (one) => one.evidence },
  ];
  return (
    <Panel
      name="differences"
      title="Differences with the broker"
      wide
      reads={[differences]}
      isEmpty={rows.length === 0}
      empty={<p>No difference is open: our positions are those of the broker when they were last compared.</p>}
      tools={
        <button type="button" onClick={() => open(reconcileAsk(fund))}>
          Reconcile…
        </button>
      }
      explained={[
        {
          figure: "Ours, Broker's",
          formula:
            "The quantity of a symbol in our positions and in the broker's answer, compared twice before it is believed.",
        },
      ]}
    >
      <DataTable
        panel="differences"
        caption="Differences with the broker"
        columns={columns}
        rows={rows}
        id={(one) => one.difference_id}
      />
    </Panel>
  );
}
