// Finds secrets that changed without being reported: written while the platform was down, by somebody with access to the secrets store, or by a process
// that died right after. Every version of a secret that the audit log does not know is reported as noticed; its value is never read.
//
//  1. A version is reported only when it was missing in two looks, so that an event that is still on its way comes first.
//  2. A version is reported at most once in a life of this process; in the log it is then known.
import { foreignActor } from "../../../../contracts/src/events/event.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { readEntry } from "../../../../core/audit/entry.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import { type Loop, startLoop } from "../../../shared/loop.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import { fitSubjectId } from "../log/event-data.ts";
import { auditActor, subjectPrevious } from "../log/reserved.ts";

interface SecretWatchPorts extends Pick<ServicePorts, "clock" | "timers" | "log" | "crash" | "store" | "secrets"> {
  readonly auditLog: Pick<AuditLog, "newestOf" | "read">;
  readonly sha256OfBytes: Sha256OfBytes;
  /** The folder of everything of ours: `secret/<prefix>`. */
  readonly folder: string;
}

/** The second look comes soon after a start, the others now and then. */
const lookAfterMs = { first: 10_000, second: 30_000, later: 300_000 };
/** Entries about one path that are looked through for the newest change. */
const stepsMax = 100;
const secretsMax = 10_000;
const changedAction = "secret.changed";

export function startSecretWatch(ports: SecretWatchPorts): Loop {
  const reported = new Set<string>();
  let missing: ReadonlySet<string> = new Set();
  let isSecondNext = true;

  async function look(ending: AbortSignal): Promise<void> {
    const paths = (await ports.secrets.list(ports.folder)).slice(0, secretsMax);
    const now = new Set<string>();
    for (const path of paths) {
      if (ending.aborted) return;
      const version = (await ports.secrets.get(path))?.version;
      if (version === undefined || version <= (await knownVersion(ports, path))) continue;
      const one = `${path}@${version}`;
      now.add(one);
      if (!missing.has(one) || reported.has(one)) continue;
      await tell(path, version);
      reported.add(one);
    }
    missing = now;
  }

  async function tell(path: string, version: number): Promise<void> {
    const changed = { path, version, actor: auditActor, noticed: true as const, at: format(ports.clock.now()) };
    await ports.store.transact("secret.changed", (unit) => unit.events.publish(subjects.secretChanged, changed));
    ports.log.warn("a secret has a version that nobody reported", { path, version });
  }

  async function run(ending: AbortSignal): Promise<number> {
    const nextMs = isSecondNext ? lookAfterMs.second : lookAfterMs.later;
    await look(ending);
    isSecondNext = false;
    return nextMs;
  }

  return startLoop({
    ports,
    what: {
      failing: "the secrets could not be compared with the audit log",
      working: "the secrets can be compared with the audit log again",
    },
    firstAfterMs: lookAfterMs.first,
    run,
    troubleMsMin: lookAfterMs.second,
    troubleMsMax: lookAfterMs.later,
  });
}

/** The newest version that the log tells of; 0 when it tells of none. */
async function knownVersion({ auditLog, sha256OfBytes }: SecretWatchPorts, path: string): Promise<number> {
  const subjectId = fitSubjectId(path, sha256OfBytes);
  let sequence: unknown = (await auditLog.newestOf([subjectId])).get(subjectId);
  for (let steps = 0; typeof sequence === "number" && steps < stepsMax; steps += 1) {
    const [row] = await auditLog.read(sequence, 1);
    const entry = row === undefined ? undefined : readEntry(row.text);
    // A stranger on the bus may say what they like about our secrets.
    const isOurs = entry?.action === changedAction && entry.actor !== foreignActor;
    const payload = isOurs ? entry.data["payload"] : undefined;
    const version = (payload as { readonly version?: unknown } | undefined)?.version;
    if (typeof version === "number") return version;
    sequence = entry?.data[subjectPrevious];
  }
  return 0;
}
