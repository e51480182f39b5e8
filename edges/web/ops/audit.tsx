// The audit log: how long it is, how far it is proven, a verification from here, and its newest entries.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { useDeskSearch, useRange } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { failureOf } from "../model/panel-state.ts";
import { isWithin } from "../model/range.ts";
import { ToReplay } from "../panels/at.tsx";
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
            {status.witnesses_needed === 0
              ? "no witness is asked for: only this platform vouches"
              : `${status.witnessed_size.toLocaleString("en-US")} by ${status.witnesses.length} of ${status.witnesses_needed} needed`}
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
  run: async (_typed, { client, report }) => {
    const found = await client.verifyAudit({}, { timeoutMs: verifyMsMax }).catch((thrown: unknown) => {
      const failure = failureOf(thrown);
      if (failure?.code !== "CHAIN_INTEGRITY") throw thrown;
      return failure;
    });
    // That it does not verify is an answer, and the gravest one.
    if ("detail" in found) {
      const next = "Copy the database first: it is evidence. What next is in docs/audit.md, When it stands still.";
      return report({ lines: [`BROKEN: ${found.detail}`, next], tone: "bad", done: true });
    }
    const lines = [
      `VERIFIED ${found.entry_count} entries, trust: ${found.trust_level}.`,
      `${found.unanchored_count} are not anchored outside, ${found.gap_count} gaps.`,
    ];
    report({ lines, tone: "good", done: true });
  },
};

interface Entry {
  readonly sequence: number;
  readonly timestamp: string;
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
  /** What it says that it is about; an entry may be about no fund. */
  readonly fund: string | undefined;
  readonly symbol: string | undefined;
}

const columns: readonly Column<Entry>[] = [
  { id: "sequence", head: "Entry", number: true, by: (one) => one.sequence },
  {
    id: "at",
    head: "At",
    unit: "UTC",
    by: (one) => one.timestamp,
    cell: (one) => <ToReplay text={one.timestamp} shown={utcText(one.timestamp)} fund={one.fund} symbol={one.symbol} />,
  },
  { id: "action", head: "Action", by: (one) => one.action },
  { id: "actor", head: "By", by: (one) => one.actor },
  { id: "subject", head: "About", by: (one) => one.subject_id },
];

/** An entry is JSON as it was signed; a text that is none is left out and counted. */
function entriesOf(texts: readonly string[]): readonly Entry[] {
  return texts.flatMap((text) => {
    try {
      const { sequence, timestamp, actor, action, subject_id, data } = parseJson(text) as Entry & { data?: unknown };
      return [
        {
          sequence: Number(sequence),
          timestamp: String(timestamp),
          actor: String(actor),
          action: String(action),
          subject_id: String(subject_id),
          fund: textIn(data, "fund_id"),
          symbol: textIn(data, "symbol"),
        },
      ];
    } catch {
      // Counted by whoever shows them.
      return [];
    }
  });
}

/** Of an event that is an order's, in the order. */
function textIn(data: unknown, name: string): string | undefined {
  const found = data as Readonly<Record<string, unknown>> | null | undefined;
  const value = found?.[name] ?? (found?.["order"] as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === "string" ? value : undefined;
}

export function Entries() {
  const search = useDeskSearch();
  const range = useRange();
  const isSearched = search.q !== undefined || search.from !== undefined || search.to !== undefined;
  const entries = useList("entries", isSearched ? { of: "many" } : {});
  const texts = entries.data?.texts ?? [];
  const read = entriesOf(texts);
  const rows = read.filter(({ timestamp }) => isWithin(timestamp, range)).reverse();
  const unread = texts.length - read.length;
  return (
    <Panel
      name="entries"
      title="Newest audit entries"
      wide
      reads={[entries]}
      isEmpty={rows.length === 0}
      partial={unread === 0 ? undefined : `${unread} entries could not be read.`}
      empty={
        <p>
          None of the newest {texts.length} entries is of this range. `ctl operations audit show` reads further back.
        </p>
      }
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
