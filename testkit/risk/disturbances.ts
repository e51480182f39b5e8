// What is done to a running platform from outside while a test looks, and taken back afterwards.
import { renameSync } from "node:fs";
import { type ConnectionTarget, openClient } from "../../adapters/postgres/connection.ts";
import { quietLog } from "../quiet-log.ts";

export async function withFolderAway(folder: string, work: () => Promise<void>): Promise<void> {
  const away = `${folder}-away`;
  renameSync(folder, away);
  try {
    await work();
  } finally {
    renameSync(away, folder);
  }
}

export async function withPlantedKey(owner: ConnectionTarget, work: () => Promise<void>): Promise<void> {
  const planter = await openClient(owner, { log: quietLog, applicationName: "somebody with every right" });
  await planter.query("insert into identity_key (kid, public_jwk, created_us) values ('planted', '{}', 1)");
  try {
    await work();
  } finally {
    await planter.query("delete from identity_key where kid = 'planted'");
    await planter.end();
  }
}
