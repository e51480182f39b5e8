// A fund's limits as a whole, from a JSON file: what a first seed and a review of every limit are written in.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { envelopeFields } from "../words/envelope-fields.ts";
import { type Envelope, empty, type Proposed, withoutRecord } from "../words/envelope-proposal.ts";
import { envelopeOptions } from "./envelope-flags.ts";
import { usageRefusal } from "./failure.ts";
import type { Context, VerbOption } from "./verbs/verb.ts";

export const envelopeFileOption: VerbOption = {
  name: "file",
  value: "PATH",
  sentence: "Take every limit from this JSON file instead of from flags.",
};

const recorded = ["fund_id", "version", "updated_by", "updated_at", "loosening", "hash", "reason"];
const known: ReadonlySet<string> = new Set([...envelopeFields.map(({ name }) => name), ...recorded]);

/** The next version as the file has it; undefined when there is no file. */
export async function filedEnvelope(
  context: Pick<Context, "option" | "optionsOf" | "folder">,
  fundId: string,
  current: Envelope | undefined,
): Promise<(Proposed & { version: number }) | undefined> {
  const given = context.option("file");
  if (given === undefined) return undefined;
  const flag = envelopeOptions.find(({ name }) => context.optionsOf(name).length > 0);
  if (flag !== undefined) throw usageRefusal(`--file has every limit: leave out --${flag.name}.`);
  const path = resolve(context.folder, given);
  const read = await objectIn(path);
  // A misspelt name would leave its limit off in silence.
  const unknown = Object.keys(read).filter((name) => !known.has(name));
  if (unknown.length > 0) throw usageRefusal(`${path} has what is no limit: ${unknown.join(", ")}.`);
  if (read["fund_id"] !== undefined && read["fund_id"] !== fundId)
    throw usageRefusal(`${path} is for ${String(read["fund_id"])}, and --fund-id says ${fundId}.`);
  // The engine judges what the fields hold, and names every mistake.
  return { ...empty, ...withoutRecord(read as Partial<Envelope>), version: (current?.version ?? 0) + 1 } as Proposed & {
    version: number;
  };
}

async function objectIn(path: string): Promise<Record<string, unknown>> {
  let read: unknown;
  try {
    read = parseJson(await readFile(path, "utf8"));
  } catch (thrown) {
    throw usageRefusal(`${path} cannot be read as JSON: ${messageOf(thrown)}.`);
  }
  if (typeof read === "object" && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  throw usageRefusal(`${path} has no object with limits.`, "`ctl riskengine envelope show --json` prints one.");
}
