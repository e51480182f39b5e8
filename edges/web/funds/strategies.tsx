// The strategies beside their backtest, with the two things that a manager changes: whether one trades, and with how much.

import { useState } from "react";
import { exactPercent } from "../../words/figures.ts";
import { shell } from "../../words/shell.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { complaintOf, typedShare } from "../model/typed-refusal.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Percent, Profit, StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";

type Strategy = Lists["strategies"][number];

const columns: readonly Column<Strategy>[] = [
  { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
  { id: "fund", head: "Fund", by: (one) => one.fund_id },
  {
    id: "status",
    head: "Status",
    by: (one) => one.status,
    cell: (one) => <StateWord word={statusText(one)} grade={one.status === "live" ? undefined : "warning"} />,
  },
  {
    id: "allocation",
    head: "Allocation",
    unit: "%",
    number: true,
    by: (one) => one.allocation_pct,
    cell: (one) => <Percent fraction={one.allocation_pct} />,
  },
  { id: "pnl", head: "Profit", number: true, by: (one) => one.pnl, cell: (one) => <Profit text={one.pnl} /> },
  {
    id: "live",
    head: "IC live",
    number: true,
    by: (one) => one.live_ic_mean,
    cell: (one) => one.live_ic_mean?.toFixed(3) ?? "?",
  },
  {
    id: "tested",
    head: "IC backtest",
    number: true,
    by: (one) => one.backtest_ic_mean,
    cell: (one) => one.backtest_ic_mean?.toFixed(3) ?? "?",
  },
  {
    id: "sharpe",
    head: "Sharpe backtest",
    number: true,
    by: () => undefined,
    cell: (one) => <Tested strategy={one.strategy_id} figure="sharpe" />,
  },
  {
    id: "worst",
    head: "Worst drawdown backtest",
    unit: "%",
    number: true,
    by: () => undefined,
    cell: (one) => <Tested strategy={one.strategy_id} figure="max_drawdown" />,
  },
  { id: "act", head: "Change", by: () => undefined, cell: (one) => <Change strategy={one} /> },
];

function statusText({ status, base_status, restriction_ids }: Strategy): string {
  const count = restriction_ids.length;
  const held = count === 0 ? "" : `, ${count} ${count === 1 ? "restriction" : "restrictions"}`;
  return status === base_status
    ? `${statusWord(status)}${held}`
    : `${statusWord(status)} (set: ${statusWord(base_status)}${held})`;
}

/** The word of the wire reads like the mode of a fund, and a PAPER fund's strategies are not LIVE. */
function statusWord(status: string): string {
  return status === "live" ? "trading" : status;
}

export function Strategies() {
  const { fund } = useDeskSearch();
  const strategies = useList("strategies", { fund });
  const rows = strategies.data ?? [];
  return (
    <Panel
      name="strategies"
      title="Strategies"
      wide
      reads={[strategies]}
      isEmpty={rows.length === 0}
      empty={
        <p>
          No strategy runs{fund === undefined ? "" : ` for ${fund}`}. Strategies come with the funds of the
          configuration.
        </p>
      }
      explained={[
        {
          figure: "IC live, IC backtest",
          formula:
            "The rank correlation of signals with the returns that followed: its mean live, and in the backtest.",
        },
        { figure: "Allocation", formula: "The share of NAV that the strategy may use, restrictions counted in." },
        {
          figure: "Sharpe backtest, Worst drawdown backtest",
          formula:
            "Of the backtest, on its own period: mean over deviation of daily returns, a year's; the deepest fall.",
        },
        { figure: "Profit", formula: "Realised and unrealised, of what the strategy itself traded." },
      ]}
    >
      <DataTable
        panel="strategies"
        caption="Strategies beside their backtest"
        columns={columns}
        rows={rows}
        id={(one) => one.strategy_id}
      />
    </Panel>
  );
}

function Tested({ strategy, figure }: { readonly strategy: string; readonly figure: "sharpe" | "max_drawdown" }) {
  const backtest = useList("backtest", { of: strategy });
  const value = backtest.data?.[figure];
  if (value === undefined)
    return <span className="quiet">{backtest.hasData || backtest.failure !== undefined ? "?" : "…"}</span>;
  return figure === "sharpe" ? value.toFixed(2) : (value * 100).toFixed(1);
}

const statuses = ["live", "shadow", "halted"] as const;

function Change({ strategy }: { readonly strategy: Strategy }) {
  const open = useDanger();
  const [status, setStatus] = useState<Strategy["base_status"]>(strategy.base_status);
  const [share, setShare] = useState(String(strategy.base_allocation_pct));
  const isChanged = status !== strategy.base_status || share !== String(strategy.base_allocation_pct);
  const complaint = complaintOf("Allocation", share, typedShare);
  return (
    <span className="inline-form">
      <select
        aria-label={`Status of ${strategy.strategy_id}`}
        value={status}
        onChange={(event) => setStatus(event.target.value as typeof status)}
      >
        {statuses.map((one) => (
          <option key={one} value={one}>
            {statusWord(one)}
          </option>
        ))}
      </select>
      <input
        aria-label={`Allocation of ${strategy.strategy_id}, a fraction`}
        className="short"
        aria-invalid={complaint !== undefined}
        value={share}
        onChange={(event) => setShare(event.target.value)}
      />
      <button
        type="button"
        disabled={!isChanged || complaint !== undefined}
        onClick={() => open(strategyAsk(strategy, status, share))}
      >
        Set…
      </button>
      {complaint !== undefined && (
        <span className="note critical" role="status">
          <Theirs text={complaint} />
        </span>
      )}
    </span>
  );
}

function strategyAsk(strategy: Strategy, status: Strategy["base_status"], share: string): DangerAsk {
  const { strategy_id: strategyId, base_status, base_allocation_pct } = strategy;
  return {
    title: "Change a strategy",
    scope: `strategy ${strategyId}`,
    scopeId: strategyId,
    facts: [
      ...(status === base_status ? [] : [`Status from ${statusWord(base_status)} to ${statusWord(status)}.`]),
      ...(share === String(base_allocation_pct)
        ? []
        : [
            `Allocation from ${exactPercent(base_allocation_pct)} to ${exactPercent(typedShare(share.trim()))} of NAV.`,
          ]),
    ],
    reason: "required",
    code: "none",
    command: shell`ctl research strategies set ${strategyId} --status ${status} --allocation-pct ${share} --reason TEXT`,
    run: audited({
      action: "strategy.changed",
      run: async ({ reason }, client) => {
        const changed = await client.setStrategy({
          strategyId,
          reason,
          ...(status === base_status ? {} : { status }),
          ...(share === String(base_allocation_pct) ? {} : { allocationPct: typedShare(share.trim()) }),
        });
        return [
          `${changed.strategy_id} (${changed.fund_id}) is ${statusWord(changed.status)}, with ${exactPercent(changed.allocation_pct)} of NAV.`,
        ];
      },
    }),
  };
}
