// A verification or an inspection that may take long: begun, then watched until it has ended. How far it is, is said on stderr.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import type { Context } from "../verbs/verb.ts";

type Run = AnswerOf<"watchAuditRun">;

/** Longer than the server waits for the end before it tells how far it is. */
const watchTimeoutMs = 20_000;

export async function watched(context: Context, client: Client, begun: Run): Promise<Run> {
  const { terminal, clock } = context;
  const startedAt = clock.now();
  let run = begun;
  while (!run.done) {
    run = await client.watchAuditRun({ runId: run.run_id }, { timeoutMs: watchTimeoutMs });
    if (!run.done) terminal.say(progressLine(run, startedAt, clock.now()));
  }
  return run;
}

function progressLine({ next_sequence: next, size }: Run, startedAt: Instant, now: Instant): string {
  const share = size === 0 ? 100 : Math.floor((100 * Math.min(next, size)) / size);
  const elapsedS = Math.round(millisecondsBetween(startedAt, now) / 1_000);
  return `${next} of ${size} entries (${share} %), ${elapsedS} s`;
}
