// The books, put down whole every so many entries and at a clean end, so that a start need not read the journal from its beginning. A
// snapshot is taken while nothing is undecided: it holds exactly what the journal says up to one entry.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { GroupCommit } from "./group-commit.ts";
import { isEntry, newestEntry } from "./journal-end.ts";

interface SnapshotsOptions {
  readonly ports: Pick<ServicePorts, "riskStore" | "clock" | "log" | "crash">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  /** What moved the books and is not in the journal: orders that the risk officer still has, fills that could not be written. */
  readonly unwritten: () => number;
  readonly everyEntries: number;
  /** The last entry that was read at the start, and how many there were since the snapshot before. */
  readonly last: bigint;
  readonly entriesSince: number;
}

interface Snapshots {
  /** So many entries became durable. */
  counted(entryCount: number): void;
  /** Takes one now if there is anything new; for a clean end. */
  takeLast(): Promise<void>;
}

const encoder = new TextEncoder();

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { ports, engine, commit, everyEntries } = options;
  let { last, entriesSince } = options;
  let due = everyEntries;
  let taking: Promise<void> | undefined;

  async function take(): Promise<void> {
    const since = entriesSince;
    const taken = await commit.quietly(async () => {
      // What the journal does not have must not outlive this process.
      if (options.unwritten() > 0 || commit.leftOpen()) return undefined;
      const content = encoder.encode(JSON.stringify(engine.snapshot()));
      const newest = await newestEntry(ports.riskStore, last);
      const own = commit.last();
      if (own !== undefined && (newest === undefined || !isEntry(newest, own))) return undefined;
      return { through: newest?.id ?? last, takenAt: ports.clock.now(), content };
    });
    if (taken === undefined) {
      // Another time, but not with the very next entry.
      due = entriesSince + Math.ceil(everyEntries / 10);
      return;
    }
    await ports.riskStore.saveSnapshot(taken);
    last = taken.through;
    entriesSince -= since;
    due = everyEntries;
    ports.log.info("the books were put down", { through: String(taken.through), bytes: taken.content.length });
  }

  async function tryToTake(): Promise<void> {
    try {
      await take();
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      due = entriesSince + Math.ceil(everyEntries / 10);
      ports.log.warn("the books could not be put down", { error: messageOf(thrown) });
    } finally {
      taking = undefined;
    }
  }

  return {
    counted(entryCount) {
      entriesSince += entryCount;
      if (entriesSince >= due && commit.state() === "open") taking ??= tryToTake();
    },
    async takeLast() {
      await taking;
      if (entriesSince > 0 && commit.state() !== "taken over") await tryToTake();
    },
  };
}
