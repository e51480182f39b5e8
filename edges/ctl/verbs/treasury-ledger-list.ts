// `ctl treasury ledger list`: a fund's cash ledger, posting by posting. The postings of an entry sum to zero.

import type { AnswerOf } from "../../client/src/types.ts";
import { money } from "../../words/money.ts";
import { fundOption } from "../envelope-flags.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryLedgerList: Verb = {
  name: "treasury ledger list",
  heading: "Funds",
  sentence: "List a fund's cash ledger, newest first.",
  about:
    "It is kept in double entry: an entry's postings sum to zero in every currency. A table and CSV have a line per posting.",
  arguments: [],
  options: [fundOption, { ...limitOption, sentence: "At most this many entries." }, ...listOptions],
  examples: [{ command: "ctl treasury ledger list --fund-id alpha", sentence: "The newest entries." }],
  operation: "ListLedger",
  changesState: false,
  run,
};

type Entry = AnswerOf<"listLedger">[number];
interface Line {
  readonly entry: Entry;
  readonly posting: Entry["postings"][number];
}

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages<Entry>(
    limit,
    (one) => one.entry_id,
    (page) => client.listLedger({ fundId, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Line>[] = [
    { name: "at", of: ({ entry }) => entry.at, time: true },
    { name: "entry_id", minor: 2, of: ({ entry }) => entry.entry_id },
    { name: "kind", of: ({ entry }) => entry.kind },
    { name: "account", of: ({ posting }) => posting.account },
    {
      name: "amount",
      of: ({ posting }) => posting.amount,
      shown: ({ posting }) => money(posting.amount),
      number: true,
    },
    { name: "currency", of: ({ posting }) => posting.currency },
    { name: "booked_by", minor: 3, of: ({ entry }) => entry.booked_by },
    { name: "reason", text: true, minor: 1, of: ({ entry }) => entry.reason },
  ];
  const lines = rows.flatMap((entry) => entry.postings.map((posting) => ({ entry, posting })));
  return listing(context, { columns, rows: lines, none: `${fundId} has no entries.`, data: rows });
}
