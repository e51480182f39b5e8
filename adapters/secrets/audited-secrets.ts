// Secrets whose every change is audited: path and version, never the value. The secret is written first, because it cannot be taken back; when the
// process dies in between or the store is out of reach, operations notices later that a version stands there of which the audit log does not
// know (services/operations/audit/intake/secret-watch.ts).
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Secret, Secrets } from "../../ports/secrets.ts";
import type { Store } from "../../ports/store.ts";

interface AuditedSecretsPorts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly log: Log;
  /** The process's name; its services act here. */
  readonly source: string;
}

export function auditedSecrets(secrets: Secrets, ports: AuditedSecretsPorts): Secrets {
  async function audited(writing: Promise<Secret>, actor = `service:${ports.source}`): Promise<Secret> {
    const secret = await writing;
    const { path, version } = secret;
    const at = format(ports.clock.now());
    const changed = { path, version, actor, at };
    try {
      await ports.store.transact("secret.changed", (unit) => unit.events.publish(subjects.secretChanged, changed));
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      // The caller's secret is written, and the caller must not believe otherwise.
      ports.log.warn("a secret was written and could not be audited; operations will notice", {
        path,
        version,
        reason: messageOf(thrown),
      });
    }
    return secret;
  }

  return {
    ...secrets,
    put: (path, value, options) => audited(secrets.put(path, value, options), options?.actor),
    rotate: (path, next) => audited(secrets.rotate(path, next)),
  };
}
