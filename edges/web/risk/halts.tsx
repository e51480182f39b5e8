// What denies new risk now and what ends it; and every halt with the proof of its three steps.

import type { Instant } from "../../../contracts/src/instant.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import type { Field } from "../../words/fields.ts";
import { byStrictness, provenText, scopeOf } from "../../words/halt-words.ts";
import { blockScope } from "../../words/risk-words.ts";
import { age, moment } from "../../words/times.ts";
import type { DangerAsk } from "../danger/ask.ts";
import {
  acceptBlockAsk,
  cancelAllAsk,
  haltAsk,
  releaseThrottleAsk,
  resumeAllAsk,
  resumeScopeAsk,
} from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import type { Halt } from "../model/halted.ts";
import { utcText } from "../model/moments.ts";
import { ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { useNow } from "../web-context.tsx";

type Block = Lists["blocks"][number];

export function Blocks() {
  const { fund } = useDeskSearch();
  const blocks = useList("blocks", { fund });
  const now = useNow();
  const rows = blocks.data ?? [];
  const columns: readonly Column<Block>[] = [
    { id: "where", head: "Where", by: blockScope },
    { id: "code", head: "Code", by: (one) => one.code, cell: (one) => <StateWord word={one.code} grade="critical" /> },
    {
      id: "since",
      head: "Since",
      by: (one) => one.since ?? undefined,
      cell: (one) => (one.since === null ? (one.since_unknown ?? "not known") : `${age(one.since, now)} ago`),
    },
    { id: "reason", head: "Reason", by: (one) => one.reason },
    { id: "ends", head: "What ends it", by: (one) => one.ends },
    {
      id: "act",
      head: "Action",
      by: (one) => one.command ?? "",
      cell: (one) => <BlockAction block={one} />,
    },
  ];
  return (
    <Panel
      name="blocks"
      title="Denies new risk"
      wide={rows.length > 0}
      reads={[blocks]}
      isEmpty={rows.length === 0}
      empty={<p>No standing condition denies new risk. Single orders may still be denied: see rejections.</p>}
      explained={[
        {
          figure: "Denies new risk",
          formula: "Every condition for which the engine denies an order that would add risk, whatever the order.",
        },
        { figure: "What ends it", formula: "What has to happen, in the engine's words." },
      ]}
    >
      <DataTable
        panel="blocks"
        caption="What denies new risk"
        columns={columns}
        rows={rows}
        id={(one) => [one.code, one.scope, one.fund_id, one.strategy_id, one.symbol, one.block_id].join("/")}
      />
    </Panel>
  );
}

function blockFields({ code, since, since_unknown, reason, ends }: Block, now: Instant): readonly Field[] {
  return [
    { label: "What", value: code },
    { label: "Since", value: since === null ? (since_unknown ?? "not known") : moment(since, now) },
    { label: "Reason", value: reason },
    { label: "Ends", value: ends },
  ];
}

function BlockAction({ block }: { readonly block: Block }) {
  const open = useDanger();
  const now = useNow();
  const { block_id: blockId, strategy_id: strategyId, code, command, gap } = block;
  if (blockId !== undefined) {
    const accept = () => open(acceptBlockAsk(blockId, blockScope(block), blockFields(block, now), gap?.missing));
    return (
      <button type="button" onClick={accept}>
        Accept…
      </button>
    );
  }
  if (!code.includes("THROTTLE") || strategyId === undefined) {
    return (
      <code>
        <Theirs text={command} />
      </code>
    );
  }
  return (
    <button type="button" onClick={() => open(releaseThrottleAsk(strategyId))}>
      Release…
    </button>
  );
}

const steps = ["BLOCKED", "CANCELLED", "NOTIFIED"] as const;

function stepCell(status: Lists["halts"], halt: Halt, name: (typeof steps)[number]) {
  const found = status.progress
    .find(({ halt_id }) => halt_id === halt.halt_id)
    ?.steps.find(({ step }) => step === name);
  if (found === undefined) return <StateWord word="not known" grade="warning" />;
  if (!found.proven)
    return <StateWord word={`NOT YET${found.detail === "" ? "" : `: ${found.detail}`}`} grade="warning" />;
  const text = provenText(name, found.detail);
  if (text === "log only") return <StateWord word={text} grade="warning" />;
  return (
    <span title={clean(found.detail)}>
      {text} {found.at === undefined ? "" : utcText(found.at).slice(11)}
    </span>
  );
}

function haltColumns(
  status: Lists["halts"] | undefined,
  now: Instant,
  open: (ask: DangerAsk) => void,
  fund: string | undefined,
): readonly Column<Halt>[] {
  return [
    { id: "scope", head: "Halted", by: scopeOf, cell: (one) => <StateWord word={scopeOf(one)} grade="critical" /> },
    {
      id: "since",
      head: "Since",
      unit: "UTC",
      by: (one) => one.since,
      cell: (one) => (
        <ToReplay
          text={one.since}
          shown={`${utcText(one.since)} (${age(one.since, now)})`}
          fund={one.severity === "FIRM_HALT" ? fund : one.fund_id}
        />
      ),
    },
    ...steps.map(
      (name): Column<Halt> => ({
        id: name.toLowerCase(),
        head: name,
        by: () => undefined,
        cell: (one) => (status === undefined ? "" : stepCell(status, one, name)),
      }),
    ),
    { id: "by", head: "By", by: (one) => one.requested_by },
    { id: "reason", head: "Reason", by: (one) => one.reason },
    {
      id: "act",
      head: "Action",
      by: () => undefined,
      cell: (one) =>
        status !== undefined && (
          <button
            type="button"
            onClick={() =>
              open(one.severity === "FIRM_HALT" ? resumeAllAsk(status, now) : resumeScopeAsk(one, status, now))
            }
          >
            Resume…
          </button>
        ),
    },
  ];
}

export function Halts() {
  const { fund } = useDeskSearch();
  const halts = useList("halts");
  const open = useDanger();
  const now = useNow();
  const status = halts.data;
  const rows = byStrictness(status?.halts ?? []).filter(
    ({ severity, fund_id }) => fund === undefined || severity === "FIRM_HALT" || fund_id === fund,
  );
  const columns = haltColumns(status, now, open, fund);
  return (
    <Panel
      name="halts"
      title="Halts"
      wide={rows.length > 0}
      reads={[halts]}
      isEmpty={rows.length === 0}
      partial={
        status?.known === false
          ? "the engine does not know what is halted, and counts everything as halted."
          : undefined
      }
      empty={<p>Nothing is halted{fund === undefined ? "" : ` for ${fund}`}.</p>}
      tools={
        <>
          {fund !== undefined && (
            <button type="button" onClick={() => open(haltAsk(fund))}>
              Halt {fund}…
            </button>
          )}
          <button type="button" onClick={() => open(cancelAllAsk(fund ?? ""))}>
            Cancel all…
          </button>
        </>
      }
      explained={[
        { figure: "BLOCKED", formula: "Every live risk engine confirmed that it denies new risk." },
        { figure: "CANCELLED", formula: "The broker confirmed the end of every open order that the halt covers." },
        { figure: "NOTIFIED", formula: "The people who are to know of it were notified." },
      ]}
    >
      <DataTable
        panel="halts"
        caption="Halts and their steps"
        columns={columns}
        rows={rows}
        id={(one) => one.halt_id ?? scopeOf(one)}
      />
    </Panel>
  );
}
