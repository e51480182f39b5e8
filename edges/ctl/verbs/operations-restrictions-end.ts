// `ctl operations restrictions end`: ends a watchdog's restriction before its episode clears. Somebody must say why.
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsRestrictionsEnd: Verb = {
  name: "operations restrictions end",
  heading: "Watchdogs",
  sentence: "End a restriction before its watchdog does.",
  about:
    "The risk engine and the strategies have it within a second. The episode goes on and does not open it again; the next episode may. It is refused without a reason.",
  arguments: [{ name: "restriction_id", sentence: "The restriction, as `ctl operations restrictions list` names it." }],
  options: [reasonOption],
  examples: [
    { command: "ctl operations restrictions end r-17 --reason false-alarm", sentence: "The alarm was a false one." },
  ],
  operation: "EndRestriction",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const restrictionId = context.argument("restriction_id");
  const one = await (await context.client()).endRestriction({ restrictionId, reason: needsReason(context) });
  const where = [one.fund_id, one.strategy_id, one.symbol].filter((name) => name !== undefined).join(" ");
  const said = `${one.kind} on ${where} by ${one.watchdog} (episode ${one.episode_id}) ended at ${one.ended_at ?? ""}`;
  return { data: one, text: clean(`${said}, by ${one.ended_by ?? ""}.`) };
}
