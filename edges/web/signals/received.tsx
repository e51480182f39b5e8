// Every request that came in at the webhook, those that were refused with their code and its fix, and what became of the others.
import { webhookFix } from "../../words/webhook-fixes.ts";
import { receivedHours } from "../data/signal-lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch, useRange } from "../frame/use-search.ts";
import { isWithin, rangeText } from "../model/range.ts";
import { ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { grouped, StateWord } from "../panels/figures.tsx";
import { type Explained, Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { FixText } from "./fix-text.tsx";
import {
  type Counts,
  codeOf,
  countsOf,
  gradeOfSignal,
  isOfFund,
  matching,
  type ReceivedSignal,
  strategiesOf,
} from "./received-counts.ts";

const milliseconds = (value: number | undefined): string => (value === undefined ? "?" : value.toFixed(1));

const columns: readonly Column<ReceivedSignal>[] = [
  {
    id: "at",
    head: "At",
    unit: "UTC",
    by: (one) => one.received_at,
    cell: (one) => <ToReplay text={one.received_at} fund={one.fund_id} symbol={one.symbol} />,
  },
  { id: "show", head: "Alert", by: () => undefined, cell: (one) => <OpenSignal id={one.signal_id} /> },
  {
    id: "status",
    head: "Status",
    by: (one) => one.status,
    cell: (one) => <StateWord word={one.status} grade={gradeOfSignal(one)} />,
  },
  { id: "http", head: "HTTP", number: true, by: (one) => one.http_status },
  {
    id: "code",
    head: "Code",
    by: codeOf,
    cell: (one) => <StateWord word={codeOf(one) ?? ""} grade={codeOf(one) === undefined ? undefined : "critical"} />,
  },
  { id: "fix", head: "What to do", by: fixOf, cell: (one) => <FixText text={fixOf(one)} /> },
  { id: "fund", head: "Fund", by: (one) => one.fund_id ?? "not proved" },
  { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
  { id: "sent", head: "Sent", by: (one) => one.symbol_sent },
  { id: "symbol", head: "Symbol", by: (one) => one.symbol },
  { id: "side", head: "Side", by: (one) => one.side },
  {
    id: "quantity",
    head: "Quantity",
    number: true,
    by: (one) => one.quantity,
    cell: (one) => <Theirs text={grouped(one.quantity)} />,
    exact: (one) => one.quantity,
  },
  {
    id: "answer",
    head: "Answered in",
    unit: "ms",
    number: true,
    by: (one) => one.answer_ms,
    cell: (one) => milliseconds(one.answer_ms),
    exact: (one) => (one.answer_ms === undefined ? undefined : String(one.answer_ms)),
  },
  {
    id: "order",
    head: "Order",
    by: (one) => one.order_state ?? (one.order_id === undefined ? "" : "not handed in yet"),
  },
  {
    id: "duplicate",
    head: "Duplicate of",
    by: (one) => one.duplicate_of,
    cell: (one) => (one.duplicate_of === undefined ? " " : <OpenOriginal of={one.duplicate_of} />),
  },
];

function fixOf({ code, detail, decision_code: denied }: ReceivedSignal): string {
  return webhookFix(code) ?? detail ?? (denied === undefined ? "" : "a gate denied its order: open it for the figures");
}

function OpenSignal({ id }: { readonly id: string }) {
  const { show } = useDeskSearch();
  const change = useChangeSearch();
  const word = show === id ? "Close" : "Open";
  return (
    <button
      type="button"
      aria-expanded={show === id}
      aria-label={`${word} the alert ${id.slice(0, 8)}`}
      onClick={() => change({ show: show === id ? undefined : id })}
    >
      {word}
    </button>
  );
}

function OpenOriginal({ of }: { readonly of: string }) {
  const change = useChangeSearch();
  return (
    <button type="button" onClick={() => change({ show: of })}>
      {of.slice(0, 8)}
    </button>
  );
}

const explained: readonly Explained[] = [
  {
    figure: "Status, HTTP",
    formula:
      "REFUSED became no order; ACCEPTED is stored and not handed in yet; SUBMITTED is an order; FAILED was accepted and became none. HTTP is what it was answered with.",
  },
  { figure: "Quantity", formula: "As the alert had it, in units of the instrument." },
  { figure: "Code, What to do", formula: "Why it was refused or denied, and its fix as docs/webhook.md has it." },
  {
    figure: "Sent, Symbol",
    formula: "The symbol as the alert had it, and as it was translated into one of ours.",
  },
  { figure: "Answered in", formula: "From the request's arrival until its answer was ready." },
  {
    figure: "Not kept",
    formula:
      "Of requests that proved no secret at most 20 a minute are kept; each that is kept says how many before it were not.",
  },
  {
    figure: "Not proved",
    formula: "A request without a right secret is no fund's, and is shown for every fund.",
  },
];

export function Received() {
  const search = useDeskSearch();
  const { fund, from, to, strategy, status } = search;
  const received = useList("received", { from, to });
  const range = useRange();
  const within = (received.data?.signals ?? []).filter(
    (one) => isWithin(one.received_at, range) && isOfFund(one, fund),
  );
  const rows = matching(within, { strategy, status });
  const span = rangeText({ from, to }, `last ${receivedHours} h`);
  const isFiltered = strategy !== undefined || status !== undefined;
  return (
    <Panel
      name="received"
      title={`Alerts that came in, ${span}`}
      wide
      reads={[received]}
      isEmpty={within.length === 0}
      partial={
        received.data?.isCut === true
          ? `older alerts than the newest ${received.data.signals.length} are not shown; choose a shorter range, or use ctl signals list.`
          : undefined
      }
      empty={
        <p>
          No alert came in ({span}){fund === undefined ? "" : ` for ${fund}`}. The panels below make one for the
          charting platform and say what would become of it.
        </p>
      }
      tools={<Filters signals={within} />}
      explained={explained}
    >
      <CountLine counts={countsOf(within)} />
      {rows.length === 0 && isFiltered ? (
        <p className="note">None of {within.length} alerts is of that status and strategy.</p>
      ) : (
        <DataTable<ReceivedSignal>
          panel="received"
          caption="Alerts that came in"
          columns={columns}
          rows={rows}
          id={(one) => one.signal_id}
          rowName={(one) => `signal-${one.signal_id}`}
          rowClass={(one) => gradeOfSignal(one)}
        />
      )}
    </Panel>
  );
}

function CountLine({ counts: { byStatus, byCode, notKept } }: { readonly counts: Counts }) {
  return (
    <dl className="figures" data-testid="signal-counts">
      {[...byStatus, ...byCode].map(([name, count]) => (
        <div key={name}>
          <dt>
            <Theirs text={name} />
          </dt>
          <dd className="figure" data-testid={`count-${name}`} data-value={String(count)}>
            {count}
          </dd>
        </div>
      ))}
      <div>
        <dt>refused and not kept</dt>
        <dd className="figure" data-testid="count-not-kept" data-value={String(notKept)}>
          {notKept}
        </dd>
      </div>
    </dl>
  );
}

function Filters({ signals }: { readonly signals: readonly ReceivedSignal[] }) {
  const { strategy, status } = useDeskSearch();
  const change = useChangeSearch();
  const strategies = strategiesOf(signals, strategy);
  return (
    <>
      <label>
        <span className="unseen">Status</span>
        <select
          data-testid="signal-status"
          value={status ?? ""}
          onChange={(event) => change({ status: event.target.value || undefined })}
        >
          <option value="">every status</option>
          {["REFUSED", "ACCEPTED", "SUBMITTED", "FAILED"].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        <span className="unseen">Strategy</span>
        <select
          data-testid="signal-strategy"
          value={strategy ?? ""}
          onChange={(event) => change({ strategy: event.target.value || undefined })}
        >
          <option value="">every strategy</option>
          {strategies.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    </>
  );
}
