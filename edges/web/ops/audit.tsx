// The audit log: how long it is, how far it is proven, a verification from here, and its newest entries.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type DangerAsk, reporting } from "../danger/ask.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { utcText } from "../model/moments.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";

export function Audit() {
  const audit = useList("audit");
  const open = useDanger();
  const status = audit.data;
  const complaints = [status?.complaint, ...(status?.witness_complaints ?? [])].filter(
    (text) => text !== undefined && text !== "",
  );
  return (
    <Panel
      name="audit"
      title="Audit log"
      reads={[audit]}
      partial={complaints.length === 0 ? undefined : complaints.join("; ")}
      empty={<p>There is no audit log.</p>}
      tools={
        <button type="button" onClick={() => open(verifyAsk)}>
          Verify…
        </button>
      }
      explained={[
        { figure: "Entries", formula: "The length of the chain; each entry holds the hash of the one before." },
        { figure: "Signed", formula: "How many of them the newest signed checkpoint covers." },
        { figure: "Witnessed", formula: "How many of them enough witnesses have signed." },
      ]}
    >
      {status !== undefined && (
        <dl className="facts-list">
          <dt>State</dt>
          <dd>{status.broken ? <StateWord word="BROKEN" grade="critical" /> : `unbroken, trust: ${status.trust}`}</dd>
          <dt>Entries</dt>
          <dd className="figure">{status.size.toLocaleString("en-US")}</dd>
          <dt>Signed</dt>
          <dd className="figure">{status.checkpoint_size.toLocaleString("en-US")}</dd>
          <dt>Witnessed</dt>
          <dd>
            {status.witnessed_size.toLocaleString("en-US")} by {status.witnesses.length} of {status.witnesses_needed}{" "}
            needed
          </dd>
          <dt>Verified</dt>
          <dd>
            {status.verified_at === undefined ? (
              <StateWord word="never" grade="warning" />
            ) : (
              `${utcText(status.verified_at)} ${status.verified ?? ""}`
            )}
          </dd>
          <dt>Head</dt>
          <dd>
            <code>{status.hash}</code>
          </dd>
        </dl>
      )}
    </Panel>
  );
}

const verifyMsMax = 120_000;

const verifyAsk: DangerAsk = {
  title: "Verify the audit log",
  scope: "every entry, from the first",
  scopeId: undefined,
  facts: ["Every hash and every signature is computed again. Nothing changes."],
  reason: "none",
  code: "none",
  command: "ctl operations audit verify",
  run: reporting(async (_typed, client) => {
    const found = await client.verifyAudit({}, { timeoutMs: verifyMsMax });
    return [
      `VERIFIED ${found.entry_count} entries, trust: ${found.trust_level}.`,
      `${found.unanchored_count} are not anchored outside, ${found.gap_count} gaps.`,
    ];
  }),
};

interface Entry {
  readonly sequence: number;
  readonly timestamp: string;
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
}

const columns: readonly Column<Entry>[] = [
  { id: "sequence", head: "Entry", number: true, by: (one) => one.sequence },
  { id: "at", head: "At", unit: "UTC", by: (one) => one.timestamp, cell: (one) => utcText(one.timestamp) },
  { id: "action", head: "Action", by: (one) => one.action },
  { id: "actor", head: "By", by: (one) => one.actor },
  { id: "subject", head: "About", by: (one) => one.subject_id },
];

const shownMax = 100;

/** An entry is JSON as it was signed; a text that is none is left out and counted. */
export function entriesOf(texts: readonly string[]): readonly Entry[] {
  return texts.flatMap((text) => {
    try {
      const { sequence, timestamp, actor, action, subject_id } = parseJson(text) as Entry;
      return [
        {
          sequence: Number(sequence),
          timestamp: String(timestamp),
          actor: String(actor),
          action: String(action),
          subject_id: String(subject_id),
        },
      ];
    } catch {
      // Counted by whoever shows them.
      return [];
    }
  });
}

export function Entries() {
  const audit = useList("audit");
  const from = audit.data === undefined ? undefined : Math.max(0, audit.data.size - shownMax);
  // In steps, so that the question stays the same for a while.
  const step = from === undefined ? undefined : from - (from % 10);
  const entries = useList("entries", { of: String(step ?? 0) }, step !== undefined);
  const texts = entries.data?.texts ?? [];
  const rows = [...entriesOf(texts)].reverse();
  const unread = texts.length - rows.length;
  return (
    <Panel
      name="entries"
      title="Newest audit entries"
      wide
      reads={[entries]}
      isEmpty={texts.length === 0}
      partial={unread === 0 ? undefined : `${unread} entries could not be read.`}
      empty={<p>The log has no entry yet.</p>}
      explained={[
        {
          figure: "Entry",
          formula: "Its number in the chain; `ctl operations audit proof` proves that it is in there.",
        },
      ]}
    >
      <DataTable
        panel="entries"
        caption="Newest audit entries"
        columns={columns}
        rows={rows}
        id={(one) => String(one.sequence)}
      />
    </Panel>
  );
}
