// Where the journal ends. Numbers have holes, because the outbox counts with the same sequence, so the newest entry is felt for with
// single rows: in doubling strides until there is none, then back by halves.
import type { JournalEntry, JournalRow, RiskStore } from "../../../ports/risk-store.ts";

/** The newest entry after that number; undefined when there is none. Nobody may append meanwhile. */
export async function newestEntry(
  riskStore: Pick<RiskStore, "entries">,
  after: bigint,
): Promise<JournalRow | undefined> {
  const firstFrom = async (id: bigint): Promise<JournalRow | undefined> => (await riskStore.entries(id - 1n, 1))[0];
  let newest: JournalRow | undefined;
  let low = after;
  let stride = 1n;
  for (let row = await firstFrom(low + stride); row !== undefined; row = await firstFrom(low + stride)) {
    newest = row;
    low = row.id;
    stride *= 2n;
  }
  let high = low + stride;
  while (high - low > 1n) {
    const middle = low + (high - low) / 2n;
    const row = await firstFrom(middle);
    if (row === undefined) high = middle;
    else {
      newest = row;
      low = row.id;
    }
  }
  return newest;
}

/** Whether a row is this entry, read back. */
export function isEntry(row: JournalRow, entry: JournalEntry): boolean {
  if (row.kind !== entry.kind || row.at !== entry.at) return false;
  if (entry.kind === "decision") return row.decisionId === entry.decisionId;
  return (
    row.payload.length === entry.payload.length && row.payload.every((byte, place) => byte === entry.payload[place])
  );
}
