// Tells people in chat that something is halted. Accepted by the chat service is what counts as told.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { isDrill } from "../../../core/halts/halts.ts";
import type { Chat, ChatMessage } from "../../../ports/chat.ts";
import type { Acknowledgement } from "./acknowledge.ts";

const sendMsMax = 5_000;

/** Proven, because the log took it; and said as it is, because a log wakes nobody. */
const logOnly = "log only: no chat is set up, so the message stands in the log and nobody was notified.";

export async function notify(chat: Chat, halt: ActiveHalt): Promise<Acknowledgement> {
  try {
    await chat.send(messageAbout(halt), sendMsMax);
    return { proof: chat.name === "log" ? logOnly : `${chat.name} took the message.` };
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    return { complaint: messageOf(thrown) };
  }
}

function messageAbout(halt: ActiveHalt): ChatMessage {
  const { halt_id: id, severity, fund_id: fund, strategy_id: strategy, reason, requested_by: by, since } = halt;
  const scope = severity === "FIRM_HALT" ? "the whole firm" : severity === "FUND_HALT" ? fund : (strategy ?? fund);
  return {
    key: `halt ${id}`,
    level: isDrill(halt) ? "info" : "critical",
    title: isDrill(halt) ? "Halt drill" : `${severity}: new risk is stopped for ${scope}`,
    text: `Nothing passes but proven reductions, where the limits of a fund allow them in a halt. It stays until an operator lifts it. Reason: “${reason}”`,
    facts: { scope, by, since, halt: id, ...figures(halt.evidence ?? {}) },
  };
}

const figuresMax = 10;

function figures(evidence: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(evidence)
      .slice(0, figuresMax)
      .map(([name, value]) => [name, String(value)] as const),
  );
}
