// One cell in detail: what the strategy holds of the symbol, what it has ordered, how much more the limits leave, its stop, and what it said last.
import { Link } from "@tanstack/react-router";
import { amount } from "../../words/figures.ts";
import { price } from "../../words/money.ts";
import { isOpen } from "../../words/order-words.ts";
import { age } from "../../words/times.ts";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { carried } from "../model/search.ts";
import { At, ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { grouped, Percent, Profit, StateWord, signed } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { useNow } from "../web-context.tsx";
import type { Matrix, MatrixCell } from "./grid.ts";

type Order = Lists["orders"][number];

/** The fund of a strategy: ids of funds and strategies are of one namespace, so there is one at most. */
function foundIn(matrices: readonly Matrix[], strategy: string | undefined, symbol: string | undefined) {
  for (const matrix of matrices) {
    const cell = matrix.cells.find((one) => one.strategy_id === strategy && one.symbol === symbol);
    if (cell !== undefined) return { fund: matrix.fund_id, cell };
  }
  return undefined;
}

export function Cell() {
  const { fund, from, strategy, symbol } = useDeskSearch();
  const change = useChangeSearch();
  const matrices = useList("matrix", { fund, from });
  const found = foundIn(matrices.data ?? [], strategy, symbol);
  const isNamed = strategy !== undefined && symbol !== undefined;
  const headroom = useList("headroom", { fund: found?.fund, symbol }, found !== undefined);
  const orders = useList("orders", { fund: found?.fund }, found !== undefined);
  const stops = useList("stops", { fund: found?.fund }, found !== undefined);
  const positions = useList("positions", { fund: found?.fund }, found !== undefined);
  return (
    <Panel
      name="cell"
      title={isNamed ? `${strategy}: ${symbol}` : "One cell"}
      wide={found !== undefined}
      reads={found === undefined ? [matrices] : [matrices, positions, headroom, orders, stops]}
      isEmpty={found === undefined}
      empty={
        isNamed ? (
          <p>
            <Theirs text={strategy} /> holds no <Theirs text={symbol} /> now.
          </p>
        ) : (
          <p>Open a cell of the grid: its position, orders, headroom, stop and newest signal are shown here.</p>
        )
      }
      tools={
        isNamed && (
          <button type="button" onClick={() => change({ strategy: undefined, symbol: undefined })}>
            Close
          </button>
        )
      }
      explained={[
        { figure: "Average", formula: "What the position cost per unit, weighted by quantity." },
        {
          figure: "Headroom",
          formula: "The smallest of what each limit leaves the fund in the symbol, at the engine's price.",
        },
        { figure: "Stop", formula: "The price at which the position is closed by itself." },
        { figure: "Signal", formula: "What the strategy said of the symbol last; larger wants more of it." },
      ]}
    >
      {found !== undefined && (
        <Detail
          fund={found.fund}
          cell={found.cell}
          average={averageIn(positions.data ?? [], found)}
          headroom={headroom.data}
          stop={(stops.data ?? []).find((one) => one.strategy_id === strategy && one.symbol === symbol)}
          orders={(orders.data ?? []).filter(
            (one) => isOpen(one) && one.order.strategy_id === strategy && one.order.symbol === symbol,
          )}
        />
      )}
    </Panel>
  );
}

function averageIn(
  positions: Lists["positions"],
  { fund, cell }: { readonly fund: string; readonly cell: MatrixCell },
) {
  return positions.find(
    (one) => one.fund_id === fund && one.strategy_id === cell.strategy_id && one.symbol === cell.symbol,
  )?.average_price;
}

const orderColumns: readonly Column<Order>[] = [
  {
    id: "at",
    head: "At",
    unit: "UTC",
    by: (one) => one.created_at,
    cell: ({ created_at, order }) => <ToReplay text={created_at} fund={order.fund_id} symbol={order.symbol} />,
  },
  { id: "side", head: "Side", by: ({ order }) => order.side },
  {
    id: "quantity",
    head: "Quantity",
    number: true,
    by: ({ order }) => order.quantity,
    cell: ({ order }) => grouped(order.quantity),
    exact: ({ order }) => order.quantity,
  },
  {
    id: "filled",
    head: "Filled",
    number: true,
    by: (one) => one.filled_quantity,
    cell: (one) => grouped(one.filled_quantity),
    exact: (one) => one.filled_quantity,
  },
  { id: "type", head: "Type", by: ({ order }) => order.order_type },
  { id: "state", head: "State", by: (one) => one.state },
];

interface DetailProps {
  readonly fund: string;
  readonly cell: MatrixCell;
  readonly average: string | undefined;
  readonly headroom: Lists["headroom"] | undefined;
  readonly stop: Lists["stops"][number] | undefined;
  readonly orders: readonly Order[];
}

function Detail({ fund, cell, average, headroom, stop, orders }: DetailProps) {
  return (
    <>
      <div className="facts-columns">
        <dl className="facts-list">
          <PositionFacts cell={cell} average={average} />
          <SignalFact cell={cell} />
        </dl>
        <LimitFacts fund={fund} cell={cell} headroom={headroom} stop={stop} />
      </div>
      <h3>Open orders</h3>
      {orders.length === 0 ? (
        <p className="note">None is open.</p>
      ) : (
        <DataTable
          panel="cell"
          caption="Open orders of the cell"
          columns={orderColumns}
          rows={orders}
          id={({ order }) => order.order_id}
        />
      )}
    </>
  );
}

function LimitFacts({ fund, cell, headroom, stop }: Omit<DetailProps, "average" | "orders">) {
  const search = useDeskSearch();
  return (
    <dl className="facts-list">
      <dt>Headroom</dt>
      <dd>
        {headroom === undefined ? (
          "…"
        ) : (
          <>
            <span className="figure" data-value={headroom.quantity}>
              {grouped(headroom.quantity)}
            </span>{" "}
            to {headroom.side}, worth{" "}
            <span className="figure" data-value={headroom.notional}>
              {headroom.notional === undefined ? "?" : amount(headroom.notional)}
            </span>
            ; <strong>{headroom.binding}</strong> binds
          </>
        )}
      </dd>
      <dt>Stop</dt>
      <dd>
        {stop === undefined ? (
          "none watches it"
        ) : (
          <>
            <StateWord word={stop.state} grade={stop.state === "RESTING" ? undefined : "warning"} /> at{" "}
            <span className="figure" data-value={stop.trigger_price}>
              {grouped(price(stop.trigger_price))}
            </span>
          </>
        )}
      </dd>
      <dt>More</dt>
      <dd>
        <Link to="/risk" search={{ ...carried(search), fund }} hash="heading-headroom">
          limits
        </Link>
        ,{" "}
        <Link to="/funds" search={{ ...carried(search), fund }} hash="heading-positions">
          positions
        </Link>
        ,{" "}
        <Link to="/signals" search={{ ...carried(search), fund, strategy: cell.strategy_id }} hash="heading-ours">
          signals
        </Link>
      </dd>
    </dl>
  );
}

function PositionFacts({ cell, average }: { readonly cell: MatrixCell; readonly average: string | undefined }) {
  const now = useNow();
  return (
    <>
      <dt>Position</dt>
      <dd>
        <span className="figure" data-testid="cell-quantity" data-value={cell.quantity}>
          {signed(cell.quantity)}
        </span>{" "}
        at an average of{" "}
        <span className="figure" data-value={average}>
          {average === undefined ? "?" : grouped(price(average))}
        </span>
      </dd>
      <dt>Price</dt>
      <dd>
        {cell.price === undefined ? (
          <StateWord word="none that is fresh" grade="warning" />
        ) : (
          <>
            <span className="figure" data-value={cell.price}>
              {grouped(price(cell.price))}
            </span>
            , <At text={cell.priced_at} shown={`${age(cell.priced_at, now)} ago`} />
          </>
        )}
      </dd>
      <dt>Value</dt>
      <dd>
        <span className="figure" data-testid="cell-value" data-value={cell.market_value}>
          {cell.market_value === undefined ? "?" : signed(amount(cell.market_value).replaceAll(",", ""))}
        </span>
        , <Percent fraction={cell.share} digits={2} isSigned /> % of NAV
      </dd>
      <dt>Unrealised</dt>
      <dd className="figure" data-value={cell.unrealised_pnl}>
        <Profit text={cell.unrealised_pnl} />
      </dd>
    </>
  );
}

function SignalFact({ cell: { signal, signal_at: at } }: { readonly cell: MatrixCell }) {
  return (
    <>
      <dt>Signal</dt>
      <dd>
        {signal === undefined ? (
          "none lately"
        ) : (
          <>
            <span className="figure" data-value={String(signal)}>
              {signed(signal.toFixed(4))}
            </span>{" "}
            at <At text={at} shown={utcText(at)} />
          </>
        )}
      </dd>
    </>
  );
}
