// `ctl riskengine differences list`: where our positions and the broker's differ or did.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { differenceColumns } from "../text/difference-text.ts";
import { listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineDifferencesList: Verb = {
  name: "riskengine differences list",
  heading: "Books",
  sentence: "List where our positions and the broker's differ or did, newest first.",
  about: "A confirmed one blocks its symbol for new risk in that fund until it is cleared or corrected.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "open", sentence: "Only those that are neither cleared nor corrected." },
    limitOption,
    ...listOptions,
  ],
  examples: [{ command: "ctl riskengine differences list --open", sentence: "What is open." }],
  operation: "ListDifferences",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const open = context.switched("open");
  const client = await context.client();
  const asked = { ...(fundId === undefined ? {} : { fundId }), ...(open ? { open } : {}) };
  const { rows, more } = await followPages(
    limit,
    (one: AnswerOf<"listDifferences">[number]) => one.difference_id,
    (page) => client.listDifferences({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns = differenceColumns;
  return listing(context, { columns, rows, none: open ? "No difference is open." : "There was never a difference." });
}
