// What each strategy holds of each symbol, as a grid with its sums and how much of its limit each symbol uses.
import { amount } from "../../words/figures.ts";
import { money } from "../../words/money.ts";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { At } from "../panels/at.tsx";
import { gradeOfBand, Percent, Profit, StateWord, signed } from "../panels/figures.tsx";
import { type Explained, Panel } from "../panels/panel.tsx";
import { ScrollingTable } from "../panels/scrolling-table.tsx";
import { Theirs } from "../panels/theirs.tsx";
import {
  exactOf,
  type Figured,
  gridOf,
  largestOf,
  type Matrix,
  type MatrixCell,
  type Mode,
  modeNames,
  modeOf,
  modes,
  shadeOf,
  symbolsShown,
} from "./grid.ts";

type Use = Lists["use"][number];

const explained: readonly Explained[] = [
  {
    figure: "Value",
    formula: "Quantity times the newest price times multiplier, in the fund's currency; below zero is short.",
  },
  { figure: "Share of NAV", formula: "That value by the fund's newest value." },
  { figure: "Unrealised profit", formula: "That value less what the position cost." },
  {
    figure: "Newest signal",
    formula: "What the strategy said of the symbol last; larger wants more of it. Signals have no sum.",
  },
  {
    figure: "Sum",
    formula: "Of a symbol over all strategies, of a strategy over all symbols: longs less shorts, exactly.",
  },
  {
    figure: "Limit used",
    formula: "How much of max_position_pct the symbol uses, as the engine counts it: with every open order.",
  },
  { figure: "Concentration", formula: "The sum of (|value| / gross)² over the symbols: 1 is one symbol alone." },
];

export function MatrixPanel() {
  const search = useDeskSearch();
  const change = useChangeSearch();
  const { fund, from } = search;
  const mode = modeOf(search.mode);
  const matrices = useList("matrix", { fund, from });
  const use = useList("use", { fund });
  const funds = matrices.data ?? [];
  const held = funds.filter(({ cells }) => cells.length > 0);
  const without = funds.flatMap(({ fund_id, total }) =>
    total.without.length === 0 ? [] : [`${fund_id} without ${total.without.join(", ")}`],
  );
  const unvalued = funds.filter(({ nav }) => nav === undefined).map(({ fund_id }) => fund_id);
  const missing = [
    ...(without.length === 0
      ? []
      : [`no price or rate is known of some positions; sums are of ${without.join("; ")}.`]),
    ...(unvalued.length === 0 ? [] : [`no value is known of ${unvalued.join(", ")}, so there are no shares.`]),
  ];
  return (
    <Panel
      name="matrix"
      title={`Holdings, ${modeNames[mode]}`}
      wide
      reads={[matrices, use]}
      isEmpty={held.length === 0}
      partial={missing.length === 0 ? undefined : missing.join(" ")}
      empty={<p>Nothing is held{fund === undefined ? "" : ` by ${fund}`}. A fill makes a position.</p>}
      tools={
        <label>
          <span className="unseen">What the grid shows</span>
          <select
            data-testid="matrix-mode"
            value={mode}
            onChange={(event) => change({ mode: event.target.value === "share" ? undefined : event.target.value })}
          >
            {modes.map((one) => (
              <option key={one} value={one}>
                {modeNames[one]}
              </option>
            ))}
          </select>
        </label>
      }
      explained={explained}
    >
      {held.map((matrix) => (
        <FundGrid key={matrix.fund_id} matrix={matrix} mode={mode} use={use.data ?? []} />
      ))}
    </Panel>
  );
}

interface FundGridProps {
  readonly matrix: Matrix;
  readonly mode: Mode;
  readonly use: readonly Use[];
}

function FundGrid({ matrix, mode, use }: FundGridProps) {
  const { q } = useDeskSearch();
  const grid = gridOf(matrix);
  const symbols = symbolsShown(grid.symbols, q);
  const largest = largestOf(matrix.cells, mode);
  const useOf = new Map(
    use.flatMap((one) =>
      one.fund_id === matrix.fund_id && one.limit === "max_position_pct" ? [[one.scope, one] as const] : [],
    ),
  );
  const sums = new Map(matrix.by_symbol.map((one) => [one.symbol, one]));
  const label = `What ${matrix.fund_id} holds: ${modeNames[mode]}`;
  return (
    <section className="mode-group" data-testid={`matrix-${matrix.fund_id}`} aria-label={label}>
      <FundLine matrix={matrix} />
      {symbols.length < grid.symbols.length && (
        <p className="note">
          {symbols.length} of {grid.symbols.length} symbols match; sums are of all.
        </p>
      )}
      <ScrollingTable label={label}>
        <thead>
          <tr>
            <th scope="col">Symbol</th>
            {grid.strategies.map((one) => (
              <th key={one} scope="col" className="number">
                <Theirs text={one} />
              </th>
            ))}
            <th scope="col" className="number">
              Sum
            </th>
            <th scope="col" className="number">
              Limit used <span className="unit">%</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {symbols.map((symbol) => (
            <tr key={symbol}>
              <th scope="row">
                <Theirs text={symbol} />
              </th>
              {grid.strategies.map((strategy) => (
                <GridCell key={strategy} cell={grid.cell(strategy, symbol)} mode={mode} largest={largest} />
              ))}
              <Sum name={symbol} figured={sums.get(symbol) ?? {}} mode={mode} />
              <UseCell symbol={symbol} use={useOf.get(symbol)} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Sum</th>
            {matrix.by_strategy.map((one) => (
              <Sum key={one.strategy_id} name={one.strategy_id} figured={one} mode={mode} />
            ))}
            <Sum name="all" figured={matrix.total} mode={mode} />
            <td />
          </tr>
        </tfoot>
      </ScrollingTable>
    </section>
  );
}

function FundLine({ matrix: { fund_id, mode, currency, nav, as_of, total } }: { readonly matrix: Matrix }) {
  return (
    <p className="fund-line">
      <span className={mode === "LIVE" ? "mode live" : "mode"}>{mode}</span> <strong>{fund_id}</strong>{" "}
      {nav === undefined ? (
        "no value is known"
      ) : (
        <>
          worth{" "}
          <span className="figure" data-value={nav}>
            {amount(nav)}
          </span>{" "}
          {currency} at <At text={as_of} shown={utcText(as_of)} />
        </>
      )}
      , gross{" "}
      <span className="figure" data-value={total.gross}>
        {total.gross === undefined ? "?" : amount(total.gross)}
      </span>
      , concentration{" "}
      <span className="figure" data-testid={`concentration-${fund_id}`} data-value={total.concentration}>
        {total.concentration?.toFixed(3) ?? "?"}
      </span>
    </p>
  );
}

function GridCell({
  cell,
  mode,
  largest,
}: {
  readonly cell: MatrixCell | undefined;
  readonly mode: Mode;
  readonly largest: number;
}) {
  const { strategy, symbol } = useDeskSearch();
  const change = useChangeSearch();
  if (cell === undefined) return <td className="number quiet">–</td>;
  const isOpen = strategy === cell.strategy_id && symbol === cell.symbol;
  const classes = ["number", shadeOf(cell, mode, largest), isOpen && "open"].filter(Boolean).join(" ");
  return (
    <td className={classes} data-testid={`cell-${cell.strategy_id}-${cell.symbol}`} data-value={exactOf(cell, mode)}>
      <button
        type="button"
        aria-expanded={isOpen}
        title={`${cell.strategy_id}, ${cell.symbol}`}
        onClick={() =>
          change(
            isOpen ? { strategy: undefined, symbol: undefined } : { strategy: cell.strategy_id, symbol: cell.symbol },
          )
        }
      >
        <Figure figured={cell} mode={mode} />
      </button>
    </td>
  );
}

function Sum({ name, figured, mode }: { readonly name: string; readonly figured: Figured; readonly mode: Mode }) {
  return (
    <td className="number sum" data-testid={`sum-${name}`} data-value={exactOf(figured, mode)}>
      {mode === "signal" ? <span className="quiet">none</span> : <Figure figured={figured} mode={mode} />}
    </td>
  );
}

/** Never by its shade alone: the sign and the figure say the same. */
function Figure({ figured, mode }: { readonly figured: Figured; readonly mode: Mode }) {
  const exact = exactOf(figured, mode);
  if (exact === undefined) return <span className="quiet">?</span>;
  if (mode === "share") return <Percent fraction={figured.share} digits={2} isSigned />;
  if (mode === "profit") return <Profit text={exact} />;
  if (mode === "value") return <>{signed(money(exact))}</>;
  return <>{signed(Number(exact).toFixed(4))}</>;
}

function UseCell({ symbol, use }: { readonly symbol: string; readonly use: Use | undefined }) {
  const share = use?.share;
  return (
    <td className="number" data-testid={`use-${symbol}`} data-value={share === undefined ? undefined : String(share)}>
      {use === undefined ? (
        <span className="quiet">no limit</span>
      ) : share === undefined ? (
        <StateWord word={`not counted: ${use.reason ?? "no reason given"}`} grade="warning" />
      ) : (
        <StateWord word={(share * 100).toFixed(1)} grade={gradeOfBand(use.band)} />
      )}
    </td>
  );
}
