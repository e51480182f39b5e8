// `ctl riskengine envelope replay`: which of the recorded decisions would have been others under changed limits. It changes nothing.
import { format, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { envelopeOptions, flaggedEnvelope, fundOption } from "../envelope-flags.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeReplay: Verb = {
  name: "riskengine envelope replay",
  heading: "Limits",
  sentence: "Run recorded orders against changed limits and list every decision that would change.",
  about:
    "It takes the same limits as `envelope set` and changes nothing. Each order is judged as the world stood when it was asked.",
  arguments: [],
  options: [
    fundOption,
    { name: "hours", value: "N", standard: "24", sentence: "How far back, in hours." },
    ...envelopeOptions,
    ...listOptions,
  ],
  examples: [
    {
      command: "ctl riskengine envelope replay --fund-id alpha --hours 48 --max-position-pct 0.05",
      sentence: "What a tighter limit would have denied.",
    },
  ],
  operation: "ReplayEnvelope",
  changesState: false,
  run,
};

type ReplayChange = AnswerOf<"replayEnvelope">["changes"][number];

const hourMs = 3_600_000;
/** Longer than the usual bound: a day of decisions is a lot to run again. */
const timeoutMs = 30_000;

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const client = await context.client();
  const proposed = flaggedEnvelope(context, await client.getEnvelope({ fundId }));
  const now = context.clock.now();
  const from = format(minusMilliseconds(now, Math.round(hours * hourMs)));
  const replay = await client.replayEnvelope({ fundId, proposed, from }, { timeoutMs });
  const columns: readonly Column<ReplayChange>[] = [
    { name: "decided_at", head: "decided", of: (one) => one.decided_at, time: true },
    { name: "order_id", id: true, of: (one) => one.order_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "side", of: (one) => one.side },
    { name: "quantity", of: (one) => one.quantity },
    { name: "before", always: true, of: (one) => verdict(one.approved_before, one.code_before) },
    { name: "after", always: true, of: (one) => verdict(one.approved_after, one.code_after) },
    { name: "reason_after", text: true, minor: 1, of: (one) => one.reason_after },
    { name: "decision_id", of: (one) => one.decision_id, onlyCsv: true },
  ];
  const left = replay.changed - replay.changes.length;
  const earlier = replay.earlier_rules ?? 0;
  const unchangeable = `${replay.skipped - earlier} cannot change`;
  const leftOut = earlier === 0 ? unchangeable : `${unchangeable}, ${earlier} were decided by EARLIER_RULES`;
  const lead = [
    `${replay.replayed} decisions of the last ${hours} h were run again (${leftOut}).`,
    `${replay.changed} would change: ${replay.newly_denied} newly denied, ${replay.newly_approved} newly approved.`,
    ...(left > 0 ? [`The first ${replay.changes.length} of them:`] : []),
  ].join("\n");
  return listing(context, { columns, rows: replay.changes, none: "No decision would change.", data: replay, lead });
}

function verdict(approved: boolean, code: string): string {
  return approved ? "APPROVED" : `DENIED ${code}`.trim();
}
