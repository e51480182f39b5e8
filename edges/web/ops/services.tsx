// Every process: how it is, since when, and what it complains about; one that was never heard of is not in order.
import { age } from "../../words/times.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Service = Lists["services"][number];

function gradeOfService({ status }: Service) {
  if (status === "ok") return undefined;
  return status === "starting" ? ("warning" as const) : ("critical" as const);
}

export function Services() {
  const services = useList("services");
  const open = useDanger();
  const now = useNow();
  const rows = services.data ?? [];
  const columns: readonly Column<Service>[] = [
    { id: "service", head: "Service", by: (one) => one.service },
    {
      id: "status",
      head: "Status",
      by: (one) => one.status,
      cell: (one) => <StateWord word={one.status} grade={gradeOfService(one)} />,
    },
    {
      id: "since",
      head: "Runs for",
      by: (one) => one.started_at,
      cell: (one) => age(one.started_at, now) || "not known",
    },
    { id: "pid", head: "Process", number: true, by: (one) => one.pid },
    { id: "version", head: "Version", by: (one) => one.version },
    { id: "complaint", head: "Complaint", by: (one) => one.complaint ?? "" },
  ];
  return (
    <Panel
      name="services"
      title="Services"
      reads={[services]}
      isEmpty={rows.length === 0}
      empty={<p>The gateway knows no service: set their addresses, or start them beside it.</p>}
      tools={
        <button type="button" onClick={() => open(restartAsk)}>
          Restart all…
        </button>
      }
      explained={[
        { figure: "Status", formula: "What the process answers about itself now; failing when it does not answer." },
        { figure: "Process", formula: "The number that the operating system gave it." },
        { figure: "Runs for", formula: "Since it took its lease in the store." },
      ]}
    >
      <DataTable
        panel="services"
        caption="Services"
        columns={columns}
        rows={rows}
        id={(one) => `${one.service} ${one.pid ?? ""}`}
        rowClass={gradeOfService}
      />
    </Panel>
  );
}

const restartMsMax = 180_000;

const restartAsk: DangerAsk = {
  title: "Restart all services",
  scope: "riskengine, operations, oms, treasury, research",
  scopeId: "",
  facts: [
    "They are restarted one after the other. Orders and positions stay; while the engine restarts, orders are denied.",
  ],
  reason: "optional",
  code: "none",
  command: "ctl cmd restart-all --reason TEXT",
  run: async ({ reason }, { client, report }) => {
    const answer = await client.restartServices(reason === "" ? {} : { reason }, { timeoutMs: restartMsMax });
    const ill = answer.services.filter(({ healthy }) => !healthy);
    const isDone = answer.restarted && ill.length === 0;
    report({
      lines: [
        isDone ? "ALL ARE HEALTHY AGAIN." : "IT GOES ON: not all of them are healthy yet.",
        `Audit ${answer.audit_id ?? "id not known"}`,
        ...answer.services.map(
          ({ service, healthy, pid, complaint = "" }) =>
            `${healthy ? "healthy" : "NOT YET"} ${service}, process ${pid ?? "?"} ${complaint}`,
        ),
      ],
      tone: isDone ? "good" : "bad",
      done: true,
    });
  },
};
