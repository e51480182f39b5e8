// What a start tells before any part runs: which keys of the configuration are others than at the last start, and where the database is kept as it
// began although the configuration says otherwise.
import { tellConfigurationChanges } from "../adapters/configuration/tell-changes.ts";
import { paperBeginnings, wantsPaperFunds } from "../adapters/paper-broker/paper-beginnings.ts";
import { openStore } from "../adapters/records/open-store.ts";
import { plans } from "../compose.ts";
import type { Log } from "../ports/log.ts";
import { basePorts, type PartInput, type PartName, type Stops } from "./shared.ts";

export async function tellConfiguration(input: PartInput, log: Log): Promise<void> {
  // The same part speaks next time, also when others were left out or added meanwhile.
  const order: readonly PartName[] = ["operations", ...plans.map(({ name }) => name)];
  const speaker = order.find((name) => input.parts.includes(name));
  if (speaker === undefined) return;
  const stops: Stops = [];
  try {
    const base = await basePorts(speaker, input, log);
    stops.push(base.close);
    const database = input.database;
    const opened = openStore({ ...base.ports, database, source: speaker, services: [speaker] });
    stops.push(opened.close);
    const { seeded } = await paperBeginnings(opened.pool, {
      configuration: input.configuration,
      now: base.ports.clock.now(),
    });
    tellKept(seeded, wantsPaperFunds(input.configuration), log);
    const changes = await tellConfigurationChanges(input.configuration, speaker, {
      ...base.ports,
      store: opened.store,
    });
    if (changes > 0) log.info("the configuration is another than at the last start", { changes });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function tellKept(seeded: boolean, wanted: boolean, log: Log): void {
  if (seeded === wanted) return;
  log.info(
    seeded
      ? "the paper funds stay, because this database began with them; --empty and paper.seed count at the first start only"
      : "no paper funds are put in, because this database began without them; another data folder gets them",
  );
}
