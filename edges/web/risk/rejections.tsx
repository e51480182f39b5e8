// What was denied in the last day, and by which gate; a row opens all seven gates with the figures that each of them read.

import { gateQuestions } from "../../../contracts/src/generated/gates.ts";
import { oldText } from "../../words/times.ts";
import { dayHours, type Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch, useRange } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { isWithin, rangeText } from "../model/range.ts";
import { ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";

type Rejection = Lists["rejections"][number];
type Decision = Lists["decisions"][number];

export function Rejections() {
  const { fund, show, from, to } = useDeskSearch();
  const change = useChangeSearch();
  const range = useRange();
  const rejections = useList("rejections", { fund, from, to });
  const rows = (rejections.data ?? []).filter(({ decided_at }) => isWithin(decided_at, range));
  const span = rangeText({ from, to }, `last ${dayHours} h`);
  const columns: readonly Column<Rejection>[] = [
    {
      id: "at",
      head: "At",
      unit: "UTC",
      by: (one) => one.decided_at,
      cell: (one) => <ToReplay text={one.decided_at} fund={one.fund_id} symbol={one.symbol} />,
    },
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
    { id: "order", head: "Order", by: (one) => `${one.side} ${one.quantity} ${one.symbol}` },
    { id: "gate", head: "Gate", by: (one) => one.gate },
    { id: "code", head: "Code", by: (one) => one.code },
    { id: "reason", head: "Reason", by: (one) => one.reason },
    {
      id: "show",
      head: "Gates",
      by: () => undefined,
      cell: (one) => (
        <button
          type="button"
          aria-expanded={show === one.order_id}
          onClick={() => change({ show: show === one.order_id ? undefined : one.order_id })}
        >
          {show === one.order_id ? "Close" : "Open"}
        </button>
      ),
    },
  ];
  return (
    <Panel
      name="rejections"
      title={`Rejections, ${span}`}
      wide
      reads={[rejections]}
      isEmpty={rows.length === 0}
      empty={
        <p>
          No order was denied ({span}){fund === undefined ? "" : ` for ${fund}`}. Choose a longer range to see older
          ones.
        </p>
      }
      explained={[
        { figure: "Gate", formula: "The first of the seven gates that said no; the later ones were not asked." },
        { figure: "Reason", formula: "The gate's own sentence, with the value, the limit and what to do." },
      ]}
    >
      <DataTable
        panel="rejections"
        caption="Orders that were denied"
        columns={columns}
        rows={rows}
        id={(one) => one.decision_id}
      />
      {show !== undefined && <Gates orderId={show} />}
    </Panel>
  );
}

export function Gates({ orderId }: { readonly orderId: string }) {
  const decisions = useList("decisions", { of: orderId });
  if (decisions.failure !== undefined && decisions.data === undefined) {
    return (
      <p className="note warning">
        The decision cannot be read: <Theirs text={decisions.failure.detail} />
      </p>
    );
  }
  if (decisions.data === undefined) return <p className="note">Loading the decision…</p>;
  return (
    <div className="gates">
      {decisions.data.map((record) => (
        <DecisionRecord key={record.decision.decision_id} record={record} />
      ))}
    </div>
  );
}

/** A decision as it was recorded, with all seven gates. */
export function DecisionRecord({ record: { order, decision } }: { readonly record: Decision }) {
  return (
    <section aria-label={`Decision on ${order.order_id}`}>
      <h3>
        <StateWord
          word={decision.approved ? "APPROVED" : `DENIED by ${decision.rejecting_gate ?? ""}: ${decision.code}`}
          grade={decision.approved ? undefined : "critical"}
        />
      </h3>
      <p>
        {order.side} {order.quantity} <Theirs text={order.symbol} /> {order.order_type}, order{" "}
        <code>
          <Theirs text={order.order_id} />
        </code>
        , decided {utcText(decision.decided_at)} under version {decision.envelope_version ?? "?"}.{" "}
        <Theirs text={decision.reason} />
      </p>
      <GateItems decision={decision} />
    </section>
  );
}

const gateNames = Object.keys(gateQuestions) as (keyof typeof gateQuestions)[];

function GateItems({ decision }: { readonly decision: Pick<Decision["decision"], "checks"> }) {
  return (
    <ol>
      {gateNames.map((name) => (
        <GateItem key={name} name={name} decision={decision} />
      ))}
    </ol>
  );
}

/** What all seven gates say of an order that nobody handed in. */
export function DecisionGates({ decision }: { readonly decision: Decision["decision"] }) {
  return (
    <div className="gates">
      <section aria-label="What the gates would decide">
        <h3>
          <StateWord
            word={
              decision.approved
                ? "The gates would approve the order"
                : `The gates would deny the order, by ${decision.rejecting_gate ?? ""}: ${decision.code}`
            }
            grade={decision.approved ? undefined : "critical"}
          />
        </h3>
        <p>
          <Theirs text={decision.reason} />
        </p>
        <GateItems decision={decision} />
      </section>
    </div>
  );
}

function GateItem({
  name,
  decision,
}: {
  readonly name: keyof typeof gateQuestions;
  readonly decision: Pick<Decision["decision"], "checks">;
}) {
  const check = decision.checks.find(({ gate }) => gate === name);
  const word = check === undefined ? "not reached" : check.result === "PASSED" ? "passed" : "FAILED";
  return (
    <li className={check?.result === "FAILED" ? "failed-gate" : undefined}>
      <strong>{name}</strong> <StateWord word={word} grade={check?.result === "FAILED" ? "critical" : undefined} />{" "}
      <span className="quiet">{gateQuestions[name]}</span>
      {check !== undefined && check.figures.length > 0 && (
        <dl className="figures">
          {check.figures.map((figure) => (
            <div key={figure.name}>
              <dt>
                <Theirs text={figure.name} />
              </dt>
              <dd>
                <Theirs text={String(figure.value)} />
                {oldText(figure.age_ms)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
