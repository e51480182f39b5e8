// The funds by mode: PAPER and LIVE stand apart and are never added up.

import { format, type Instant } from "../../../contracts/src/instant.ts";
import { act } from "../../words/act.ts";
import { scopeWord } from "../../words/halt-words.ts";
import { shell } from "../../words/shell.ts";
import { age } from "../../words/times.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import type { Fund } from "../model/halted.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, Percent, Profit, StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";
import { periodStart, profitSince } from "./unit-value.ts";

/** What the desk is asked for stands first: a telephone shows three columns. */
function columnsAt(now: Instant): readonly Column<Fund>[] {
  return [
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    {
      id: "nav",
      head: "NAV",
      number: true,
      by: (one) => one.nav,
      cell: (one) =>
        one.nav === undefined ? <StateWord word="not valued" grade="warning" /> : <Amount text={one.nav} />,
    },
    { id: "day", head: "Day", number: true, by: (one) => one.day_pnl, cell: (one) => <Profit text={one.day_pnl} /> },
    {
      id: "month",
      head: "Month",
      number: true,
      by: () => undefined,
      cell: (one) => <PeriodProfit fund={one.fund_id} period="month" />,
    },
    {
      id: "year",
      head: "Year",
      number: true,
      by: () => undefined,
      cell: (one) => <PeriodProfit fund={one.fund_id} period="year" />,
    },
    {
      id: "gross",
      head: "Gross",
      unit: "%",
      number: true,
      by: (one) => one.gross_exposure_pct,
      cell: (one) => <Percent fraction={one.gross_exposure_pct} />,
    },
    {
      id: "net",
      head: "Net",
      unit: "%",
      number: true,
      by: (one) => one.net_exposure_pct,
      cell: (one) => <Percent fraction={one.net_exposure_pct} isSigned />,
    },
    { id: "currency", head: "Currency", by: (one) => one.currency },
    { id: "age", head: "Valued", by: () => undefined, cell: (one) => `${age(one.nav_at, now) || "?"} ago` },
    {
      id: "halted",
      head: "Halted",
      by: (one) => String(one.halted),
      cell: (one) =>
        one.halted ? <StateWord word={`HALTED ${scopeWord(one.severity)}`.trim()} grade="critical" /> : "no",
    },
    { id: "name", head: "Name", by: (one) => one.name },
  ];
}

export function Funds() {
  const { fund } = useDeskSearch();
  const funds = useList("funds");
  const open = useDanger();
  const now = useNow();
  const rows = (funds.data ?? []).filter(({ fund_id }) => fund === undefined || fund_id === fund);
  const unvalued = rows.filter(({ nav }) => nav === undefined).length;
  const columns = columnsAt(now);
  const modes = (["LIVE", "PAPER"] as const).filter((mode) => rows.some((one) => one.mode === mode));
  return (
    <Panel
      name="funds"
      title="Funds"
      wide
      reads={[funds]}
      isEmpty={rows.length === 0}
      partial={unvalued === 0 ? undefined : `${unvalued} of ${rows.length} funds are not valued.`}
      empty={
        <p>
          There are no funds{fund === undefined ? "" : ` called ${fund}`}. Funds are configured; see the configuration's
          section funds.
        </p>
      }
      tools={
        <button type="button" onClick={() => open(flattenAsk(fund ?? ""))}>
          Flatten paper…
        </button>
      }
      explained={[
        { figure: "NAV", formula: "Cash plus the value of the positions at the newest prices, once a second." },
        {
          figure: "Day",
          formula: "NAV less its value at the start of the fund's trading day, less what flowed in since.",
        },
        {
          figure: "Month, Year",
          formula:
            "The same since the first moment of the month or the year in UTC, from the last daily value before it; from the first known value where there is none.",
        },
        { figure: "Gross, Net", formula: "The sum of absolute, and of signed, positions as a share of NAV." },
      ]}
    >
      {modes.map((mode) => (
        <section key={mode} aria-label={`${mode} funds`} className="mode-group">
          <p className={mode === "LIVE" ? "mode live" : "mode"}>{mode}</p>
          <DataTable
            panel="funds"
            caption={`${mode} funds`}
            columns={columns}
            rows={rows.filter((one) => one.mode === mode)}
            id={(one) => one.fund_id}
          />
        </section>
      ))}
    </Panel>
  );
}

function PeriodProfit({ fund, period }: { readonly fund: string; readonly period: "month" | "year" }) {
  const days = useList("days", { fund });
  const now = useNow();
  if (days.data === undefined) return <span className="quiet">{days.failure === undefined ? "…" : "not known"}</span>;
  return <Profit text={profitSince(days.data, periodStart(period, format(now)))} />;
}

function flattenAsk(fund: string): DangerAsk {
  const label = fund === "" ? "every paper fund" : fund;
  return {
    title: "Flatten paper",
    scope: label.toUpperCase(),
    scopeId: fund,
    paperOnly: true,
    facts: [
      "Open orders are cancelled, and every position is sold or bought back at the market.",
      "Live funds are never touched.",
    ],
    word: "FLATTEN",
    reason: "required",
    code: "none",
    command: shell`ctl cmd flatten-paper ${fund === "" ? [] : fund} --confirm FLATTEN --reason TEXT`,
    run: ({ reason, word, code }, acting) =>
      act({ act: "flatten", target: { label, id: fund }, reason, confirmation: word, code }, acting),
  };
}
