// `ctl riskengine differences list`: where our positions and the broker's differ or did.

import { usageRefusal } from "../failure.ts";
import { differenceColumns } from "../text/difference-text.ts";
import { listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const limitMax = 1_000;

export const riskengineDifferencesList: Verb = {
  name: "riskengine differences list",
  heading: "Books",
  sentence: "List where our positions and the broker's differ or did, newest first.",
  about: "A confirmed one blocks its symbol for new risk in that fund until it is cleared or corrected.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "open", sentence: "Only those that are neither cleared nor corrected." },
    { name: "limit", value: "N", standard: "100", sentence: `At most this many, up to ${limitMax}.` },
    ...listOptions,
  ],
  examples: [{ command: "ctl riskengine differences list --open", sentence: "What is open." }],
  operation: "ListDifferences",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const countMax = countOf("limit", context.option("limit") ?? "", 1);
  if (countMax > limitMax) throw usageRefusal(`--limit is at most ${limitMax}.`);
  const open = context.switched("open");
  const rows = await (await context.client()).listDifferences({
    countMax,
    ...(fundId === undefined ? {} : { fundId }),
    ...(open ? { open } : {}),
  });
  const columns = differenceColumns;
  return listing(context, { columns, rows, none: open ? "No difference is open." : "There was never a difference." });
}
