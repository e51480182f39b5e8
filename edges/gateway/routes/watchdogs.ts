// A watchdog's configuration, changed under the version that was read.
import type { SetWatchdogConfigRequest, WatchdogConfig } from "../../../contracts/src/generated/svc/v1/watchdogs.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askDeclared, declared, declaredBody, declaredMessage } from "../declared/route.ts";
import { conflictTagged, namedVersion } from "../if-match.ts";
import type { GatewayParts } from "../parts.ts";

/** PUT /v1/operations/watchdogs/:watchdog/config: keys and values; with If-Match only on top of the version that it names. */
export function watchdogConfigSet(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("setWatchdogConfig"),
    handle: async (request) => {
      const named = namedVersion(request);
      const message = {
        ...declaredMessage<SetWatchdogConfigRequest>("setWatchdogConfig", request),
        ...(named === undefined ? {} : { expected_version: named }),
      };
      const outcome = await askDeclared<WatchdogConfig>("setWatchdogConfig", parts, request, message);
      const answer = answerTo(outcome, 200, (config) => declaredBody("setWatchdogConfig", config));
      return conflictTagged(named, "WATCHDOG_VERSION_CONFLICT", answer);
    },
  };
}
