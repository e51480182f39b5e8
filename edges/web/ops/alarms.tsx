// What wanted a person to know something in the last day, the newest first.
import type { Lists } from "../data/lists.ts";
import { alarmHours } from "../data/operation-lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch, useRange } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { isWithin, rangeText } from "../model/range.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";

type Alarm = Lists["alarms"][number];

const columns: readonly Column<Alarm>[] = [
  { id: "at", head: "At", unit: "UTC", by: (one) => one.at, cell: (one) => utcText(one.at) },
  {
    id: "level",
    head: "Level",
    by: (one) => one.level,
    cell: (one) => <StateWord word={one.level} grade={one.level} />,
  },
  { id: "code", head: "Code", by: (one) => one.code },
  { id: "service", head: "By", by: (one) => one.service },
  { id: "about", head: "About", by: (one) => [one.strategy_id ?? one.fund_id, one.symbol].filter(Boolean).join(" ") },
  { id: "sentence", head: "What happened, what to do", by: (one) => one.sentence },
  { id: "sequence", head: "Audit entry", number: true, by: (one) => one.sequence },
];

export function Alarms() {
  const { from, to } = useDeskSearch();
  const range = useRange();
  const alarms = useList("alarms", { from, to });
  const rows = (alarms.data ?? []).filter(({ at }) => isWithin(at, range));
  const span = rangeText({ from, to }, `last ${alarmHours} h`);
  return (
    <Panel
      name="alarms"
      title={`Alarms, ${span}`}
      wide
      reads={[alarms]}
      isEmpty={rows.length === 0}
      empty={<p>No alarm was raised ({span}), as far as the audit log has it.</p>}
      explained={[
        { figure: "Audit entry", formula: "The number of that entry in the chain." },
        { figure: "Alarm", formula: "An entry of the audit log that a service wrote because a person should know." },
      ]}
    >
      <DataTable panel="alarms" caption="Alarms" columns={columns} rows={rows} id={(one) => one.alarm_id} />
    </Panel>
  );
}
