// How the gateway has the services started anew: it tells the record first, then asks the supervisor, which alone can do it.

import { Fault } from "../contracts/src/fault.ts";
import { format } from "../contracts/src/instant.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Restarts } from "../edges/gateway/parts.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import { services } from "../services/index.ts";
import type { RestartedService } from "../supervisor/supervisor.ts";
import type { AskRunner } from "./shared.ts";

/** Reported before it is done: the operator who restarts the log's keeper stands in the log. */
export function restartsOf({
  store,
  clock,
  ask,
}: {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly ask: AskRunner | undefined;
}): Restarts {
  return {
    async restart(requestedBy, reason, reported) {
      if (ask === undefined) {
        const words = "This platform runs in one process: stop it, and start it again.";
        throw new Fault("UNIMPLEMENTED", words, { retry: "never" });
      }
      const record = { requested_by: requestedBy, reason, at: format(clock.now()) };
      const auditId = await store.transact("platform.restart", (unit) =>
        unit.events.publish(subjects.restartRequested, record),
      );
      reported(auditId);
      const done = (await ask({
        request: "restart",
        parts: services.map(({ name }) => name),
      })) as readonly RestartedService[];
      return { auditId, parts: done };
    },
  };
}
