// How alike the held symbols moved: a triangle with the correlation of every two and over how many returns it is; as a table, pair by pair.
import { correlationDays } from "../data/signal-lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { signed } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { ScrollingTable } from "../panels/scrolling-table.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { type Matrix, type Pair, pairsBySymbols, symbolsShown, whyNone } from "./grid.ts";

const digits = 2;

function CorrelationText({ pair }: { readonly pair: Pair }) {
  if (pair.r !== null) return <>{signed(pair.r.toFixed(digits))}</>;
  return <span className="quiet">{whyNone(pair)}</span>;
}

/** 1 to 4, of what is more than nothing. */
function shadeOf({ r }: Pair): string | undefined {
  if (r === null) return undefined;
  const step = Math.min(4, Math.ceil(Math.abs(r) * 4));
  return step === 0 ? undefined : `${r > 0 ? "long" : "short"}-${step}`;
}

const columns: readonly Column<Pair>[] = [
  { id: "a", head: "Symbol", by: (one) => one.a },
  { id: "b", head: "and", by: (one) => one.b },
  {
    id: "r",
    head: "Correlation",
    number: true,
    by: (one) => one.r ?? undefined,
    cell: (one) => <CorrelationText pair={one} />,
    exact: exactR,
  },
  { id: "n", head: "Returns", number: true, by: (one) => one.n, exact: (one) => String(one.n) },
];

function exactR({ r }: Pair): string | undefined {
  return r === null ? undefined : String(r);
}

export function Correlations() {
  const { fund, from, tables } = useDeskSearch();
  const change = useChangeSearch();
  const matrices = useList("matrix", { fund, from });
  const funds = (matrices.data ?? []).filter(({ correlations }) => correlations.pairs.length > 0);
  const leftOut = (matrices.data ?? []).flatMap(({ fund_id, correlations: { left_out: out } }) =>
    out.length === 0 ? [] : [`${out.join(", ")} (${fund_id})`],
  );
  const isTable = tables !== undefined;
  return (
    <Panel
      name="correlations"
      title={`How alike symbols moved, ${correlationDays({ from })} days`}
      wide
      reads={[matrices]}
      isEmpty={funds.length === 0}
      empty={
        <p>
          No fund{fund === undefined ? "" : ` ${fund}`} holds two symbols that can be compared.
          {leftOut.length > 0 && <> Left out: {leftOut.join("; ")}.</>}
        </p>
      }
      tools={
        <button type="button" aria-pressed={isTable} onClick={() => change({ tables: isTable ? undefined : "all" })}>
          As a table
        </button>
      }
      explained={[
        {
          figure: "Correlation",
          formula:
            "Pearson's, of the simple returns from one daily close to the next, over the days that both symbols have: 1 moved as one, -1 against each other.",
        },
        { figure: "n, Returns", formula: "How many returns of both it is over; under 20 there is none." },
        {
          figure: "Days",
          formula: "The range of time above, from 21 days on; else 60. Only days that are over are counted.",
        },
        {
          figure: "Left out",
          formula:
            "Options, everything of a LIVE fund (the bars are the simulated market's), and what is beyond the 100 largest.",
        },
      ]}
    >
      {funds.map((matrix) =>
        isTable ? (
          <PairTable key={matrix.fund_id} matrix={matrix} />
        ) : (
          <Triangle key={matrix.fund_id} matrix={matrix} />
        ),
      )}
      {leftOut.length > 0 && (
        <p className="note">
          Left out: <Theirs text={leftOut.join("; ")} />
        </p>
      )}
    </Panel>
  );
}

function PairTable({ matrix: { fund_id, correlations } }: { readonly matrix: Matrix }) {
  return (
    <section className="mode-group">
      <h3>{fund_id}</h3>
      <DataTable
        panel="correlations"
        caption={`How alike the symbols of ${fund_id} moved`}
        columns={columns}
        rows={correlations.pairs}
        id={({ a, b }) => `${a} ${b}`}
        rowName={({ a, b }) => `corr-${a}-${b}`}
      />
    </section>
  );
}

function Triangle({ matrix: { fund_id, correlations } }: { readonly matrix: Matrix }) {
  const { q } = useDeskSearch();
  const symbols = symbolsShown(correlations.symbols, q);
  const pairOf = pairsBySymbols(correlations.pairs);
  const label = `How alike the symbols of ${fund_id} moved`;
  return (
    <section className="mode-group">
      <h3>{fund_id}</h3>
      <ScrollingTable label={label}>
        <thead>
          <tr>
            <th scope="col">Symbol</th>
            {symbols.slice(0, -1).map((one) => (
              <th key={one} scope="col" className="number">
                <Theirs text={one} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {symbols.slice(1).map((row, place) => (
            <tr key={row}>
              <th scope="row">
                <Theirs text={row} />
              </th>
              {symbols
                .slice(0, -1)
                .map((column, at) =>
                  at > place ? <td key={column} /> : <PairCell key={column} pair={pairOf(column, row)} />,
                )}
            </tr>
          ))}
        </tbody>
      </ScrollingTable>
    </section>
  );
}

function PairCell({ pair }: { readonly pair: Pair | undefined }) {
  if (pair === undefined) return <td className="number quiet">?</td>;
  return (
    <td
      className={["number", shadeOf(pair)].filter(Boolean).join(" ")}
      data-testid={`corr-${pair.a}-${pair.b}`}
      data-value={exactR(pair)}
      data-n={pair.n}
    >
      <CorrelationText pair={pair} /> <span className="quiet n">n {pair.n}</span>
    </td>
  );
}
