// Asks a language model for the risk officer's verdict. What was asked is remembered by its hash, who answered by the model's name, and
// what it cost beside the verdict, so that the decision's record can answer for itself.
import { messageOf } from "../../contracts/src/fault.ts";
import { riskOfficerVerdict } from "../../contracts/src/records/risk-officer.ts";
import { decisionMessage } from "../../core/engine/decision.ts";
import { riskOfficerQuestion } from "../../core/engine/risk-officer.ts";
import type { ServicePorts } from "../shared/service.ts";
import { type AskRiskOfficer, nobodyToAsk, noVerdict } from "./officer.ts";

const answerTokensMax = 300;
/** One sentence; whatever a model adds is not worth the record's room. */
const reasonCharactersMax = 500;

export function riskOfficer(
  ports: Pick<ServicePorts, "languageModel" | "sha256" | "stopwatch" | "log">,
): AskRiskOfficer {
  const model = ports.languageModel;
  if (model === undefined) return nobodyToAsk;
  return async (checked, signal) => {
    const { envelope } = checked;
    if (envelope === undefined) return noVerdict("the fund has no envelope", 0);
    const question = riskOfficerQuestion(checked.order, envelope.record, decisionMessage(checked, "").checks);
    const promptHash = hex(ports.sha256(`${question.system}\n${question.prompt}`));
    const startedUs = ports.stopwatch();
    const tookMs = (): number => (ports.stopwatch() - startedUs) / 1_000;
    try {
      const {
        answer,
        model: name,
        costUsd,
      } = await model.ask({
        ...question,
        schema: riskOfficerVerdict,
        schemaName: "verdict",
        answerTokensMax,
        signal,
      });
      return {
        kind: answer.verdict === "VETO" ? "veto" : "pass",
        reason: oneLine(answer.reason),
        model: name,
        promptHash,
        costUsd: costUsd ?? "",
        tookMs: tookMs(),
      };
    } catch (thrown) {
      ports.log.warn("the risk officer gave no verdict", {
        order_id: checked.order.order_id,
        error: messageOf(thrown),
      });
      const unreadable = thrown instanceof Error && "code" in thrown && thrown.code === "MODEL_UNREADABLE";
      const none = noVerdict(messageOf(thrown), tookMs());
      return { ...none, kind: unreadable ? "unreadable" : "timeout", model: model.model, promptHash };
    }
  };
}

/** The model's words land in records and on screens: one line, no control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, reasonCharactersMax);
}

function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
