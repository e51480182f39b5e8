// What befalls the audit log of a simulated platform before the faults end: no entry can be written any more, the newest entries are gone, or the log
// is cut off with its head. People go on trading meanwhile; then it is put right, and everything has to come back by itself.

import { readEntry } from "../core/audit/entry.ts";
import type { AuditTables } from "../testkit/memory/audit-tables.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import type { Promises } from "./evidence.ts";
import type { Faults } from "./faults.ts";
import { one, trader } from "./people.ts";
import type { Platform } from "./platform.ts";
import { auditBehindMs } from "./sim-settings.ts";

interface DamageParts {
  readonly time: Scheduler;
  readonly platform: Platform;
  readonly faults: Pick<Faults, "stopEntries">;
  readonly promises: Promises;
  /** Checks the invariants after a step. */
  readonly step: () => Promise<boolean>;
}

const kinds = ["stopped", "lost", "lost and restarted", "cut"] as const;
type Kind = (typeof kinds)[number];
const lostMax = 3;
/** Long enough that every approval of new risk is one too many, and that some are asked for. */
const quietMs = auditBehindMs + 1_000;
const tradedMs = 400;

/** One run in so many. */
export const damagedOneIn = 10;

/** Resolves when the log is as it was, but for entries that could not be written: those may be held up for a while longer. */
export async function damageLog({ time, platform, faults, promises, step }: DamageParts): Promise<void> {
  const prng = time.prng.fork("damage");
  const kind = one(prng, kinds);
  const repair = damage(kind, { platform, faults, nowUs: time.clock.now(), lost: 1 + prng.below(lostMax) });
  if (kind === "lost and restarted") platform.crash("operations");
  const begunMs = time.elapsedMs();
  let isOver = false;
  const quiet = time.timers.sleep(quietMs);
  void quiet.then(() => {
    for (const name of ["c", "d"]) void trader({ time, platform, promises, isStopping: () => isOver }, name, 45);
  });
  while (time.elapsedMs() < begunMs + quietMs + tradedMs && (await step()));
  isOver = true;
  const heldUpMs = kind === "stopped" && prng.chance(0.5) ? prng.below(800) : 0;
  if (heldUpMs === 0) repair();
  else time.timers.after(heldUpMs, repair);
}

interface Damage {
  readonly platform: Platform;
  readonly faults: Pick<Faults, "stopEntries">;
  readonly nowUs: number;
  readonly lost: number;
}

/** What it gives puts it right. */
function damage(kind: Kind, { platform, faults, nowUs, lost }: Damage): () => void {
  if (kind === "stopped") {
    faults.stopEntries(true);
    return () => faults.stopEntries(false);
  }
  const { audit, damage: reported } = platform;
  reported.sinceUs = nowUs;
  const { head } = audit;
  const from = Math.max(1, audit.rows.length - lost);
  // Where each event stands is known as before, so that what is handed over once more does not become a second entry.
  const rows = audit.rows.splice(from);
  if (kind === "cut") audit.head = headAt(audit);
  return () => {
    audit.rows.splice(from, 0, ...rows);
    if (kind === "cut") audit.head = head;
    reported.sinceUs = undefined;
  };
}

function headAt({ rows }: AuditTables): AuditTables["head"] {
  const last = rows.at(-1);
  const record = last === undefined ? undefined : readEntry(last.text);
  return { size: rows.length, hash: record?.hash ?? "", timestamp: record?.timestamp ?? "" };
}
