// `ctl cmd halt`: stops everything, a fund or a strategy. A halt is easier than a resume: one person with any role but viewer, one typed word.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { dryRun, dryRunOption, hitLines } from "../danger.ts";
import { failureOf, Refusal } from "../failure.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { scopeArgument } from "../scope-argument.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const cmdHalt: Verb = {
  name: "cmd halt",
  heading: "Halts",
  sentence: "Halt the firm, or one fund or strategy, until people lift it.",
  about:
    "New risk is denied from the moment of the answer, and open orders that the halt covers are cancelled; proven reductions that are marked reduce_only go on. Positions stay. Exit 8 when it is latched and an engine has not confirmed it yet. Without a reason it is `manual`.",
  arguments: [{ name: "id", sentence: "A fund or a strategy; the whole firm when absent.", optional: true }],
  options: [dryRunOption, confirmOption("HALT"), reasonOption],
  examples: [
    { command: "ctl cmd halt", sentence: "Stop everything." },
    { command: "ctl cmd halt alpha --dry-run", sentence: "What it would hit, and nothing more." },
    { command: "ctl cmd halt alpha --confirm HALT --reason news", sentence: "Stop one fund, from a script." },
  ],
  operation: "RequestHalt",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const id = scopeArgument(context);
  const whom = id === "" ? "THE WHOLE FIRM" : id;
  const scope = id === "" ? {} : { id };
  const halts = `${whom}: no new risk, and its open orders are cancelled. Positions stay.`;
  if (context.switched("dry-run")) {
    return dryRun(context, { would: [clean(`This would halt ${halts}`)], scope, rows: ["order"] });
  }
  const confirmation = await confirmed(context, "HALT", async () => [
    `This halts ${halts}`,
    ...(await hitLines(context, scope)),
    "Only people can lift it again.",
  ]);
  const client = await context.client();
  const asked = { ...(id === "" ? {} : { id }), confirmation, ...reasonOf(context) };
  const answer = await client.requestHalt(asked).catch(async (thrown: unknown) => {
    throw await unanswered(thrown, clean(whom));
  });
  const { halt_id, epoch, audit_id, acknowledged } = answer;
  const first = acknowledged
    ? `${clean(whom)} is halted: every live risk engine confirmed it.`
    : `The halt of ${clean(whom)} is latched, and not every risk engine has confirmed it yet; that is tried until it has.`;
  const facts = pairs([
    ["Halt", halt_id],
    ["Epoch", String(epoch)],
    ["Audit", audit_id],
  ]);
  return {
    data: answer,
    text: `${first}\n${facts}`,
    exit: acknowledged ? exitCodes.ok : exitCodes.pending,
    next: ["`ctl riskengine halts list` shows whether orders are cancelled and people reported."],
  };
}

/** A halt that got no answer may be in force all the same, and whoever asked must not believe either. */
async function unanswered(thrown: unknown, whom: string): Promise<unknown> {
  const { exit, code, detail } = await failureOf(thrown);
  if (exit !== exitCodes.unavailable) return thrown;
  const unknown = `${detail} It is not known whether ${whom} is halted.`;
  const hint =
    "Look with `ctl riskengine halts list`, and halt again if it is not: a halt that is there twice does no harm.";
  return new Refusal(exit, code, unknown, hint, thrown);
}
