// The watchdogs, the gravest first; paused is a state of its own, because what nobody watches is not in order.

import { watchdogStates, watchdogWord } from "../../words/risk-words.ts";
import { shell } from "../../words/shell.ts";
import { age } from "../../words/times.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Watchdog = Lists["watchdogs"][number];

function gradeOf(one: Watchdog) {
  const word = watchdogWord(one);
  if (word === "ACTION") return "critical" as const;
  return word === "OK" || word === "WARMUP" ? undefined : ("warning" as const);
}

const aboutOf = (one: Watchdog): string =>
  [one.strategy_id ?? one.fund_id, one.symbol].filter(Boolean).join(" ") || "the firm";

export function Watchdogs() {
  const { fund } = useDeskSearch();
  const watchdogs = useList("watchdogs");
  const open = useDanger();
  const now = useNow();
  const rows = (watchdogs.data ?? [])
    .filter(({ fund_id }) => fund === undefined || fund_id === null || fund_id === fund)
    .sort((one, other) => watchdogStates.indexOf(watchdogWord(one)) - watchdogStates.indexOf(watchdogWord(other)));
  const columns: readonly Column<Watchdog>[] = [
    { id: "watchdog", head: "Watchdog", by: (one) => one.watchdog },
    { id: "about", head: "About", by: aboutOf },
    {
      id: "state",
      head: "State",
      by: watchdogWord,
      cell: (one) => (
        <StateWord word={one.paused === null ? one.state : `PAUSED (${one.state})`} grade={gradeOf(one)} />
      ),
    },
    {
      id: "value",
      head: "Value",
      number: true,
      by: (one) => one.value ?? undefined,
      cell: (one) => (one.value === null ? "?" : String(Number(one.value.toPrecision(4)))),
    },
    { id: "threshold", head: "Threshold", number: true, by: (one) => one.threshold ?? undefined },
    { id: "unit", head: "Unit", by: (one) => one.unit },
    {
      id: "judged",
      head: "Judged",
      by: (one) => one.judged_at ?? undefined,
      cell: (one) => (one.judged_at === null ? "never" : `${age(one.judged_at, now)} ago`),
    },
    { id: "reason", head: "Reason", by: (one) => one.paused?.reason ?? one.reason ?? "" },
    {
      id: "act",
      head: "Action",
      by: () => undefined,
      cell: (one) => (
        <button type="button" onClick={() => open(one.paused === null ? pauseAsk(one) : unpauseAsk(one))}>
          {one.paused === null ? "Pause…" : "Watch again…"}
        </button>
      ),
    },
  ];
  return (
    <Panel
      name="watchdogs"
      title="Watchdogs"
      wide
      reads={[watchdogs]}
      isEmpty={rows.length === 0}
      empty={<p>The server reports no watchdog: nothing is watched.</p>}
      explained={[
        {
          figure: "State",
          formula:
            "WARN and ACTION are beyond the threshold; STALE had no input in time; WARMUP has too few; PAUSED acts on nothing.",
        },
        { figure: "Value, Threshold", formula: "As the watchdog judged last, in its own unit." },
      ]}
    >
      <DataTable
        panel="watchdogs"
        caption="Watchdogs"
        columns={columns}
        rows={rows}
        id={(one) => `${one.watchdog}/${one.fund_id ?? ""}/${one.strategy_id ?? ""}/${one.symbol ?? ""}`}
        rowClass={gradeOf}
      />
    </Panel>
  );
}

const pauseS = 3_600;

/** As the server names what belongs to no fund; without a name it would be all of them. */
const firm = "firm";

const scopeText = ({ watchdog, fund_id }: Watchdog): string => `${watchdog} of ${fund_id ?? "the firm"}`;
const named = ({ watchdog, fund_id }: Watchdog) => ({ watchdog, fundId: fund_id ?? firm });
const flags = ({ watchdog, fund_id }: Watchdog) => ["--watchdog", watchdog, "--fund-id", fund_id ?? firm];

function pauseAsk(one: Watchdog): DangerAsk {
  return {
    title: "Pause a watchdog for an hour",
    scope: scopeText(one),
    scopeId: one.fund_id ?? "",
    facts: [
      "For an hour it judges and does nothing, for every strategy and symbol that it watches there. It begins again by itself.",
    ],
    reason: "required",
    code: "none",
    command: shell`ctl operations watchdog pause ${flags(one)} --for 1h --reason TEXT`,
    run: audited({
      action: "operator.attempted",
      run: async ({ reason }, client) => {
        const found = await client.pauseWatchdog({ ...named(one), forS: pauseS, reason } as never);
        return found.map(
          (each) => `${each.paused === null ? "NOT PAUSED" : `PAUSED until ${each.paused.until}`}: ${scopeText(each)}`,
        );
      },
    }),
  };
}

function unpauseAsk(one: Watchdog): DangerAsk {
  return {
    title: "Let a watchdog watch again",
    scope: scopeText(one),
    scopeId: one.fund_id ?? "",
    facts: ["It judges and acts again at once."],
    reason: "required",
    code: "none",
    command: shell`ctl operations watchdog resume ${flags(one)} --reason TEXT`,
    run: audited({
      action: "operator.attempted",
      run: async ({ reason }, client) => {
        const found = await client.resumeWatchdog({ ...named(one), reason } as never);
        return found.map(
          (each) => `${each.paused === null ? "WATCHES" : "STILL PAUSED"}: ${scopeText(each)}, ${each.state}`,
        );
      },
    }),
  };
}
