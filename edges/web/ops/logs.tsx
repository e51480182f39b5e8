// What a service has logged, also while it is dead; and how far each reader of the bus is behind.
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch, useRange } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { isWithin } from "../model/range.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { type Lag as BusLag, lagsOf, silentIn } from "./lag.ts";

type Line = Lists["logs"][number] & { readonly place: number };

function gradeOf({ level }: Line) {
  if (level === "error" || level === "fatal") return "critical" as const;
  return level === "warn" ? ("warning" as const) : undefined;
}

const columns: readonly Column<Line>[] = [
  { id: "at", head: "At", unit: "UTC", by: (one) => one.at, cell: (one) => utcText(one.at) },
  {
    id: "level",
    head: "Level",
    by: (one) => one.level,
    cell: (one) => <StateWord word={one.level} grade={gradeOf(one)} />,
  },
  { id: "message", head: "Message", by: (one) => one.message },
];

const names = ["gateway", "riskengine", "operations", "oms", "treasury", "research", "supervisor"];

export function Logs() {
  const search = useDeskSearch();
  const change = useChangeSearch();
  const service = names.find((name) => name === search.show) ?? "gateway";
  const logs = useList("logs", { of: service });
  // Two lines may be equal; their place tells them apart.
  const range = useRange();
  const rows = (logs.data ?? [])
    .map((one, place) => ({ ...one, place }))
    .filter(({ at }) => isWithin(at, range))
    .reverse();
  return (
    <Panel
      name="logs"
      title={`Log of ${service}`}
      wide
      reads={[logs]}
      isEmpty={rows.length === 0}
      empty={<p>{service} has logged nothing that is kept of this range. Choose a longer one.</p>}
      tools={
        <label>
          <span className="unseen">Service</span>
          <select value={service} onChange={(event) => change({ show: event.target.value })}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      }
      explained={[
        { figure: "Log", formula: "The newest 200 lines that the service wrote to its files, the newest first." },
      ]}
    >
      <DataTable
        panel="logs"
        caption={`Log of ${service}`}
        columns={columns}
        rows={rows}
        id={(one) => `${one.at} ${one.place}`}
        rowClass={gradeOf}
      />
    </Panel>
  );
}

const behindMax = 1_000;

const lagColumns: readonly Column<BusLag>[] = [
  { id: "subscription", head: "Reader", by: (one) => one.subscription },
  { id: "service", head: "Service", by: (one) => one.service },
  {
    id: "events",
    head: "Behind",
    unit: "events",
    number: true,
    by: (one) => one.events,
    cell: (one) =>
      one.events > behindMax ? (
        <StateWord word={one.events.toLocaleString("en-US")} grade="warning" />
      ) : (
        one.events.toLocaleString("en-US")
      ),
  },
];

export function Lag() {
  const lag = useList("lag");
  const rows = [...lagsOf(lag.data ?? "")].sort((one, other) => other.events - one.events);
  const silent = silentIn(lag.data ?? "");
  return (
    <Panel
      name="lag"
      title="Lag of the bus"
      reads={[lag]}
      partial={silent.length === 0 ? undefined : `${silent.join(", ")} did not answer; how far behind is not known.`}
      isEmpty={rows.length === 0}
      empty={<p>No process reports a reader of the bus: either none reads, or the figures are not to be had.</p>}
      explained={[
        {
          figure: "Behind",
          formula:
            "Events between a durable reader's place and the newest, as its process measured last (portcullis_bus_lag_events).",
        },
      ]}
    >
      <DataTable
        panel="lag"
        caption="How far readers of the bus are behind"
        columns={lagColumns}
        rows={rows}
        id={(one) => `${one.service} ${one.subscription}`}
      />
    </Panel>
  );
}
