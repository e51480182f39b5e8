// The message of an alert for the charting platform, and what would become of one. What is typed for a dry run has a secret in it: it stays in its field, which
// no markup, address, storage or history repeats, goes out in one request, and is gone when the desk is left.

import { type SubmitEvent, useRef, useState } from "react";
import type { AnswerOf } from "../../client/src/types.ts";
import { alertTemplate, secretPlace } from "../../words/alert-template.ts";
import { webhookFix } from "../../words/webhook-fixes.ts";
import { type ListRead, useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { failureOf } from "../model/panel-state.ts";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { DecisionGates } from "../risk/rejections.tsx";
import { useWeb } from "../web-context.tsx";
import { FixText } from "./fix-text.tsx";

const rolesOfDryRun = ["operator", "risk_officer"] as const;

/** What the server would say, without asking it for what it refuses. */
function useRoleNeeded<Value>(read: ListRead<Value>): ListRead<Value> {
  const { identity } = useWeb();
  if (rolesOfDryRun.some((role) => (identity.roles as readonly string[]).includes(role))) return read;
  const detail = `TestSignal needs one of the roles ${rolesOfDryRun.join(", ")}.`;
  return { ...read, failure: { status: 403, code: "PERMISSION_DENIED", detail, requestId: undefined } };
}

export function Template() {
  const search = useDeskSearch();
  const strategies = useRoleNeeded(useList("template", { fund: search.fund }));
  const [typed, setTyped] = useState<string>();
  const [said, setSaid] = useState("");
  const all = strategies.data ?? [];
  const wanted = typed ?? search.strategy;
  const chosen = all.find(({ strategy_id }) => strategy_id === wanted) ?? all[0];
  const text = chosen === undefined ? "" : JSON.stringify(alertTemplate(chosen.fund_id, chosen.strategy_id), null, 2);
  const [before = "", after = ""] = text.split(secretPlace);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied.");
    } catch {
      setSaid("Not copied, the browser refused: select the text below.");
    }
  };
  return (
    <Panel
      name="template"
      title={chosen === undefined ? "Alert message" : `Alert message for ${chosen.strategy_id}`}
      reads={[strategies]}
      isEmpty={chosen === undefined}
      empty={
        <p>
          No strategy runs{search.fund === undefined ? "" : ` for ${search.fund}`}, so no alert can name one. Strategies
          come with the funds of the configuration.
        </p>
      }
      tools={
        chosen !== undefined && (
          <>
            <label>
              <span className="unseen">Strategy of the alert</span>
              <select
                data-testid="template-strategy"
                value={chosen.strategy_id}
                onChange={(event) => setTyped(event.target.value)}
              >
                {all.map(({ strategy_id, fund_id }) => (
                  <option key={strategy_id} value={strategy_id}>
                    {strategy_id} ({fund_id})
                  </option>
                ))}
              </select>
            </label>
            <button type="button" data-testid="template-copy" onClick={() => void copy()}>
              Copy
            </button>
          </>
        )
      }
      explained={[
        {
          figure: "Message",
          formula:
            "What is pasted into the alert at the charting platform, which fills in what stands in double braces.",
        },
        { figure: "Secret", formula: "The marked place: ctl signals rotate-secret makes one and shows it once." },
      ]}
    >
      <p className="note" role="status">
        {said === "" ? "Put the fund's secret into the marked place." : said}
      </p>
      <pre data-testid="template-text">
        {before}
        <mark>{secretPlace}</mark>
        {after}
      </pre>
    </Panel>
  );
}

type Verdict = AnswerOf<"testSignal">;

export function DryRun() {
  const { client } = useWeb();
  const state = useRoleNeeded(useList("dryRun"));
  const field = useRef<HTMLTextAreaElement>(null);
  const [isSent, setSent] = useState(false);
  const [verdict, setVerdict] = useState<Verdict>();
  const [complaint, setComplaint] = useState("");
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setVerdict(undefined);
    setComplaint("");
    setSent(true);
    try {
      // As it was typed: where it is no JSON, the verdict says at which line and column.
      setVerdict(await client.testSignal({}, { body: field.current?.value ?? "" }));
    } catch (thrown) {
      setComplaint(failureOf(thrown)?.detail ?? "");
    }
    setSent(false);
  };
  const without = (state.data?.funds ?? []).filter(({ version }) => version === 0).map(({ fund_id }) => fund_id);
  return (
    <Panel
      name="dry-run"
      title="Dry run of an alert"
      reads={[state]}
      empty={null}
      explained={[
        {
          figure: "Verdict",
          formula:
            "Every check of the webhook but the caller's address, the translated symbol, and the order through all gates without a reservation. Nothing is kept.",
        },
      ]}
    >
      <form className="dry-run" autoComplete="off" onSubmit={(event) => void send(event)}>
        <label>
          The alert as it would be sent, its secret included
          {/* Not one of React's own values: those are written into the page's markup. */}
          <textarea
            ref={field}
            data-testid="dry-run-text"
            rows={8}
            autoComplete="off"
            autoCorrect="off"
            autoCapitalize="off"
            spellCheck={false}
            required
          />
        </label>
        <div className="buttons">
          <button type="submit" data-testid="dry-run-send" disabled={isSent}>
            {isSent ? "Asking…" : "See what would become of it"}
          </button>
        </div>
        {without.length > 0 && (
          <p className="note">
            Without a secret, and so without alerts: <Theirs text={without.join(", ")} />. ctl signals rotate-secret
            makes one.
          </p>
        )}
      </form>
      <div role="status">
        {complaint !== "" && (
          <p className="note critical" data-testid="dry-run-verdict">
            <Theirs text={complaint} />
          </p>
        )}
        {verdict !== undefined && <VerdictOf verdict={verdict} />}
      </div>
    </Panel>
  );
}

function VerdictOf({ verdict }: { readonly verdict: Verdict }) {
  const { would_accept: isAccepted, http_status: status, code, detail, symbol, warnings, decision } = verdict;
  const fix = webhookFix(code);
  return (
    <div data-testid="dry-run-verdict">
      <p>
        <StateWord
          word={isAccepted ? `It would be accepted (${status}).` : `It would be refused: ${status} ${code}.`}
          grade={isAccepted ? undefined : "critical"}
        />{" "}
        <Theirs text={detail} />
      </p>
      {fix !== undefined && (
        <p className="note">
          What to do: <FixText text={fix} />
        </p>
      )}
      {symbol !== "" && (
        <p>
          Symbol: <Theirs text={symbol} />
        </p>
      )}
      {warnings.length > 0 && (
        <p>
          <StateWord word={`Warnings: ${warnings.join(", ")}`} grade="warning" />
        </p>
      )}
      {decision !== undefined && <DecisionGates decision={decision} />}
    </div>
  );
}
