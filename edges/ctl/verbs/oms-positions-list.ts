// `ctl oms positions list`: what a fund holds, per strategy and symbol.

import { fundOption } from "../envelope-flags.ts";
import { fundModes } from "../fund-modes.ts";
import { listing, listOptions } from "../text/listing.ts";
import { positionColumns } from "../text/position-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const omsPositionsList: Verb = {
  name: "oms positions list",
  heading: "Positions",
  sentence: "List what a fund holds, per strategy and symbol.",
  about: "`ctl ls` lists every fund's. Without a fresh price a position has no value; it says so.",
  arguments: [],
  options: [fundOption, ...listOptions],
  examples: [
    { command: "ctl oms positions list --fund-id alpha", sentence: "All of alpha's." },
    { command: "ctl oms positions list --fund-id alpha --format csv", sentence: "The same for a spreadsheet." },
  ],
  operation: "ListPositions",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const client = await context.client();
  const rows = await client.getPositions({ fundId });
  const modeOf = await fundModes(client, context);
  const columns = positionColumns(modeOf);
  const data = rows.map((one) => ({ ...one, mode: modeOf(one.fund_id) }));
  return listing(context, { columns, rows, data, none: `${fundId} holds nothing.` });
}
