// `ctl riskengine foreign position`: up to where the events of a foreign publisher were heard.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineForeignPosition: Verb = {
  name: "riskengine foreign position",
  heading: "Decisions",
  sentence: "See up to where a foreign publisher's events were heard.",
  about:
    "SOURCE is the name of the publisher's token over gRPC, foreign-oms, foreign-treasury or foreign.LOGIN over NATS, also where a token names the login. Orders, fills and values are numbered each by itself; what is missing blocks new risk in the fund until it comes or its block is accepted.",
  arguments: [
    { name: "source", sentence: "The publisher." },
    { name: "fund_id", sentence: "The fund that its events are about." },
  ],
  options: [...listOptions],
  examples: [{ command: "ctl riskengine foreign position foreign-oms alpha", sentence: "Where to send again from." }],
  operation: "GetForeignPosition",
  changesState: false,
  run,
};

type Position = AnswerOf<"getForeignPosition">["positions"][number];

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const asked = { source: context.argument("source"), fundId: context.argument("fund_id") };
  const { positions } = await client.getForeignPosition(asked);
  const columns: readonly Column<Position>[] = [
    { name: "kind", id: true, of: (one) => one.kind },
    { name: "last_sequence", head: "last", of: (one) => one.last_sequence, number: true },
    { name: "missing", always: true, of: (one) => (one.missing ?? []).join("; ") },
  ];
  return listing(context, { columns, rows: positions, none: "Nothing was heard." });
}
