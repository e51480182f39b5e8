// What the audit log holds about persons, put together: sealing on the way in, opening for those who may read it, and erasing.
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import type { EntryRecord } from "../../../../core/audit/entry.ts";
import type { Log } from "../../../../ports/log.ts";
import type { AppendRequest } from "../log/append-request.ts";
import type { Appended } from "../log/sequencer.ts";
import { createErasure, type Erasure } from "./erasure.ts";
import { createSealing, type Sealing, type SealingPorts } from "./sealing.ts";

interface PersonalDataPorts extends Omit<SealingPorts, "masterKeyPath"> {
  readonly log: Log;
  /** The master key lies beside it. */
  readonly signingKeyPath: string;
  readonly append: (request: AppendRequest) => Promise<Appended>;
  readonly onDefect: (defect: Defect) => void;
}

export interface PersonalData extends Pick<Sealing, "prepare">, Pick<Erasure, "erase"> {
  /** The same entries with sealed values opened, or with a word in their place that says why not. Their hashes are those of the sealed form. */
  unseal(entries: readonly EntryRecord[]): Promise<readonly EntryRecord[]>;
}

export function openPersonalData(ports: PersonalDataPorts): PersonalData {
  const masterKeyPath = ports.signingKeyPath.replace(/[^/]*$/, "subject-master-key");
  const sealing = createSealing({ ...ports, masterKeyPath });
  const { erase, recover } = createErasure({ ...ports, sealing });
  recover().catch((thrown: unknown) => {
    if (thrown instanceof Defect) ports.onDefect(thrown);
    else ports.log.warn("destroyed subject keys could not be reported yet", { reason: messageOf(thrown) });
  });
  return {
    prepare: sealing.prepare,
    erase,
    unseal: (entries) => Promise.all(entries.map(async (entry) => ({ ...entry, data: await sealing.unseal(entry) }))),
  };
}
