// Derives everything again from the entries and compares: the chain and the tree against the checkpoints, the index and the tiles against the
// entries. Entries and checkpoints are never touched; what is derived and missing or wrong can be written anew.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { createTreeHash } from "../../../../core/audit/merkle.ts";
import { tilePath, tileWidthMax } from "../../../../core/audit/tiles.ts";
import type { AuditLog, StoredTile } from "../../../../ports/audit-log.ts";
import { beginsWith, createGrowingTree, type GrowingTree } from "../log/growing-tree.ts";
import { createIndexCheck, type IndexCheck } from "./index-columns.ts";
import { type VerifyPorts, type VerifyReport, verifyLog } from "./verify.ts";

export interface FsckOptions {
  /** Writes anew what is derived and missing or wrong: tiles and the index. */
  readonly rebuild?: boolean;
  readonly signal?: AbortSignal;
  /** Called with how far it has come. */
  readonly progress?: (nextSequence: number) => void;
}

export interface FsckReport {
  /** What verification says; undefined when it says no. */
  readonly verified: VerifyReport | undefined;
  /** The first thing that is wrong with entries or checkpoints; when nothing is, with the index. */
  readonly fault: AuditFault | undefined;
  /** Of how many entries the index says something else than their bytes. */
  readonly indexWrong: number;
  /** Each of them, the first hundred. */
  readonly indexFaults: readonly AuditFault[];
  readonly indexRepaired: number;
  readonly tilesChecked: number;
  /** By their paths; the first hundred. */
  readonly tilesWrong: readonly string[];
  readonly tilesRebuilt: number;
}

const namedMax = 100;
const hashBytes = 32;
/** Event ids that changed places are put right together: all that are found in a usual case. */
const repairedTogether = 10_000;

interface Tiles {
  readonly auditLog: Pick<AuditLog, "readTile" | "putTiles" | "replaceTile" | "head">;
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
  const pass = ports.subjects?.beginPass();
  const verdict = await verifyLog(ports, {
    ...(signal === undefined ? {} : { signal }),
    seen(row, leaf) {
      if (row.sequence < tilesUpTo) growing.append(leaf);
      const entry = index.entry(row);
      if (entry !== undefined) pass?.entry(entry.subject_id, row.sequence);
      return undefined;
    },
    async paged(nextSequence) {
      progress?.(nextSequence);
      await compareTiles(tiles, growing.unsaved().filter(isFull));
      await index.compare(nextSequence);
      return undefined;
    },
  });
  const isBroken = "fault" in verdict;
  // What is derived from a log that does not verify would only make it look like one.
  if (!isBroken) await compareTiles(tiles, growing.unsaved());
  if (!isBroken) pass?.complete();
  const indexRepaired = rebuild && !isBroken ? await repair(ports, index) : 0;
  return {
    verified: isBroken ? undefined : verdict,
    fault: isBroken ? verdict.fault : index.faults()[0],
    indexWrong: index.count(),
    indexFaults: index.faults(),
    indexRepaired,
    tilesChecked: tiles.checked,
    tilesWrong: tiles.wrong,
    tilesRebuilt: tiles.rebuilt,
  };
}

async function repair({ auditLog, writerEpoch }: VerifyPorts, index: IndexCheck): Promise<number> {
  let repaired = 0;
  const rows = index.repairs();
  for (let at = 0; at < rows.length && writerEpoch !== undefined; at += repairedTogether) {
    repaired += await auditLog.repairIndex(writerEpoch(), rows.slice(at, at + repairedTogether));
  }
  return repaired;
}

function isFull({ hashes }: StoredTile): boolean {
  return hashes.length === tileWidthMax * hashBytes;
}

async function compareTiles(it: Tiles, expected: readonly StoredTile[]): Promise<void> {
  for (const tile of expected) {
    it.checked += 1;
    const stored = await it.auditLog.readTile(tile.level, tile.index);
    if (await isGood(it, tile, stored)) continue;
    const { level, index, hashes } = tile;
    if (it.wrong.length < namedMax) it.wrong.push(tilePath({ level, index, width: hashes.length / hashBytes }));
    if (it.rebuild && (await writeAnew(it, tile, stored))) it.rebuilt += 1;
  }
  it.growing.saved(expected);
}

/** A wrong tile may be wider than the right one, which a store would otherwise keep. One that was changed meanwhile is read next time. */
async function writeAnew({ auditLog }: Tiles, tile: StoredTile, stored: Uint8Array | undefined): Promise<boolean> {
  if (stored !== undefined) return auditLog.replaceTile(tile, stored);
  await auditLog.putTiles([tile]);
  return true;
}

/** Whether the stored tile begins with these hashes and has no more than the log has entries for. */
async function isGood(
  { auditLog }: Tiles,
  { level, index, hashes }: StoredTile,
  stored: Uint8Array | undefined,
): Promise<boolean> {
  if (stored === undefined || !beginsWith(stored, hashes)) return false;
  if (stored.length === hashes.length) return true;
  // Asked after the tile was read: entries that came meanwhile may be in it.
  const { size } = await auditLog.head();
  return stored.length / hashBytes <= Math.floor(size / tileWidthMax ** level) - index * tileWidthMax;
}
