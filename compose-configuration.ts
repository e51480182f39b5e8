// What a start tells before any part runs: which keys of the configuration are others than at the last start.
import { tellConfigurationChanges } from "./adapters/configuration/tell-changes.ts";
import { openStore } from "./adapters/open-store.ts";
import { plans } from "./compose.ts";
import { basePorts, type PartInput, type PartName, type Stops } from "./compose-shared.ts";
import type { Log } from "./ports/log.ts";

export async function tellConfiguration(input: PartInput, log: Log): Promise<void> {
  // The same part speaks next time, also when others were left out or added meanwhile.
  const order: readonly PartName[] = ["operations", ...plans.map(({ name }) => name)];
  const speaker = order.find((name) => input.parts.includes(name));
  if (speaker === undefined) return;
  const stops: Stops = [];
  try {
    const base = await basePorts(speaker, input, log);
    stops.push(base.close);
    const database = input.database.app;
    const opened = openStore({ ...base.ports, database, source: speaker, services: [speaker] });
    stops.push(opened.close);
    const changes = await tellConfigurationChanges(input.configuration, speaker, {
      ...base.ports,
      store: opened.store,
    });
    if (changes > 0) log.info("the configuration is another than at the last start", { changes });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
