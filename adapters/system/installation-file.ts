// `<data dir>/installation-id`: which installation the folder belongs to, as the database of it says.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";

export interface InstallationFile {
  readonly folder: string;
  /** Undefined for a folder that belongs to none yet. */
  read(): string | undefined;
  write(id: string): void;
}

export const installationForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function installationFile(folder: string): InstallationFile {
  const path = join(folder, "installation-id");
  return {
    folder,
    read: () => {
      let text: string;
      try {
        text = readFileSync(path, "utf8").trim();
      } catch (thrown) {
        if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
        throw thrown;
      }
      if (installationForm.test(text)) return text;
      const sentence = `${path} holds no installation's id. Restore it, or remove it and name the id: npm start -- --adopt ID`;
      throw new Fault("DATABASE_FOREIGN", sentence, { retry: "never" });
    },
    write: (id) => {
      const fresh = `${path}.${process.pid}.tmp`;
      writeFileSync(fresh, `${id}\n`, { mode: 0o600 });
      renameSync(fresh, path);
    },
  };
}
