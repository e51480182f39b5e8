// `ctl riskengine books`: whether orders, positions, cash, value and exposure agree, as the job that compares them all the time last found.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineBooks: Verb = {
  name: "riskengine books",
  heading: "Books",
  sentence: "See whether orders, positions, cash, value and exposure agree.",
  about: "Exit 10 when they differ, 9 when nothing has been compared yet: what was never compared does not agree.",
  arguments: [],
  options: [...listOptions],
  examples: [{ command: "ctl riskengine books", sentence: "What is held against what, and since when it agrees." }],
  operation: "GetBooks",
  changesState: false,
  run,
};

type Check = AnswerOf<"getBooks">[number];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).getBooks();
  const columns: readonly Column<Check>[] = [
    { name: "name", key: true, of: (one) => one.name },
    { name: "agrees", always: true, of: (one) => one.agrees, shown: wordOf },
    { name: "compared", of: (one) => one.compared, number: true },
    {
      name: "checked_at",
      head: "checked",
      of: (one) => one.checked_at,
      time: "never",
    },
    { name: "sentence", text: true, minor: 3, of: (one) => one.sentence },
    {
      name: "since",
      of: (one) => one.since,
      time: true,
    },
    { name: "difference", text: true, of: (one) => one.difference },
    { name: "not_compared", text: true, of: (one) => one.not_compared },
  ];
  const list = await listing(context, { columns, rows, none: "Nothing has been compared yet." });
  return { ...list, exit: exitOf(rows) };
}

function wordOf({ agrees, checked_at }: Check): string {
  if (checked_at === undefined) return "not known";
  return agrees ? "yes" : "NO";
}

function exitOf(checks: readonly Check[]) {
  const seen = checks.filter(({ checked_at }) => checked_at !== undefined);
  if (seen.some(({ agrees }) => !agrees)) return exitCodes.verificationFailed;
  return seen.length === 0 || seen.length < checks.length ? exitCodes.unavailable : exitCodes.ok;
}
