// How the fund stood at the moment of the clock: value, positions, open orders, use of its limits, halts and restrictions, all of then. What is not known has its
// reason; no figure of now stands in for it.
import { amount } from "../../words/figures.ts";
import { scopeOf } from "../../words/halt-words.ts";
import { price } from "../../words/money.ts";
import { utcText } from "../model/moments.ts";
import { At } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { grouped, StateWord } from "../panels/figures.tsx";
import { Quoted, Theirs } from "../panels/theirs.tsx";
import { limitUseColumns } from "../risk/limit-use.tsx";
import { readOf } from "./panel-read.ts";
import type { PastMoment } from "./past-answers.ts";
import { PastPanel } from "./past-panel.tsx";
import type { ReplayView } from "./use-replay.ts";

type Position = PastMoment["positions"][number];
type Order = PastMoment["open_orders"][number];

const priceCell = (text: string | undefined) =>
  text === undefined ? <span className="quiet">not known</span> : price(text);

const positionColumns: readonly Column<Position>[] = [
  { id: "strategy", head: "Strategy", by: (one) => one.strategy_id || "nobody says whose" },
  { id: "symbol", head: "Symbol", by: (one) => one.symbol },
  {
    id: "quantity",
    head: "Quantity",
    number: true,
    by: (one) => one.quantity,
    cell: (one) => grouped(one.quantity),
    exact: (one) => one.quantity,
  },
  {
    id: "average",
    head: "Average price",
    number: true,
    by: (one) => one.average_price,
    cell: (one) => priceCell(one.average_price),
    exact: (one) => one.average_price,
  },
  {
    id: "price",
    head: "Price",
    number: true,
    by: (one) => one.price,
    cell: (one) => priceCell(one.price),
    exact: (one) => one.price,
  },
  {
    id: "priced",
    head: "Priced at",
    unit: "UTC",
    by: (one) => one.priced_at ?? one.reason,
    cell: (one) =>
      one.priced_at === undefined ? (
        <Theirs text={one.reason ?? ""} />
      ) : (
        <At text={one.priced_at} shown={utcText(one.priced_at)} />
      ),
  },
];

const orderColumns: readonly Column<Order>[] = [
  { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
  { id: "symbol", head: "Symbol", by: (one) => one.symbol },
  { id: "side", head: "Side", by: (one) => one.side },
  {
    id: "quantity",
    head: "Quantity",
    number: true,
    by: (one) => one.quantity,
    cell: (one) => grouped(one.quantity),
    exact: (one) => one.quantity,
  },
  {
    id: "filled",
    head: "Filled",
    number: true,
    by: (one) => one.filled_quantity,
    cell: (one) => grouped(one.filled_quantity),
    exact: (one) => one.filled_quantity,
  },
  { id: "order", head: "Order", by: (one) => one.order_id },
];

/** All of one fund. */
const useColumns = limitUseColumns.filter(({ id }) => id !== "fund");

export function MomentPanel({ view }: { readonly view: ReplayView }) {
  const { fund, state } = view;
  const moment = state.shown?.moment;
  return (
    <PastPanel
      name="moment"
      title={`How ${fund} stood`}
      wide
      read={readOf(view, "moment")}
      isEmpty={false}
      partial={partialOf(moment)}
      empty={null}
      explained={[
        {
          figure: "Quantity, Filled",
          formula: "Counted from what had been recorded by then, by the engine itself; below zero is short.",
        },
        { figure: "Average price", formula: "What the position cost; absent where fills do not say." },
        {
          figure: "Value, Price",
          formula: "As the fund was valued at then: seconds are kept for an hour, minutes for a week.",
        },
        {
          figure: "Share, Used, Allowed",
          formula:
            "Of each limit, counted under the envelope, value, prices and loss baselines of then, with every order that was open.",
        },
        { figure: "Not known", formula: "What was not kept has a reason; no figure of now stands in for it." },
      ]}
    >
      {moment !== undefined && <Facts moment={moment} />}
    </PastPanel>
  );
}

function partialOf(moment: PastMoment | undefined): string | undefined {
  if (moment === undefined) return undefined;
  const uncounted = moment.limit_use.filter(({ share }) => share === undefined).length;
  const unpriced = moment.positions.filter((one) => one.price === undefined).length;
  const reasons = [
    moment.reason,
    moment.nav.value === undefined ? (moment.nav.reason ?? "no value of then is known.") : undefined,
    unpriced === 0 ? undefined : `${unpriced} of ${moment.positions.length} positions have no price.`,
    uncounted === 0 ? undefined : `${uncounted} of ${moment.limit_use.length} limits cannot be counted.`,
  ];
  const found = reasons.filter((one) => one !== undefined);
  return found.length === 0 ? undefined : found.join(" ");
}

function Facts({ moment }: { readonly moment: PastMoment }) {
  const { positions, open_orders: orders, limit_use: use } = moment;
  return (
    <>
      <Standing moment={moment} />
      <h3>Positions</h3>
      {positions.length === 0 ? (
        <p>{moment.reason === undefined ? "Nothing was held." : <Theirs text={moment.reason} />}</p>
      ) : (
        <DataTable
          panel="moment"
          caption="Positions of then"
          columns={positionColumns}
          rows={positions}
          id={(one) => `${one.strategy_id}/${one.symbol}`}
          rowName={(one) => `moment-${one.strategy_id}-${one.symbol}`}
        />
      )}
      <h3>Open orders</h3>
      {orders.length === 0 ? (
        <p>{moment.reason === undefined ? "No order was open." : <Theirs text={moment.reason} />}</p>
      ) : (
        <DataTable
          panel="moment-orders"
          caption="Open orders of then"
          columns={orderColumns}
          rows={orders}
          id={(one) => one.order_id}
          rowName={(one) => `moment-order-${one.order_id}`}
        />
      )}
      <h3>Limit use</h3>
      {use.length === 0 ? (
        <p>The fund had no limits, so every order that added risk was denied.</p>
      ) : (
        <DataTable
          panel="moment-use"
          caption="How much of each limit was used then"
          columns={useColumns}
          rows={use}
          id={(one) => `${one.limit}/${one.scope}`}
          rowName={(one) => `moment-use-${one.limit}-${one.scope}`}
        />
      )}
    </>
  );
}

function Standing({ moment }: { readonly moment: PastMoment }) {
  const { nav, envelope_version: version } = moment;
  return (
    <dl className="facts-list">
      <dt>Value</dt>
      <dd>
        {nav.value === undefined ? (
          <Theirs text={nav.reason ?? "not known"} />
        ) : (
          <>
            <span className="figure" data-testid="moment-nav" data-value={nav.value}>
              {amount(nav.value)}
            </span>{" "}
            {nav.currency}, of <At text={nav.as_of} shown={utcText(nav.as_of)} />
          </>
        )}
      </dd>
      <dt>Limits</dt>
      <dd data-testid="moment-envelope" data-value={version === undefined ? undefined : String(version)}>
        {version === undefined ? "none yet" : `version ${version} of the envelope`}
      </dd>
      <dt>Halted</dt>
      <dd data-testid="moment-halts">
        <Halts halts={moment.halts} />
      </dd>
      <dt>Restricted</dt>
      <dd data-testid="moment-restrictions">
        <Restrictions restrictions={moment.restrictions} />
      </dd>
    </dl>
  );
}

function Halts({ halts }: Pick<PastMoment, "halts">) {
  if (halts.length === 0) return "nothing was halted";
  return (
    <ul>
      {halts.map((halt) => (
        <li key={halt.halt_id ?? scopeOf(halt)}>
          <StateWord word={scopeOf(halt)} grade="critical" /> since <At text={halt.since} shown={utcText(halt.since)} />
          , by <Quoted text={halt.requested_by} />, reason: <Quoted text={halt.reason} />
        </li>
      ))}
    </ul>
  );
}

function Restrictions({ restrictions }: Pick<PastMoment, "restrictions">) {
  if (restrictions.length === 0) return "nothing was restricted";
  return (
    <ul>
      {restrictions.map((one) => (
        <li key={one.restriction_id}>
          <StateWord word={one.kind} grade="warning" />{" "}
          <Theirs text={one.strategy_id ?? one.symbol ?? one.fund_id ?? "every fund"} /> since{" "}
          <At text={one.since} shown={utcText(one.since)} />, by <Theirs text={one.watchdog} />
        </li>
      ))}
    </ul>
  );
}
