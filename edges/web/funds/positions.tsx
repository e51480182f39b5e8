// What is held and what is ordered.

import type { Instant } from "../../../contracts/src/instant.ts";
import { price } from "../../words/money.ts";
import { isOpen } from "../../words/order-words.ts";
import { age } from "../../words/times.ts";
import { cancelAllAsk } from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch, useRange } from "../frame/use-search.ts";
import { isWithin, rangeText } from "../model/range.ts";
import { ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, grouped, Profit, StateWord, signed } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Position = Lists["positions"][number];
type Order = Lists["orders"][number];

function columnsAt(now: Instant): readonly Column<Position>[] {
  return [
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
    { id: "symbol", head: "Symbol", by: (one) => one.symbol },
    { id: "quantity", head: "Quantity", number: true, by: (one) => one.quantity, cell: (one) => signed(one.quantity) },
    {
      id: "average",
      head: "Average",
      number: true,
      by: (one) => one.average_price,
      cell: (one) => grouped(price(one.average_price)),
    },
    {
      id: "mark",
      head: "Price",
      number: true,
      by: (one) => one.mark_price,
      cell: (one) => grouped(price(one.mark_price)) || "?",
    },
    {
      id: "value",
      head: "Value",
      number: true,
      by: (one) => one.market_value,
      cell: (one) => <Amount text={one.market_value} />,
    },
    {
      id: "pnl",
      head: "Unrealised",
      number: true,
      by: (one) => one.unrealised_pnl,
      cell: (one) => <Profit text={one.unrealised_pnl} />,
    },
    { id: "currency", head: "Currency", by: (one) => one.currency },
    {
      id: "age",
      head: "Priced",
      by: () => undefined,
      cell: (one) => (one.mark_at === undefined ? "never" : `${age(one.mark_at, now)} ago`),
    },
  ];
}

export function Positions() {
  const { fund } = useDeskSearch();
  const positions = useList("positions", { fund });
  const now = useNow();
  const rows = positions.data ?? [];
  const unpriced = rows.filter(({ mark_price }) => mark_price === undefined).length;
  const columns = columnsAt(now);
  return (
    <Panel
      name="positions"
      title="Positions"
      wide
      reads={[positions]}
      isEmpty={rows.length === 0}
      partial={unpriced === 0 ? undefined : `${unpriced} positions have no price.`}
      empty={<p>Nothing is held{fund === undefined ? "" : ` by ${fund}`}. A fill makes a position.</p>}
      explained={[
        { figure: "Quantity", formula: "The sum of the strategy's fills in the symbol; below zero is short." },
        { figure: "Average", formula: "What the position cost per unit, weighted by quantity." },
        { figure: "Price", formula: "The newest mark, and in Priced how old it is." },
        { figure: "Value", formula: "Quantity times price times the instrument's multiplier." },
        { figure: "Unrealised", formula: "Value less quantity times the average price." },
      ]}
    >
      <DataTable
        panel="positions"
        caption="Positions"
        columns={columns}
        rows={rows}
        id={(one) => `${one.fund_id}/${one.strategy_id}/${one.symbol}`}
      />
    </Panel>
  );
}

function gradeOf({ state }: Order) {
  if (state === "REJECTED") return "critical" as const;
  return state === "UNKNOWN" || state === "CANCEL_PENDING" ? ("warning" as const) : undefined;
}

const columns: readonly Column<Order>[] = [
  {
    id: "at",
    head: "At",
    unit: "UTC",
    by: (one) => one.created_at,
    cell: ({ created_at, order }) => <ToReplay text={created_at} fund={order.fund_id} symbol={order.symbol} />,
  },
  { id: "fund", head: "Fund", by: ({ order }) => order.fund_id },
  { id: "strategy", head: "Strategy", by: ({ order }) => order.strategy_id },
  { id: "side", head: "Side", by: ({ order }) => order.side },
  {
    id: "quantity",
    head: "Quantity",
    number: true,
    by: ({ order }) => order.quantity,
    cell: ({ order }) => grouped(order.quantity),
  },
  { id: "symbol", head: "Symbol", by: ({ order }) => order.symbol },
  { id: "type", head: "Type", by: ({ order }) => order.order_type },
  {
    id: "filled",
    head: "Filled",
    number: true,
    by: (one) => one.filled_quantity,
    cell: (one) => grouped(one.filled_quantity),
  },
  {
    id: "price",
    head: "Average",
    number: true,
    by: (one) => one.average_price,
    cell: (one) => grouped(price(one.average_price)),
  },
  {
    id: "state",
    head: "State",
    by: (one) => one.state,
    cell: (one) => <StateWord word={one.state} grade={gradeOf(one)} />,
  },
  { id: "reason", head: "Reason", by: (one) => one.reason ?? "" },
];

export function Orders() {
  const { fund, from, to } = useDeskSearch();
  const range = useRange();
  const orders = useList("orders", { fund, from, to });
  const open = useDanger();
  const rows = (orders.data ?? []).filter(({ created_at }) => isWithin(created_at, range));
  const working = rows.filter(isOpen).length;
  return (
    <Panel
      name="orders"
      title={`Orders, ${rangeText({ from, to }, "newest")}, ${working} open`}
      wide
      reads={[orders]}
      isEmpty={rows.length === 0}
      empty={
        <p>
          There is no order{fund === undefined ? "" : ` of ${fund}`} ({rangeText({ from, to }, "ever")}). A strategy's
          signal or `ctl oms orders submit` makes one.
        </p>
      }
      tools={
        <button type="button" onClick={() => open(cancelAllAsk(fund ?? ""))}>
          Cancel all…
        </button>
      }
      explained={[
        {
          figure: "Quantity, Filled, Average",
          formula: "What was ordered; the sum of the broker's reports on it; and their price, weighted by quantity.",
        },
      ]}
    >
      <DataTable
        panel="orders"
        caption="The newest orders"
        columns={columns}
        rows={rows}
        id={({ order }) => order.order_id}
        rowClass={gradeOf}
      />
    </Panel>
  );
}
