// The risk officer as the shell sees it: somebody who is asked about one order and answers with a verdict, in time or not at all. Who
// that is (a language model behind a persona) is handed in.
import type { Checked } from "../../core/engine/engine.ts";
import type { Verdict } from "../../core/state/view.ts";

/** Gives up when the signal aborts; what it answers after that is not heard. */
export type AskRiskOfficer = (checked: Checked, signal: AbortSignal) => Promise<Verdict>;

/** No answer, with the reason why: the fund's own policy says what that means. */
export function noVerdict(reason: string, tookMs: number): Verdict {
  return { kind: "timeout", reason, model: "", promptHash: "", costUsd: "", tookMs };
}

/** For a platform without a language model: nobody can veto, and nobody can answer in time. */
export const nobodyToAsk: AskRiskOfficer = async () => noVerdict("no language model is configured", 0);
