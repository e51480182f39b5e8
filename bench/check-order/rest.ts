// The rest of the platform beside the server under test, as a user would start it: operations, which hears every decision, treasury, order
// management, research and the gateway, each a process of its own, on the same database.
import { fileURLToPath } from "node:url";
import type { ConnectionTarget, DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { startPlatform } from "../../testkit/platform.ts";

export interface Rest {
  stop(): Promise<void>;
}

export async function startRest(database: DatabaseAddress): Promise<Rest> {
  const platform = startPlatform({
    funds: "as configured",
    // From the sources and from the bundle the project lies two folders up.
    root: fileURLToPath(new URL("../../", import.meta.url)),
    environment: {
      PORTCULLIS_DATABASE_URL: urlOf(database.owner),
      PORTCULLIS_DATABASE_APP_URL: urlOf(database.app),
      PORTCULLIS_SERVICES: "operations,treasury,oms,research,gateway",
      PORTCULLIS_PAPER_SEED: "never",
    },
  });
  try {
    await platform.ready();
  } catch (thrown) {
    await platform.end();
    throw thrown;
  }
  return { stop: () => platform.end() };
}

function urlOf({ host, port, user, database }: ConnectionTarget): string {
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
