// `ctl replay verify`: recorded decisions made again and held against the audit log; exit code 10 when one differs.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { format, type Instant, millisecondsPerDay, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { verdictsTogether } from "../../words/verdicts.ts";
import { type Column, formatOption, listing, wideOption } from "../text/listing.ts";
import { momentOf } from "../text/moments.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const replayVerify: Verb = {
  name: "replay verify",
  heading: "Replay",
  sentence: "Decide a fund's recorded orders again and hold each record against the audit log.",
  about:
    "Exit 10 when one differs: DECISION made again it is another, AUDIT the audit log says something else or nothing, MISSING the log has it and the record is gone, UNREADABLE. What cannot be made again is skipped and counted. A long period is asked for piece by piece.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "The fund that it is about.", required: true },
    { name: "from", value: "TIME", sentence: "From this moment on, RFC 3339; the day before the end otherwise." },
    { name: "to", value: "TIME", sentence: "Up to this moment, RFC 3339; now otherwise." },
    { name: "limit", value: "N", standard: "100", sentence: "List at most this many differences; all are counted." },
    formatOption,
    wideOption,
  ],
  examples: [
    { command: "ctl replay verify --fund-id alpha", sentence: "The decisions of the last day." },
    {
      command: "ctl replay verify --fund-id alpha --from 2026-11-01 --to 2026-11-15 --json",
      sentence: "Two weeks, for a script.",
    },
  ],
  operation: "VerifyDecisions",
  changesState: false,
  run,
};

type Verdict = AnswerOf<"verifyDecisions">;
type Difference = Verdict["differences"][number];

/** Longer than the server takes for one piece. */
const timeoutMs = 30_000;

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const [typedFrom, typedTo] = [context.option("from"), context.option("to")];
  const to = typedTo === undefined ? context.clock.now() : momentOf("to", typedTo, "end");
  const from =
    typedFrom === undefined ? minusMilliseconds(to, millisecondsPerDay) : momentOf("from", typedFrom, "start");
  const verdict = await verifyAll(context, { fundId: context.option("fund-id") ?? "", from, to, limit });
  const { decisions, same, different, skipped, differences } = verdict;
  const causes = verdict.skipped_causes.map(({ cause, count }) => `${count} ${cause}`).join(", ");
  const left = different - differences.length;
  const lead = [
    `${same} of ${decisions} the same, ${different} different, ${skipped} skipped${causes === "" ? "" : ` (${causes})`}.`,
    `Judged up to ${verdict.through}.`,
    ...(left > 0 ? [`The first ${differences.length} of them:`] : []),
  ].join("\n");
  const answer = await listing(context, {
    columns,
    rows: differences,
    none: "No record differs.",
    data: verdict,
    lead,
  });
  return different === 0 ? answer : { ...answer, exit: exitCodes.verificationFailed };
}

interface Asked {
  readonly fundId: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly limit: number;
}

/** The server ends where its time or the audit log does, and says where: from there it is asked again while that leads further. */
async function verifyAll(context: Context, { fundId, from, to, limit }: Asked): Promise<Verdict> {
  const client = await context.client(timeoutMs);
  const body = (start: string) => ({ fundId, from: start, to: format(to), countMax: limit });
  let all = await client.verifyDecisions(body(format(from)), { timeoutMs });
  while (parse(all.through) < to && parse(all.through) > from && !context.signal.aborted) {
    const next = await client.verifyDecisions(body(all.through), { timeoutMs });
    if (parse(next.through) <= parse(all.through)) break;
    all = verdictsTogether(all, next, limit);
    if (next.decisions === 0) break;
  }
  return all;
}

const columns: readonly Column<Difference>[] = [
  { name: "decided_at", head: "decided", key: true, of: (one) => one.decided_at, time: true },
  { name: "cause", key: true, of: (one) => one.cause },
  { name: "order_id", id: true, key: true, of: (one) => one.order_id },
  { name: "recorded", always: true, of: (one) => decidedText(one.recorded) },
  { name: "replayed", always: true, of: (one) => decidedText(one.replayed) },
  { name: "decision_id", of: (one) => one.decision_id, onlyCsv: true },
];

function decidedText(decided: Difference["recorded"]): string {
  if (decided === undefined) return "";
  return decided.approved ? "APPROVED" : `DENIED ${decided.code}`.trim();
}
