// One alert: as it was sent, without its secret, what it was answered with, and what became of its order.
import { Link } from "@tanstack/react-router";
import { clean } from "../../../contracts/src/text/clean.ts";
import { webhookFix } from "../../words/webhook-fixes.ts";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { carried } from "../model/search.ts";
import { At, ToReplay } from "../panels/at.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { Gates } from "../risk/rejections.tsx";
import { FixText } from "./fix-text.tsx";
import { gradeOfSignal } from "./received-counts.ts";

type Signal = Lists["signal"];

export function SignalDetail() {
  const { show, from, to } = useDeskSearch();
  const change = useChangeSearch();
  const received = useList("received", { from, to });
  const signal = useList("signal", { of: show }, show !== undefined);
  const { data } = signal;
  return (
    <Panel
      name="signal"
      title={show === undefined ? "One alert" : `Alert ${show.slice(0, 8)}`}
      wide={data !== undefined}
      reads={show === undefined ? [received] : [signal]}
      isEmpty={show === undefined}
      empty={<p>Open an alert above: it is shown here as it was sent, without its secret.</p>}
      tools={
        show !== undefined && (
          <button type="button" onClick={() => change({ show: undefined })}>
            Close
          </button>
        )
      }
      explained={[
        {
          figure: "Body",
          formula: "The JSON of the alert as it came; the secret is taken out before anything is stored.",
        },
        { figure: "Order", formula: "An accepted alert is handed in as tv-<signal_id>, through all seven gates." },
      ]}
    >
      {data !== undefined && <Facts signal={data} />}
    </Panel>
  );
}

function Facts({ signal }: { readonly signal: Signal }) {
  const { code, detail, warnings, order_id: orderId, decision_code: decisionCode } = signal;
  const fix = webhookFix(code);
  return (
    <>
      <dl className="facts-list">
        <dt>Status</dt>
        <dd>
          <StateWord word={`${signal.status}, answered with ${signal.http_status}`} grade={gradeOfSignal(signal)} />
        </dd>
        {code !== undefined && (
          <>
            <dt>Code</dt>
            <dd>
              <code>{code}</code> <Theirs text={detail} />
            </dd>
          </>
        )}
        {fix !== undefined && (
          <>
            <dt>What to do</dt>
            <dd data-testid="signal-fix">
              <FixText text={fix} />
            </dd>
          </>
        )}
        <dt>Received</dt>
        <dd>
          <ToReplay
            text={signal.received_at}
            shown={utcText(signal.received_at)}
            fund={signal.fund_id}
            symbol={signal.symbol}
          />
          , from <Theirs text={signal.remote_address} />
        </dd>
        {signal.alert_at !== undefined && (
          <>
            <dt>Fired</dt>
            <dd>
              <At text={signal.alert_at} shown={utcText(signal.alert_at)} />, as it says itself
            </dd>
          </>
        )}
        <dt>Symbol</dt>
        <dd>
          <Theirs text={signal.symbol_sent ?? "none"} />, translated: <Theirs text={signal.symbol ?? "none"} />
        </dd>
        {signal.duplicate_of !== undefined && <Duplicate of={signal.duplicate_of} />}
        {orderId !== undefined && <Order signal={signal} orderId={orderId} />}
        <dt>Warnings</dt>
        <dd data-testid="signal-warnings">
          {warnings.length === 0 ? "none" : <StateWord word={warnings.join(", ")} grade="warning" />}
        </dd>
      </dl>
      <h3>Body</h3>
      <pre data-testid="signal-body">
        <bdi>{bodyText(signal.body)}</bdi>
      </pre>
      {orderId !== undefined && decisionCode !== undefined && <Gates orderId={orderId} />}
    </>
  );
}

/** Line by line: cleaned as a whole the ends of its lines would be seen as what they are. */
function bodyText(body: Signal["body"]): string {
  if (body === undefined) return "It was no JSON object.";
  return JSON.stringify(body, null, 2).split("\n").map(clean).join("\n");
}

function Duplicate({ of }: { readonly of: string }) {
  const change = useChangeSearch();
  return (
    <>
      <dt>Duplicate of</dt>
      <dd>
        <button type="button" onClick={() => change({ show: of })}>
          {of}
        </button>
      </dd>
    </>
  );
}

function Order({ signal, orderId }: { readonly signal: Signal; readonly orderId: string }) {
  const search = useDeskSearch();
  const { order_state: state, decision_code: denied, fund_id: fund } = signal;
  const there = { ...carried(search), ...(fund === undefined ? {} : { fund }), show: orderId };
  return (
    <>
      <dt>Order</dt>
      <dd>
        <code>
          <Theirs text={orderId} />
        </code>{" "}
        {state === undefined ? (
          "is not handed in yet"
        ) : (
          <StateWord word={state} grade={denied === undefined ? undefined : "critical"} />
        )}
        {denied !== undefined && (
          <>
            , denied with <code>{denied}</code>:{" "}
            <Link to="/risk" search={there} hash="heading-rejections" data-testid="signal-why">
              why
            </Link>
          </>
        )}
      </dd>
    </>
  );
}
