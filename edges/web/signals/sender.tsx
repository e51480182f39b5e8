// Who may send alerts, how old each fund's secret is, and whose alerts have stopped coming.
import type { Instant } from "../../../contracts/src/instant.ts";
import { age, fromNow } from "../../words/times.ts";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { msOf, utcText } from "../model/moments.ts";
import { At, ToReplay } from "../panels/at.tsx";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { type Explained, Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { useNow } from "../web-context.tsx";

type Secret = Lists["sender"]["funds"][number];

const oldSecretMs = 90 * 86_400_000;

const explained: readonly Explained[] = [
  {
    figure: "Taken from",
    formula: "Addresses whose requests are read at all; behind a proxy, the address that it hands on.",
  },
  {
    figure: "Secret",
    formula: "A fund without one takes no alerts. ctl signals rotate-secret makes the first and every next one.",
  },
  {
    figure: "Stopped",
    formula: "Strategies with a heartbeat in the configuration that sent no alert within it, last 24 h.",
  },
];

function columnsAt(now: Instant): readonly Column<Secret>[] {
  const isOld = ({ rotated_at }: Secret): boolean =>
    rotated_at !== undefined && msOf(now) - Date.parse(rotated_at) > oldSecretMs;
  return [
    { id: "fund", head: "Fund", by: (one) => one.fund_id },
    { id: "mode", head: "Mode", by: (one) => one.mode },
    {
      id: "secret",
      head: "Secret",
      by: (one) => one.version,
      cell: (one) =>
        one.version === 0 ? (
          <StateWord word="none: takes no alerts" grade="warning" />
        ) : (
          <StateWord word={`version ${one.version}`} grade={isOld(one) ? "warning" : undefined} />
        ),
      exact: (one) => String(one.version),
    },
    {
      id: "age",
      head: "Age",
      by: (one) => one.rotated_at,
      cell: (one) =>
        one.rotated_at === undefined ? (
          one.version === 0 ? (
            " "
          ) : (
            "not known"
          )
        ) : (
          <At text={one.rotated_at} shown={age(one.rotated_at, now)} />
        ),
    },
    {
      id: "previous",
      head: "The one before",
      by: (one) => one.previous_valid_until,
      cell: (one) =>
        one.previous_valid_until === undefined ? (
          " "
        ) : (
          <At text={one.previous_valid_until} shown={`ends ${fromNow(one.previous_valid_until, now)}`} />
        ),
    },
  ];
}

export function Sender() {
  const { fund } = useDeskSearch();
  const sender = useList("sender");
  const alarms = useList("alarms");
  const now = useNow();
  const rows = (sender.data?.funds ?? []).filter(({ fund_id }) => fund === undefined || fund_id === fund);
  const silent = (alarms.data ?? []).filter(({ code }) => code === "SIGNAL_SILENT");
  const columns = columnsAt(now);
  return (
    <Panel
      name="sender"
      title="Who may send"
      reads={[sender, alarms]}
      isEmpty={sender.data?.funds.length === 0}
      empty={
        <p>There is no fund yet, so nobody may send. Funds are configured; see the configuration's section funds.</p>
      }
      explained={explained}
    >
      {sender.data !== undefined && <Addresses status={sender.data} />}
      <DataTable
        panel="sender"
        caption="Secrets of the funds"
        columns={columns}
        rows={rows}
        id={(one) => one.fund_id}
      />
      <h3>Alerts that stopped coming</h3>
      {silent.length === 0 ? (
        <p className="note" data-testid="heartbeats">
          No heartbeat was missed in the last 24 h. Only strategies with a heartbeat in the configuration are watched.
        </p>
      ) : (
        <ul data-testid="heartbeats">
          {silent.map((one) => (
            <li key={one.alarm_id}>
              <ToReplay text={one.at} shown={utcText(one.at)} fund={one.fund_id ?? fund} />{" "}
              <StateWord word={one.sentence} grade="critical" />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Addresses({ status }: { readonly status: Lists["sender"] }) {
  const { source_addresses: sources, trusted_proxies: proxies, untrusted_proxy: stranger } = status;
  return (
    <dl className="facts-list">
      <dt>Taken from</dt>
      <dd>
        {sources.length === 0 ? <StateWord word="nobody" grade="warning" /> : <Theirs text={sources.join(", ")} />}
      </dd>
      <dt>At</dt>
      <dd>
        <code>POST /tradingview/webhook</code> of <Theirs text={status.host} />, the public port
      </dd>
      <dt>Proxies</dt>
      <dd>
        <Theirs text={proxies.length === 0 ? "none is trusted" : proxies.join(", ")} />
      </dd>
      {stranger !== undefined && (
        <>
          <dt>Not trusted</dt>
          <dd>
            <StateWord word={stranger.address} grade="warning" /> sent for a listed address at{" "}
            <At text={stranger.last_seen_at} shown={utcText(stranger.last_seen_at)} />: set http.trusted_proxies
          </dd>
        </>
      )}
    </dl>
  );
}
