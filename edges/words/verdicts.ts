// A verification is answered piece by piece: two pieces that follow each other as one.
import type { AnswerOf } from "../client/src/types.ts";

type Verdict = AnswerOf<"verifyDecisions">;

export function verdictsTogether(first: Verdict, next: Verdict, listedMax: number): Verdict {
  const counts = new Map(first.skipped_causes.map(({ cause, count }) => [cause, count]));
  for (const { cause, count } of next.skipped_causes) counts.set(cause, (counts.get(cause) ?? 0) + count);
  return {
    ...first,
    through: next.through,
    decisions: first.decisions + next.decisions,
    same: first.same + next.same,
    different: first.different + next.different,
    skipped: first.skipped + next.skipped,
    skipped_causes: [...counts].map(([cause, count]) => ({ cause, count })),
    differences: [...first.differences, ...next.differences].slice(0, listedMax),
  };
}
