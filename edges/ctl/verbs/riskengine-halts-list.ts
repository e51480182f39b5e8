// `ctl riskengine halts list`: every halt in force, and what is still to be done about each.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { widthOfTalk } from "../terminal.ts";
import { haltColumns, haltRows, haltsWithSteps, pendingText } from "../text/halt-text.ts";
import { isForPeople, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineHaltsList: Verb = {
  name: "riskengine halts list",
  heading: "Halts",
  sentence: "List every halt in force, at all levels.",
  about:
    "BLOCKED, CANCELLED and NOTIFIED say whether every engine denies new risk, whether the orders that a halt covers are gone from the broker, and whether people were notified. Exit 9 when the halts cannot be read: an engine goes on with those that it knows for 2 s, and then everything counts as halted.",
  arguments: [],
  options: [
    { name: "id", value: "ID", sentence: "Only what halts this fund or strategy, the firm's included." },
    ...listOptions,
  ],
  examples: [{ command: "ctl riskengine halts list", sentence: "All of them." }],
  operation: "GetHaltStatus",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const id = context.option("id");
  const status = await (await context.client()).getHaltStatus(id === undefined ? {} : { id });
  const now = context.clock.now();
  const { terminal } = context;
  if (isForPeople(context)) for (const line of pendingText(status, now, widthOfTalk(terminal))) terminal.say(line);
  const none = status.known
    ? "No halt is in force."
    : "The halts cannot be read: after 2 s of that everything counts as halted.";
  const list = await listing(context, {
    columns: haltColumns,
    rows: haltRows(status),
    none,
    data: haltsWithSteps(status),
  });
  return { ...list, exit: status.known ? exitCodes.ok : exitCodes.unavailable };
}
