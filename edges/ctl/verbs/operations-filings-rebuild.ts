// `ctl operations filings rebuild`: a day's files made again from their records, where they hold something else.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { dayOf, dayOptions } from "../filings/day-options.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsRebuild: Verb = {
  name: "operations filings rebuild",
  heading: "Filings",
  sentence: "Make a day's files again that hold something else than their records.",
  about: "What such a file held stays beside it under another name; a file that is what its records are is left alone.",
  arguments: [],
  options: [...dayOptions, reasonOption],
  examples: [
    {
      command: "ctl operations filings rebuild --fund-id alpha --date 2026-11-13 --reason edited",
      sentence: "Make the day's files again.",
    },
  ],
  operation: "RebuildFilings",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const rebuilt = await client.rebuildFilings({ ...dayOf(context), reason: needsReason(context) });
  const { files } = rebuilt;
  const lines = files.map(({ path, state, set_aside_as: aside }) => {
    if (state !== "IMAGE") return `${path} could not be made again.`;
    return aside === "" ? `${path} has its end again.` : `${path} is made again; what it held is ${aside}.`;
  });
  const text = lines.length === 0 ? "Every file is what its records are." : lines.map(clean).join("\n");
  const isWhole = files.every(({ state }) => state === "IMAGE");
  return { data: rebuilt, text, exit: isWhole ? exitCodes.ok : exitCodes.failed };
}
