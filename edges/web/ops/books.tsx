// The books held against each other, and the drills of the halt with what each step took.

import { age, tookText } from "../../words/times.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useRange } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { isWithin } from "../model/range.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Book = Lists["books"][number];
type Drill = Lists["drills"][number];

/** What was not compared agrees with nothing. */
export function bookWord({
  agrees,
  checked_at,
  not_compared,
}: Pick<Book, "agrees" | "checked_at" | "not_compared">): string {
  if (checked_at === undefined) return "never compared";
  if (!agrees) return "DIFFERS";
  return not_compared === undefined ? "agrees" : "not compared";
}

export function Books() {
  const books = useList("books");
  const now = useNow();
  const rows = books.data ?? [];
  const columns: readonly Column<Book>[] = [
    { id: "name", head: "Check", by: (one) => one.name },
    {
      id: "word",
      head: "Result",
      by: bookWord,
      cell: (one) => (
        <StateWord
          word={bookWord(one)}
          grade={bookWord(one) === "agrees" ? undefined : one.agrees ? "warning" : "critical"}
        />
      ),
    },
    { id: "compared", head: "Compared", number: true, by: (one) => one.compared },
    {
      id: "checked",
      head: "Checked",
      by: (one) => one.checked_at,
      cell: (one) => (one.checked_at === undefined ? "never" : `${age(one.checked_at, now)} ago`),
    },
    { id: "why", head: "Difference", by: (one) => one.difference ?? one.not_compared ?? "" },
    { id: "sentence", head: "What is compared", by: (one) => one.sentence },
  ];
  const missing = rows.filter((one) => bookWord(one) !== "agrees" && one.agrees).length;
  return (
    <Panel
      name="books"
      title="Books"
      reads={[books]}
      isEmpty={rows.length === 0}
      partial={missing === 0 ? undefined : `${missing} checks had nothing to compare.`}
      empty={<p>No check of the books runs.</p>}
      explained={[
        {
          figure: "Result, Compared",
          formula:
            "Two records of the same fact, compared after both have settled, and how many; a difference that stays is an alarm.",
        },
      ]}
    >
      <DataTable panel="books" caption="Checks of the books" columns={columns} rows={rows} id={(one) => one.name} />
    </Panel>
  );
}

const drillColumns: readonly Column<Drill>[] = [
  { id: "at", head: "At", unit: "UTC", by: (one) => one.at, cell: (one) => utcText(one.at) },
  {
    id: "passed",
    head: "Result",
    by: (one) => String(one.passed),
    cell: (one) => <StateWord word={one.passed ? "passed" : "FAILED"} grade={one.passed ? undefined : "critical"} />,
  },
  {
    id: "latched",
    head: "Latched",
    number: true,
    by: (one) => one.latched_ms,
    cell: (one) => tookText(one.latched_ms),
  },
  {
    id: "blocked",
    head: "Blocked",
    number: true,
    by: (one) => one.blocked_ms,
    cell: (one) => tookText(one.blocked_ms),
  },
  {
    id: "cancelled",
    head: "Cancelled",
    number: true,
    by: (one) => one.cancelled_ms,
    cell: (one) => tookText(one.cancelled_ms),
  },
  {
    id: "notified",
    head: "Notified",
    number: true,
    by: (one) => one.notified_ms,
    cell: (one) => tookText(one.notified_ms),
  },
  { id: "by", head: "By", by: (one) => one.requested_by },
  { id: "complaint", head: "Complaint", by: (one) => one.complaint ?? "" },
];

export function Drills() {
  const drills = useList("drills");
  const open = useDanger();
  const range = useRange();
  const rows = (drills.data ?? []).filter(({ at }) => isWithin(at, range));
  return (
    <Panel
      name="drills"
      title="Drills"
      reads={[drills]}
      isEmpty={rows.length === 0}
      empty={
        <p>
          No drill was run in this range: nobody knows how long a halt takes here. Run one; it halts the drill's own
          fund only.
        </p>
      }
      tools={
        <button type="button" onClick={() => open(drillAsk)}>
          Run a drill…
        </button>
      }
      explained={[
        {
          figure: "Latched, Blocked, Cancelled, Notified",
          formula: "Milliseconds from the request of the halt to the proof of that step.",
        },
      ]}
    >
      <DataTable
        panel="drills"
        caption="Drills of the halt"
        columns={drillColumns}
        rows={rows}
        id={(one) => one.drill_id}
      />
    </Panel>
  );
}

const drillMsMax = 60_000;

const drillAsk: DangerAsk = {
  title: "Run a drill",
  scope: "the drill's own paper fund",
  scopeId: undefined,
  mode: "PAPER",
  facts: ["A real halt of that fund, measured step by step and lifted again. No other fund is touched."],
  reason: "optional",
  code: "none",
  command: "ctl operations drills run --reason TEXT",
  run: audited({
    action: "drill.measured",
    run: async ({ reason }, client) => {
      const drill = await client.runDrill(reason === "" ? {} : { reason }, { timeoutMs: drillMsMax });
      const { latched_ms, blocked_ms, cancelled_ms, notified_ms } = drill;
      return {
        lines: [
          drill.passed ? "PASSED" : `FAILED: ${drill.complaint ?? ""}`,
          `Drill ${drill.drill_id}`,
          `Latched ${tookText(latched_ms)}, blocked ${tookText(blocked_ms)}, cancelled ${tookText(cancelled_ms)}, notified ${tookText(notified_ms)}`,
        ],
        tone: drill.passed ? "good" : "bad",
      };
    },
  }),
};
