// Losses against the limits that would halt: what is lost, at what it halts, and whether it can be judged at all.
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, Percent, StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";

type Loss = Lists["losses"][number];

const columns: readonly Column<Loss>[] = [
  { id: "fund", head: "Fund", by: (one) => one.fund_id },
  { id: "strategy", head: "Strategy", by: (one) => one.strategy_id ?? "" },
  { id: "limit", head: "Limit", by: (one) => one.limit },
  { id: "loss", head: "Loss", number: true, by: (one) => one.loss, cell: (one) => <Amount text={one.loss} /> },
  {
    id: "halts",
    head: "Halts at",
    number: true,
    by: (one) => one.limit_loss,
    cell: (one) =>
      one.limit_loss === undefined ? <span className="quiet">off</span> : <Amount text={one.limit_loss} />,
  },
  {
    id: "pct",
    head: "Loss",
    unit: "%",
    number: true,
    by: (one) => one.loss_pct,
    cell: (one) => <Percent fraction={one.loss_pct} digits={2} />,
  },
  { id: "state", head: "State", by: lossWord, cell: (one) => <StateWord word={lossWord(one)} grade={gradeOf(one)} /> },
  {
    id: "period",
    head: "Since",
    unit: "UTC",
    by: (one) => one.period,
    cell: (one) => <span title={utcText(one.period)}>{utcText(one.period).slice(0, 10)}</span>,
  },
];

function lossWord({ state }: Loss): string {
  return state === "JUDGED" ? "WITHIN" : state;
}

function gradeOf({ state }: Loss) {
  if (state === "JUDGED") return undefined;
  return state === "BREACHED" ? "critical" : "warning";
}

export function Losses() {
  const { fund } = useDeskSearch();
  const losses = useList("losses", { fund });
  const rows = losses.data ?? [];
  const unjudged = rows.filter(({ state }) => state === "NOT_JUDGED");
  return (
    <Panel
      name="losses"
      title="Losses"
      reads={[losses]}
      isEmpty={rows.length === 0}
      partial={
        unjudged.length === 0
          ? undefined
          : `${unjudged.length} loss limits cannot be judged: ${unjudged[0]?.reason ?? ""}`
      }
      empty={
        <p>No fund has been valued yet. Values come once a second as soon as a fund has a price for what it holds.</p>
      }
      explained={[
        {
          figure: "Loss",
          formula:
            "The baseline's value less the value now, flows left out; in percent of the baseline beside it. A gain is a loss below zero.",
        },
        {
          figure: "Halts at",
          formula: "The limit's fraction of the baseline; a loss of that much or more halts the fund or the strategy.",
        },
      ]}
    >
      <DataTable
        panel="losses"
        caption="Losses against their limits"
        columns={columns}
        rows={rows}
        id={(one) => `${one.fund_id}/${one.strategy_id ?? ""}/${one.limit}`}
        rowClass={gradeOf}
      />
    </Panel>
  );
}
