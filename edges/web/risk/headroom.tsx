// How much more of a symbol a fund may buy or sell now, and which limit binds.
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, grouped } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";

type Limit = Lists["headroom"]["limits"][number];

const columns: readonly Column<Limit>[] = [
  { id: "limit", head: "Limit", by: (one) => one.limit },
  { id: "used", head: "Used", number: true, by: (one) => one.used, cell: (one) => <Amount text={one.used} /> },
  {
    id: "allowed",
    head: "Allowed",
    number: true,
    by: (one) => one.allowed,
    cell: (one) => <Amount text={one.allowed} />,
  },
  {
    id: "quantity",
    head: "Leaves",
    unit: "units",
    number: true,
    by: (one) => one.quantity,
    cell: (one) => <Amount text={one.quantity} />,
  },
];

/** Those that the fund holds stand first, because they are asked about first; AAPL says nothing to a crypto fund. */
function useSymbols(fund: string | undefined) {
  const { fund: chosen } = useDeskSearch();
  const instruments = useList("instruments");
  const positions = useList("positions", { fund: chosen });
  const held = [
    ...new Set((positions.data ?? []).filter((one) => one.fund_id === fund).map((one) => one.symbol)),
  ].sort();
  const others = (instruments.data ?? []).map((one) => one.symbol).filter((one) => !held.includes(one));
  const symbols = [...held, ...others];
  // Before the positions are known the first would be another one a moment later.
  const isKnown = positions.hasData || positions.failure !== undefined;
  return { symbols, first: isKnown ? symbols[0] : undefined, positions };
}

export function Headroom() {
  const search = useDeskSearch();
  const change = useChangeSearch();
  const funds = useList("funds");
  const instruments = useList("instruments");
  const fund = search.fund ?? funds.data?.[0]?.fund_id;
  const { symbols, first, positions } = useSymbols(fund);
  const symbol = search.symbol ?? first;
  const isNamed = fund !== undefined && symbol !== undefined;
  const headroom = useList("headroom", { fund, symbol }, isNamed);
  const answer = headroom.data;
  // Until fund and symbol are known it waits for these.
  const needed = [funds, instruments, positions];
  const nothing = funds.data?.length === 0 || instruments.data?.length === 0;
  return (
    <Panel
      name="headroom"
      title="Headroom"
      reads={nothing ? [funds, instruments] : isNamed ? [headroom] : needed}
      isEmpty={nothing}
      empty={<p>There is no fund or no instrument yet, so nothing can be bought.</p>}
      tools={
        symbols.length > 0 && (
          <label>
            <span className="unseen">Symbol</span>
            <select value={symbol ?? ""} onChange={(event) => change({ symbol: event.target.value })}>
              {symbols.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )
      }
      explained={[
        {
          figure: "Headroom",
          formula: "The smallest of what each limit leaves, at the price that the engine has now.",
        },
        {
          figure: "Used, Allowed",
          formula: "What counts against the limit now, worst case, and what the envelope allows.",
        },
        {
          figure: "Leaves",
          formula: "Allowed less used, divided by the price: what that limit alone would let through.",
        },
      ]}
    >
      {answer !== undefined && (
        <>
          <p>
            {answer.fund_id} may still {answer.side} <strong className="figure">{grouped(answer.quantity)}</strong>{" "}
            {answer.symbol}, which is{" "}
            <span className="figure">
              <Amount text={answer.notional} />
            </span>
            . <strong>{answer.binding}</strong> binds.
          </p>
          <DataTable
            panel="headroom"
            caption="What each limit leaves"
            columns={columns}
            rows={answer.limits}
            id={(one) => one.limit}
          />
        </>
      )}
    </Panel>
  );
}
