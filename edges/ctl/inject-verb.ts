// What the verbs `ctl paper inject` share: observations beside the true ones, so that a watchdog can be seen at work.
import type { AnswerOf } from "../client/src/types.ts";
import { usageRefusal } from "./failure.ts";
import { needsReason, reasonOption } from "./reason.ts";
import { type Column, listing, outcomeOptions } from "./text/listing.ts";
import type { Answer, Context, Verb, VerbOption } from "./verbs/verb.ts";

type Kind = "SKILL" | "PNL" | "DEAD_ROWS" | "SLOW_QUERIES" | "CLEAR";
type Injection = AnswerOf<"injectObservations">[number];

const answerMsMax = 40_000;
export const strategyOptions: readonly VerbOption[] = [
  { name: "strategy-id", value: "STRATEGY", required: true, sentence: "A strategy of a PAPER fund." },
  {
    name: "z",
    value: "NUMBER",
    required: true,
    sentence: "How many standard errors the injected days are off; below zero is worse.",
  },
];

export function injectVerb(
  word: string,
  kind: Kind,
  sentence: string,
  options: readonly VerbOption[],
  example: string,
): Verb {
  return {
    name: `paper inject ${word}`,
    heading: "Drills",
    sentence,
    about:
      "Of PAPER funds alone. The true records stay as they are; whatever rests on what is injected is marked so, and `ctl paper inject clear` ends it.",
    arguments: [],
    options: [...options, reasonOption, ...outcomeOptions],
    examples: [{ command: `ctl paper inject ${word}${example} --reason drill`, sentence: "A drill." }],
    operation: "InjectObservations",
    changesState: true,
    run: (context) => run(context, kind),
  };
}

async function run(context: Context, kind: Kind): Promise<Answer> {
  const strategyId = context.option("strategy-id");
  const typed = context.option("z");
  const z = typed === undefined ? undefined : Number(typed);
  if (z !== undefined && !Number.isFinite(z)) throw usageRefusal(`--z is a number; "${typed}" is not.`);
  const client = await context.client(answerMsMax);
  const rows = await client.injectObservations({
    kind,
    reason: needsReason(context),
    ...(strategyId === undefined ? {} : { strategyId }),
    ...(z === undefined ? {} : { z }),
  });
  const columns: readonly Column<Injection>[] = [
    { name: "kind", of: (one) => one.kind },
    { name: "strategy_id", head: "STRATEGY", of: (one) => one.strategy_id ?? "" },
    { name: "z", of: (one) => one.z ?? "", number: true },
    { name: "by", of: (one) => one.by },
    { name: "at", of: (one) => one.at },
  ];
  return listing(context, { columns, rows, none: "Nothing is injected.", data: rows });
}
