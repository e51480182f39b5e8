// What the gateway's routes are handed. They hold no connection themselves: whoever composes the gateway brings these.
import type { Health, HealthDirectory } from "../../ports/health.ts";
import type { Log } from "../../ports/log.ts";

export interface GatewayParts {
  readonly log: Log;
  /** The services that make up this platform; each must be ok before the platform is. */
  readonly expectedServices: readonly string[];
  readonly directory: HealthDirectory;
  /** The gateway's own preconditions, for example that the credentials file is written. */
  ownHealth(): Health;
  /** Every service's metrics as the registry's JSON; undefined for a service that did not answer. */
  collectMetrics(): Promise<Readonly<Record<string, string | undefined>>>;
  /** The gateway's own, in the same form. */
  ownMetrics(): Promise<string>;
}
