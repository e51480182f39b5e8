// Derives everything again from the entries and compares: the chain and the tree against the checkpoints, the index by subject and the tiles against
// the entries. Entries and checkpoints are never touched; tiles that are missing or wrong can be written anew.
import { readEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { createTreeHash } from "../../../../core/audit/merkle.ts";
import { tilePath, tileWidthMax } from "../../../../core/audit/tiles.ts";
import type { AuditLog, StoredTile } from "../../../../ports/audit-log.ts";
import { beginsWith, createGrowingTree, type GrowingTree } from "../log/growing-tree.ts";
import { type VerifyPorts, type VerifyReport, verifyLog } from "./verify.ts";

export interface FsckOptions {
  /** Writes tiles that are missing or wrong anew. */
  readonly rebuild?: boolean;
  readonly signal?: AbortSignal;
  /** Told how far it has come. */
  readonly progress?: (nextSequence: number) => void;
}

export interface FsckReport {
  /** What verification says; undefined when it says no. */
  readonly verified: VerifyReport | undefined;
  /** The first thing that is wrong with entries, checkpoints or the index. */
  readonly fault: AuditFault | undefined;
  readonly tilesChecked: number;
  /** By their paths; the first hundred. */
  readonly tilesWrong: readonly string[];
  readonly tilesRebuilt: number;
}

const namedMax = 100;
const hashBytes = 32;

interface Tiles {
  readonly auditLog: Pick<AuditLog, "readTile" | "putTiles" | "head">;
  readonly growing: GrowingTree;
  readonly rebuild: boolean;
  readonly wrong: string[];
  checked: number;
  rebuilt: number;
}

export async function fsckLog(ports: VerifyPorts, options: FsckOptions = {}): Promise<FsckReport> {
  const { rebuild = false, signal, progress } = options;
  const { auditLog } = ports;
  // Tiles are stored with the checkpoint; what came after it may not be there yet, unless somebody asks for it.
  const tilesUpTo = rebuild ? Number.MAX_SAFE_INTEGER : ((await auditLog.newestCheckpoint())?.size ?? 0);
  const growing = createGrowingTree(createTreeHash(ports.sha256));
  const tiles: Tiles = { auditLog, growing, rebuild, wrong: [], checked: 0, rebuilt: 0 };
  const index = createIndexCheck(auditLog);
  const verdict = await verifyLog(ports, {
    ...(signal === undefined ? {} : { signal }),
    seen(row, leaf) {
      if (row.sequence < tilesUpTo) growing.append(leaf);
      index.entry(row.text);
      return undefined;
    },
    async paged(nextSequence) {
      progress?.(nextSequence);
      await compareTiles(tiles, growing.unsaved().filter(isFull));
      return index.compare(nextSequence);
    },
  });
  const isBroken = "fault" in verdict;
  // Tiles of a log that does not verify would only make it look like one.
  if (!isBroken) await compareTiles(tiles, growing.unsaved());
  return {
    verified: isBroken ? undefined : verdict,
    fault: isBroken ? verdict.fault : undefined,
    tilesChecked: tiles.checked,
    tilesWrong: tiles.wrong,
    tilesRebuilt: tiles.rebuilt,
  };
}

function isFull({ hashes }: StoredTile): boolean {
  return hashes.length === tileWidthMax * hashBytes;
}

async function compareTiles(it: Tiles, expected: readonly StoredTile[]): Promise<void> {
  const wrong: StoredTile[] = [];
  for (const tile of expected) {
    it.checked += 1;
    if (!(await isStored(it, tile))) wrong.push(tile);
  }
  for (const { level, index, hashes } of wrong) {
    if (it.wrong.length < namedMax) it.wrong.push(tilePath({ level, index, width: hashes.length / hashBytes }));
  }
  if (it.rebuild && wrong.length > 0) {
    await it.auditLog.putTiles(wrong);
    // A store keeps the wider of two; what it did not take is not told as done.
    for (const tile of wrong) if (await isStored(it, tile)) it.rebuilt += 1;
  }
  it.growing.saved(expected);
}

/** Whether the stored tile begins with these hashes and has no more than the log has entries for. */
async function isStored({ auditLog }: Tiles, { level, index, hashes }: StoredTile): Promise<boolean> {
  const stored = await auditLog.readTile(level, index);
  if (stored === undefined || !beginsWith(stored, hashes)) return false;
  if (stored.length === hashes.length) return true;
  // Asked after the tile was read: entries that came meanwhile may be in it.
  const { size } = await auditLog.head();
  return stored.length / hashBytes <= Math.floor(size / tileWidthMax ** level) - index * tileWidthMax;
}

interface IndexCheck {
  entry(text: Uint8Array): void;
  /** Compares what was shown since the last time with the index. */
  compare(nextSequence: number): Promise<AuditFault | undefined>;
}

/** The index against the entries, page by page. */
export function createIndexCheck(auditLog: Pick<AuditLog, "readIndex">): IndexCheck {
  let shown: { readonly subjectId: string; readonly action: string }[] = [];
  return {
    entry(text) {
      const record = readEntry(text);
      shown.push({ subjectId: record?.subject_id ?? "", action: record?.action ?? "" });
    },
    async compare(nextSequence) {
      const from = nextSequence - shown.length;
      const entries = shown;
      shown = [];
      const rows = await auditLog.readIndex(from, entries.length);
      for (const [place, { subjectId, action }] of entries.entries()) {
        const row = rows[place];
        const sequence = from + place;
        if (row?.sequence === sequence && row.subjectId === subjectId && row.action === action) continue;
        const actual = row?.sequence === sequence ? `${row.action} about ${row.subjectId}` : "none";
        return { code: "INDEX_MISMATCH", sequence, expected: `${action} about ${subjectId}`, actual };
      }
      return undefined;
    },
  };
}
