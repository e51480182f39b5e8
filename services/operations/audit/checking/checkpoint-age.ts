// Complains when entries of the audit log stay without a checkpoint: each is signed within a second, so thirty of those are a signer that does not sign.
// What nobody signed can be cut off unseen. Since when is kept over restarts.
import { format, type Instant, millisecondsBetween } from "../../../../contracts/src/instant.ts";
import type { Health } from "../../../../ports/health.ts";
import { startLoop } from "../../../shared/loop.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import { createFirstSeen } from "../../first-seen.ts";
import type { WorkerAlarms } from "../../worker-alarms.ts";
import { signEveryMs } from "../log/checkpoints.ts";
import type { AuditStatus } from "../queries/audit-status.ts";

const lookEveryMs = 5_000;
/** So many times the time between two checkpoints. */
const intervalsMax = 30;
export const unsignedMsMax = intervalsMax * signEveryMs;

interface CheckpointAgeOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash">;
  readonly alarms: WorkerAlarms;
  readonly status: () => Pick<AuditStatus, "origin" | "size" | "signedSize" | "complaint">;
}

interface CheckpointAge {
  health(): Health;
  stop(): Promise<void>;
}

export function watchCheckpointAge({ ports, alarms, status }: CheckpointAgeOptions): CheckpointAge {
  const firstSeen = createFirstSeen(ports, "audit unsigned");
  let seen: string | undefined;
  let complaint: string | undefined;

  async function look(): Promise<number> {
    const at = ports.clock.now();
    const { origin, size, signedSize, complaint: why } = status();
    // Another checkpoint since is another wait.
    const unsigned = size > signedSize ? `${origin} ${signedSize}` : undefined;
    const stands = unsigned !== undefined && (unsigned === seen || seen === undefined);
    const since = await firstSeen.note(stands ? [unsigned] : [], at);
    seen = unsigned ?? "";
    judge(since.values().next().value, at, size - signedSize, why);
    if (complaint === undefined) alarms.clear("AUDIT_CHECKPOINT_OLD", "audit");
    else await alarms.raise("AUDIT_CHECKPOINT_OLD", "audit", complaint, { unsigned: size - signedSize });
    return lookEveryMs;
  }

  function judge(since: Instant | undefined, at: Instant, count: number, why: string | undefined): void {
    const isOld = since !== undefined && millisecondsBetween(since, at) > unsignedMsMax;
    const reason = why === undefined ? "" : ` ${why}`;
    complaint = isOld
      ? `No checkpoint covers the newest ${count} entries of the audit log since ${format(since)}.${reason}`
      : undefined;
  }

  const loop = startLoop({ ports, what: "the watch over checkpoints", firstAfterMs: lookEveryMs, run: look });
  return {
    health: () => (complaint === undefined ? { status: "ok" } : { status: "ok", complaint }),
    stop: () => loop.stop(),
  };
}
