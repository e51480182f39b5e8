// `ctl riskengine envelope history`: every version of a fund's limits, who set it, when and why.

import { envelopeFields } from "../../words/envelope-fields.ts";
import type { Envelope } from "../../words/envelope-proposal.ts";
import { fundOption } from "../envelope-flags.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { changedText } from "../text/envelope-text.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeHistory: Verb = {
  name: "riskengine envelope history",
  heading: "Limits",
  sentence: "List the versions of a fund's limits, newest first.",
  about: "A table has what each version changed; CSV and JSON have all limits of each.",
  arguments: [],
  options: [fundOption, limitOption, ...listOptions],
  examples: [
    { command: "ctl riskengine envelope history --fund-id alpha", sentence: "Who changed what when, and why." },
    { command: "ctl riskengine envelope history --fund-id alpha --format csv", sentence: "With every limit." },
  ],
  operation: "ListEnvelopes",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Envelope) => String(one.version),
    ({ countMax, after }) =>
      client.listEnvelopes({ fundId, countMax, ...(after === undefined ? {} : { after: Number(after) }) }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Envelope>[] = [
    { name: "version", key: true, of: ({ version }) => version },
    {
      name: "updated_at",
      of: (one) => one.updated_at,
      time: true,
    },
    { name: "updated_by", of: (one) => one.updated_by },
    ...envelopeFields.map(({ name }): Column<Envelope> => ({ name, of: (one) => cell(one[name]), onlyCsv: true })),
    {
      name: "changed",
      onlyTable: true,
      text: true,
      key: true,
      of: (one) => changedText(rows, rows.indexOf(one)),
    },
    { name: "reason", text: true, of: (one) => one.reason },
    { name: "hash", of: (one) => one.hash, onlyCsv: true },
  ];
  return listing(context, { columns, rows, none: `The fund ${fundId} has no limits.` });
}

/** Lists and shares have no cell of their own; their JSON has. */
function cell(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
