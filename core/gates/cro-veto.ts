// Gate 7: the risk officer may say no, and nothing else: it is asked last, so there is nothing left that it could approve. The shell asks
// and brings the verdict here as data; the pipeline leaves this gate out when the envelope has it off.

import { Defect } from "../../contracts/src/fault.ts";
import { wholeOf } from "../money/exact.ts";
import type { Gate } from "../state/gate.ts";
import { assured, isNewRisk, reduces } from "../state/new-risk.ts";
import { quoted } from "../state/wording.ts";

const reasonLengthShown = 1_000;

export const croVeto: Gate = {
  name: "cro_veto",
  question: "Does the risk officer let it pass?",
  phase: "model",
  inputs: [],
  decide(_order, view, _at, notes) {
    if (!isNewRisk(view)) {
      notes.word("verdict", `not asked about a ${reduces(view) ? "reduction" : "lower quantity"}`);
      return undefined;
    }
    const { verdict } = view;
    notes.word("verdict", verdict.kind);
    if (verdict.kind === "none") throw new Defect("the risk officer's gate was reached before anybody asked");
    notes.word("model", verdict.model);
    notes.word("prompt_hash", verdict.promptHash);
    notes.word("cost_usd", verdict.costUsd === "" ? "unknown" : verdict.costUsd);
    notes.count("took_ms", verdict.tookMs);
    switch (verdict.kind) {
      case "pass":
        return undefined;
      case "veto":
        return {
          code: "RISK_OFFICER_VETO",
          reason: `The risk officer says: ${quoted(verdict.reason, reasonLengthShown)}.`,
        };
      case "unreadable":
        return { code: "RISK_OFFICER_UNREADABLE", reason: "The risk officer's answer could not be read as a verdict." };
      case "timeout": {
        const envelope = assured(view.envelope, "an envelope");
        notes.word("on_timeout", envelope.croVetoOnTimeout);
        notes.word("why", quoted(verdict.reason, reasonLengthShown));
        // All of the officer's time was used up: that is the warning.
        if (envelope.croVetoOnTimeout === "PASS_WITH_WARNING") {
          notes.share("cro_veto_timeout_ms", wholeOf(1), wholeOf(1));
          return undefined;
        }
        const reason = `The risk officer gave no verdict within ${envelope.croVetoTimeoutMs} ms: ${quoted(verdict.reason, reasonLengthShown)}.`;
        return { code: "RISK_OFFICER_TIMEOUT", reason };
      }
    }
  },
};
