// `ctl paper inject skill|pnl|dead-rows|slow-queries|clear`: observations beside the true ones, so that a watchdog can be seen at work.
import type { AnswerOf } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { type Column, formatOption, listing } from "../text/listing.ts";
import type { Answer, Context, Verb, VerbOption } from "./verb.ts";

type Kind = "SKILL" | "PNL" | "DEAD_ROWS" | "SLOW_QUERIES" | "CLEAR";
type Injection = AnswerOf<"injectObservations">[number];

const answerMsMax = 40_000;
const strategyOptions: readonly VerbOption[] = [
  { name: "strategy-id", value: "STRATEGY", required: true, sentence: "A strategy of a PAPER fund." },
  {
    name: "z",
    value: "NUMBER",
    required: true,
    sentence: "How many standard errors the injected days are off; below zero is worse.",
  },
];

function injectVerb(word: string, kind: Kind, sentence: string, options: readonly VerbOption[], example: string): Verb {
  return {
    name: `paper inject ${word}`,
    heading: "Drills",
    sentence,
    about:
      "Of PAPER funds alone. The true records stay as they are; whatever rests on what is injected is marked so, and `ctl paper inject clear` ends it.",
    arguments: [],
    options: [...options, reasonOption, formatOption],
    examples: [{ command: `ctl paper inject ${word}${example} --reason drill`, sentence: "A drill." }],
    operation: "InjectObservations",
    changesState: true,
    run: (context) => run(context, kind),
  };
}

export const paperInjectSkill = injectVerb(
  ...(["skill", "SKILL", "Show drift_monitor days of a strategy without skill.", strategyOptions] as const),
  " --strategy-id alpha-momentum --z -1.2",
);
export const paperInjectPnl = injectVerb(
  ...(["pnl", "PNL", "Show strategy_watchdog days of a strategy's profit or loss.", strategyOptions] as const),
  " --strategy-id alpha-momentum --z -3",
);
export const paperInjectDeadRows = injectVerb(
  ...(["dead-rows", "DEAD_ROWS", "Leave dead rows in a table that nobody reads, for db_watchdog.", [], ""] as const),
);
export const paperInjectSlowQueries = injectVerb(
  ...(["slow-queries", "SLOW_QUERIES", "Show db_watchdog slow queries.", [], ""] as const),
);
export const paperInjectClear = injectVerb(
  ...(["clear", "CLEAR", "End everything that was injected, and what it opened.", [], ""] as const),
);

async function run(context: Context, kind: Kind): Promise<Answer> {
  const strategyId = context.option("strategy-id");
  const typed = context.option("z");
  const z = typed === undefined ? undefined : Number(typed);
  if (z !== undefined && !Number.isFinite(z)) throw usageRefusal(`--z is a number; "${typed}" is not.`);
  const client = await context.client(answerMsMax);
  const rows = await client.injectObservations({
    ...{ kind, reason: needsReason(context) },
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
