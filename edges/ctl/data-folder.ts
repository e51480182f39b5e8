// The platform's data folder as seen from outside: where it is, what run.json says is running, and the development operators' credentials.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { Refusal } from "./failure.ts";
import { isAlive } from "./login/profile-lock.ts";
import type { Environment } from "./terminal.ts";
import { clean } from "./text/text.ts";

/** What ctl reads of run.json; the platform writes more. */
export interface RunFacts {
  readonly pid: number;
  readonly started_at: string;
  readonly data_dir: string;
  readonly addresses: Readonly<Record<string, string>>;
  /** Under which addresses people reach it; a platform that is older does not say. */
  readonly urls?: Readonly<Record<string, string>> | undefined;
}

export interface Place {
  readonly environment: Environment;
  /** Where ctl was called. */
  readonly folder: string;
  /** Undefined for a ctl that is installed without the platform. */
  readonly repository: string | undefined;
}

export const dataFolderVariable = "PORTCULLIS_DATA_DIR";

/** Where a platform of this checkout keeps its data: the environment's folder, else the one here, else the one of the checkout. */
export function dataFolders({ environment, folder, repository }: Place): readonly string[] {
  const named = environment[dataFolderVariable];
  if (named !== undefined && named !== "") return [resolve(folder, named)];
  return [...new Set([folder, repository ?? folder].map((parent) => resolve(parent, ".portcullis")))];
}

/** What run.json says, if it is there and readable; whether that process lives is another question. */
export function readRunFacts(dataFolder: string): RunFacts | undefined {
  const value = readJson(join(dataFolder, "run.json"));
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, started_at, data_dir, addresses, urls } = value as Partial<RunFacts>;
  if (typeof pid !== "number" || typeof addresses !== "object" || addresses === null) return undefined;
  return { pid, started_at: String(started_at ?? ""), data_dir: String(data_dir ?? dataFolder), addresses, urls };
}

/** The platform that runs here, or undefined. A process id that was given away to another program does not count. */
export function runningPlatform(place: Place): RunFacts | undefined {
  for (const dataFolder of dataFolders(place)) {
    const facts = readRunFacts(dataFolder);
    if (facts !== undefined && isAlive(facts.pid) && looksLikePlatform(facts.pid)) return facts;
  }
  return undefined;
}

/** On systems that show a process's command line, it must be ours; elsewhere the process id has to do. */
function looksLikePlatform(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("portcullis");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

export function operatorAddress(facts: RunFacts): string | undefined {
  const url = facts.urls?.["gateway"];
  if (url !== undefined) return url;
  const address = facts.addresses["gateway"];
  return address === undefined ? undefined : `http://${address}`;
}

/** A development operator's password. It never leaves this machine but to the issuer, and is never shown. */
export function developmentCredentials(place: Place, name: string): string {
  const folders = dataFolders(place).flatMap((folder) => [folder, readRunFacts(folder)?.data_dir ?? folder]);
  for (const folder of new Set(folders)) {
    const value = readJson(join(folder, "dev-credentials.json")) as { operators?: unknown } | undefined;
    if (value === undefined) continue;
    const operators = Array.isArray(value.operators)
      ? (value.operators as { name?: unknown; password?: unknown }[])
      : [];
    const found = operators.find((operator) => operator.name === name);
    if (typeof found?.password === "string") return found.password;
    const known = operators.map((operator) => clean(String(operator.name))).join(", ");
    throw new Refusal(
      exitCodes.usage,
      "INVALID_ARGUMENT",
      `There is no development operator "${name}"; there are: ${known}.`,
    );
  }
  throw new Refusal(
    exitCodes.notLoggedIn,
    "UNAUTHENTICATED",
    `There is no dev-credentials.json in ${[...new Set(folders)].join(" or ")}.`,
    `Name the platform's data folder in ${dataFolderVariable}${place.repository === undefined ? "" : ", or start one with `ctl up`"}.`,
  );
}

/** Undefined when there is no such file; a file that cannot be read or parsed is said, without its content. */
function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Refusal(
      exitCodes.failed,
      "DATA_FOLDER_UNUSABLE",
      `${path} cannot be read (${code}).`,
      "Check who owns it.",
    );
  }
  try {
    return parseJson(text);
  } catch {
    // The parser's message would repeat a piece of the file.
    throw new Refusal(exitCodes.failed, "DATA_FOLDER_UNUSABLE", `${path} is not JSON.`);
  }
}
