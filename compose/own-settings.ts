// The settings as a service's process gets them: without what is secret and another's. The owner's login never leaves the start; a key that is secret and has no
// line here goes to nobody, and a test says so.

import type { Configuration } from "../adapters/configuration/schema.ts";
import { serverOf } from "../adapters/configuration/value-forms.ts";
import { platformServices, type StoreProcess } from "../contracts/src/platform-services.ts";

const all: readonly StoreProcess[] = platformServices;

/** Every key that is secret or may carry credentials, and who needs it. */
export const secretReaders: Readonly<Record<string, readonly StoreProcess[]>> = {
  "database.url": [],
  "database.app_url": [],
  "database.logins.riskengine": [],
  "database.logins.operations": [],
  "database.logins.oms": [],
  "database.logins.treasury": [],
  "database.logins.research": [],
  "database.logins.gateway": [],
  "database.logins.bots": [],
  "bus.url": all,
  "secrets.passphrase": all,
  "secrets.vault.addr": all,
  "secrets.vault.token": all,
  "secrets.vault.role_id": all,
  "secrets.vault.secret_id": all,
  "telemetry.otlp_endpoint": all,
  // Operations asks whether the provider answers and accepts the key; the gateway has the words of post-mortems written, the
  // repository bot has issues and changes read.
  "language_model.api_key": ["riskengine", "operations", "gateway", "bots"],
  "audit.anchor_database_url": ["operations"],
};

export function settingsFor(services: readonly StoreProcess[], configuration: Configuration): Configuration {
  const copy = structuredClone(configuration) as Record<string, unknown>;
  for (const [path, readers] of Object.entries(secretReaders)) {
    if (!services.some((service) => readers.includes(service))) remove(copy, path.split("."));
  }
  const own = copy as unknown as Configuration;
  const { url } = configuration.database;
  // That there is a server of the user's is no secret, and decides whether paper funds are put in.
  return url === undefined ? own : { ...own, database: { ...own.database, url: serverOf(url) } };
}

function remove(tree: Record<string, unknown>, path: readonly string[]): void {
  const [step = "", ...rest] = path;
  const inner = tree[step];
  if (rest.length === 0) delete tree[step];
  else if (typeof inner === "object" && inner !== null) remove(inner as Record<string, unknown>, rest);
}
