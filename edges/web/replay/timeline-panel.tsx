// What had happened by the moment of the clock, the newest first; a row opens what was known then, a decision with all seven gates.

import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import type { Lists } from "../data/lists.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { At, ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { DecisionRecord } from "../risk/rejections.tsx";
import { readOf } from "./panel-read.ts";
import type { PastEvent } from "./past-events.ts";
import { PastPanel } from "./past-panel.tsx";
import type { ReplayView } from "./use-replay.ts";

/** What is recorded within this time after it happened was known as it happened. */
const lateMs = 2_000;

const grave = new Set<PastEvent["kind"]>(["halt", "alarm", "restriction", "stop"]);

function columnsOf(fund: string): readonly Column<PastEvent>[] {
  return [
    {
      id: "at",
      head: "Recorded",
      unit: "UTC",
      by: (one) => one.at,
      cell: (one) => <ToReplay text={one.at} shown={utcText(one.at)} fund={fund} symbol={one.symbol} />,
    },
    { id: "show", head: "Data", by: () => undefined, cell: (one) => <OpenEvent id={one.event_id} /> },
    {
      id: "kind",
      head: "Kind",
      by: (one) => one.kind,
      cell: (one) => <StateWord word={one.kind} grade={gradeOf(one)} />,
    },
    { id: "summary", head: "What", by: (one) => one.summary },
    { id: "symbol", head: "Symbol", by: (one) => one.symbol },
    { id: "strategy", head: "Strategy", by: (one) => one.strategy_id },
    { id: "code", head: "Code", by: (one) => one.code },
    {
      id: "late",
      head: "Happened",
      unit: "where earlier",
      by: (one) => (isLate(one) ? one.happened_at : undefined),
      cell: (one) => (isLate(one) ? <At text={one.happened_at} shown={utcText(one.happened_at)} /> : " "),
    },
    { id: "order", head: "Order", by: (one) => one.order_id },
    { id: "sequence", head: "Audit entry", number: true, by: (one) => one.sequence },
  ];
}

function isLate({ at, happened_at }: PastEvent): boolean {
  return millisecondsBetween(parse(happened_at), parse(at)) > lateMs;
}

function gradeOf({ kind, code }: PastEvent): "critical" | "warning" | undefined {
  if (kind === "halt") return "critical";
  return grave.has(kind) || (kind === "decision" && code !== undefined) ? "warning" : undefined;
}

export function TimelinePanel({ view }: { readonly view: ReplayView }) {
  const { show } = useDeskSearch();
  const { fund, replay, state } = view;
  const events = state.shown?.events ?? [];
  const opened = show === undefined ? undefined : events.find(({ event_id }) => event_id === show);
  const oldest = events[0];
  return (
    <PastPanel
      name="timeline"
      title={`What happened to ${fund}`}
      wide
      read={readOf(view, "timeline")}
      isEmpty={events.length === 0}
      empty={
        <p>
          Nothing was recorded from {utcText(format(replay.start))} until then. Step goes to what came next; a longer
          range is above.
        </p>
      }
      explained={[
        {
          figure: "Recorded",
          formula: "When we learned of it: what reached us late stands here, and not where it happened.",
        },
        { figure: "Happened", formula: "As it says itself, where that is more than two seconds earlier." },
        { figure: "Data", formula: "What was known then. What became of it stands in later rows." },
        {
          figure: "Audit entry",
          formula: "Its number in the audit log; news and what strategies say have none.",
        },
      ]}
    >
      <DataTable
        panel="timeline"
        caption="What happened, the newest first"
        columns={columnsOf(fund)}
        rows={[...events].reverse()}
        id={(one) => one.event_id}
        rowName={(one) => `event-${one.event_id}`}
      />
      {state.shown?.isCut === true && oldest !== undefined && (
        <p className="note">
          There are older ones than those since {utcText(oldest.at)}: step back to see what came before.
        </p>
      )}
      {opened !== undefined && <Opened event={opened} />}
    </PastPanel>
  );
}

function OpenEvent({ id }: { readonly id: string }) {
  const { show } = useDeskSearch();
  const change = useChangeSearch();
  const isOpen = show === id;
  return (
    <button type="button" aria-expanded={isOpen} onClick={() => change({ show: isOpen ? undefined : id })}>
      {isOpen ? "Close" : "Open"}
    </button>
  );
}

function Opened({ event }: { readonly event: PastEvent }) {
  const change = useChangeSearch();
  const record = decisionIn(event);
  return (
    <section className="opened" aria-label="What was known then" data-testid="event-data">
      <h3>
        {utcText(event.at)} {event.kind}: <Theirs text={event.summary} />{" "}
        <button type="button" onClick={() => change({ show: undefined })}>
          Close
        </button>
      </h3>
      {record !== undefined && (
        <div className="gates">
          <DecisionRecord record={record} />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a place that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <bdi>{linesOf(event.data)}</bdi>
      </pre>
    </section>
  );
}

/** Of the record of a decision; undefined where it is none. */
function decisionIn({ kind, data }: PastEvent): Lists["decisions"][number] | undefined {
  const { order, decision } = data as { readonly order?: unknown; readonly decision?: { readonly checks?: unknown } };
  if (kind !== "decision" || typeof order !== "object" || !Array.isArray(decision?.checks)) return undefined;
  return data as unknown as Lists["decisions"][number];
}

/** Line by line: cleaned as a whole the ends of its lines would be seen as what they are. */
function linesOf(data: PastEvent["data"]): string {
  return JSON.stringify(data, null, 2).split("\n").map(clean).join("\n");
}
