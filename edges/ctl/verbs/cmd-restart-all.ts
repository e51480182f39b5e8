// `ctl cmd restart-all`: has the five services started anew, and waits until each is healthy.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { dryRun, dryRunOption } from "../danger.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Column, listing, outcomeOptions } from "../text/listing.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

/** The server itself waits a little less. */
const answerMsMax = 40_000;

export const cmdRestartAll: Verb = {
  name: "cmd restart-all",
  heading: "Halts",
  sentence: "Restart the five services in place, and wait until each is healthy.",
  about:
    "The supervisor restarts them one after the other; halts, orders and books stay as they are. Exit 8 when they are not all healthy in time: the answer says which are not, and `ctl doctor` tells how far they are.",
  arguments: [],
  options: [dryRunOption, reasonOption, ...outcomeOptions],
  examples: [
    { command: "ctl cmd restart-all --dry-run", sentence: "What goes on meanwhile, and nothing more." },
    { command: "ctl cmd restart-all --reason new-settings", sentence: "All five." },
  ],
  operation: "RestartAll",
  changesState: true,
  run,
};

type Restarted = AnswerOf<"restartServices">["services"][number];

const columns: readonly Column<Restarted>[] = [
  { name: "service", key: true, of: (one) => one.service },
  { name: "healthy", always: true, of: (one) => one.healthy, shown: (one) => (one.healthy ? "yes" : "NO") },
  { name: "pid", of: (one) => one.pid, number: true },
  { name: "took_ms", of: (one) => one.took_ms, number: true },
  { name: "complaint", text: true, of: (one) => one.complaint },
];

async function run(context: Context): Promise<Answer> {
  if (context.switched("dry-run")) {
    const services = ["riskengine", "operations", "oms", "treasury", "research"];
    const would = [`This would restart ${services.join(", ")}, one after the other. Orders and positions stay.`];
    return dryRun(context, { would, scope: {}, rows: ["order"], more: { services } });
  }
  const client = await context.client(answerMsMax);
  const answer = await client.restartServices(reasonOf(context));
  const ill = answer.services.filter(({ healthy }) => !healthy).map(({ service }) => service);
  const isDone = answer.restarted && ill.length === 0;
  const left = ill.length === 0 ? "not all of them have been restarted yet" : `not healthy yet: ${ill.join(", ")}`;
  const list = await listing(context, {
    columns,
    rows: answer.services,
    none: "There is no service to restart.",
    data: answer,
    lead: `${isDone ? "All are healthy again" : `It goes on, ${clean(left)}`}. Audit ${clean(answer.audit_id ?? "")}.`,
  });
  return { ...list, exit: isDone ? exitCodes.ok : exitCodes.pending };
}
