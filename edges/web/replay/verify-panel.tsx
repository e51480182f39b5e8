// Whether the decisions up to the clock are what they were: each is made again from its record and held against the audit log. It reads; nothing is changed.
import { useSyncExternalStore } from "react";
import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { utcText } from "../model/moments.ts";
import { failureOf } from "../model/panel-state.ts";
import { At } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import type { Explained } from "../panels/panel.tsx";
import { PastPanel } from "./past-panel.tsx";
import type { ReplayView } from "./use-replay.ts";
import type { VerifyState } from "./verify-run.ts";

type Difference = AnswerOf<"verifyDecisions">["differences"][number];

const columns: readonly Column<Difference>[] = [
  {
    id: "decided",
    head: "Decided",
    unit: "UTC",
    by: (one) => one.decided_at,
    cell: (one) => <At text={one.decided_at} shown={utcText(one.decided_at)} />,
  },
  {
    id: "cause",
    head: "Cause",
    by: (one) => one.cause,
    cell: (one) => <StateWord word={one.cause} grade="critical" />,
  },
  { id: "recorded", head: "Recorded", by: (one) => decidedText(one.recorded) },
  { id: "replayed", head: "Made again", by: (one) => decidedText(one.replayed) },
  { id: "order", head: "Order", by: (one) => one.order_id },
  { id: "decision", head: "Decision", by: (one) => one.decision_id },
];

function decidedText(decided: Difference["recorded"]): string {
  if (decided === undefined) return "not to be had";
  return decided.approved ? "APPROVED" : `DENIED by ${decided.gate}: ${decided.code}`;
}

const explained: readonly Explained[] = [
  { figure: "Same", formula: "Made again from its record it is the same, and the audit log has it so." },
  {
    figure: "Skipped",
    formula:
      "No difference: DUPLICATE and SCHEMA no limit decides; EARLIER_RULES the gates decide by other rules today; ERASED what it says of a person is gone.",
  },
  {
    figure: "Cause",
    formula:
      "DECISION made again it is another; AUDIT the log says something else or nothing; MISSING the log has it and the record is gone; UNREADABLE.",
  },
  { figure: "Judged up to", formula: "As far as the audit log had certainly taken in what happened." },
];

export function VerifyPanel({ view }: { readonly view: ReplayView }) {
  const { verify, replay, state, fund } = view;
  const run = useSyncExternalStore(verify.subscribe, verify.state);
  const { span, isRunning, verdict } = run;
  const begin = (): void => verify.begin(replay.start, state.at);
  const failure = failureOf(run.failure);
  return (
    <PastPanel
      name="verify"
      title="Are the decisions what they were?"
      wide
      read={{
        name: "verify",
        asked: { fund, from: format(span?.from ?? replay.start), at: format(span?.to ?? state.at) },
        hasData: true,
        answeredAt: undefined,
        failure,
        again: begin,
      }}
      isEmpty={span === undefined}
      empty={
        <p>
          Verify makes every decision from {utcText(format(replay.start))} to {utcText(format(state.at))} again, under
          the limits that it names, and holds it against the audit log.
        </p>
      }
      tools={
        <button type="button" data-testid="replay-verify" disabled={isRunning} onClick={begin}>
          Verify
        </button>
      }
      explained={explained}
    >
      <Progress run={run} />
      {verdict !== undefined && (
        <>
          <p
            role={isRunning ? undefined : "status"}
            data-testid="replay-verdict"
            data-done={isRunning ? undefined : "true"}
          >
            <StateWord word={sentenceOf(run)} grade={verdict.different > 0 ? "critical" : undefined} />
          </p>
          <p className="quiet">
            Judged from {utcText(verdict.from)} up to <At text={verdict.through} shown={utcText(verdict.through)} />.
          </p>
          {verdict.differences.length > 0 && (
            <DataTable
              panel="verify"
              caption="Decisions that differ, the oldest first"
              columns={columns}
              rows={verdict.differences}
              id={(one) => `${one.decision_id} ${one.cause}`}
              rowName={(one) => `difference-${one.decision_id}`}
            />
          )}
          {verdict.different > verdict.differences.length && (
            <p className="note">The first {verdict.differences.length} of them.</p>
          )}
        </>
      )}
    </PastPanel>
  );
}

function sentenceOf({ verdict, isRunning }: VerifyState): string {
  if (verdict === undefined) return "";
  const { decisions, same, different, skipped, skipped_causes: causes } = verdict;
  if (decisions === 0) return isRunning ? "no decision so far" : "no decision was recorded in that time";
  const why = causes.map(({ cause, count }) => `${count} ${cause}`).join(", ");
  return [
    `${same} of ${decisions} the same`,
    ...(different === 0 ? [] : [`${different} different`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped (${why})`]),
    ...(isRunning ? ["so far"] : []),
  ].join(", ");
}

function Progress({ run: { span, isRunning, verdict } }: { readonly run: VerifyState }) {
  if (!isRunning || span === undefined) return null;
  const whole = Math.max(1, millisecondsBetween(span.from, span.to));
  const done = verdict === undefined ? 0 : millisecondsBetween(span.from, parse(verdict.through));
  return (
    <p>
      <label>
        Judging <progress data-testid="replay-progress" value={Math.round((done / whole) * 100)} max={100} />{" "}
        {Math.round((done / whole) * 100)} % of the time
      </label>
    </p>
  );
}
