// What people are told about alerts of a charting platform: every accepted one that ended without an approval, and refused ones once a minute for
// each fund and code. Of requests that proved no secret only a wrong secret is worth a message: whatever else strangers send is not about any of our alerts.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { SignalFailed, SignalRefused } from "../../../contracts/src/records/signal.ts";
import type { ChatMessage } from "../../../ports/chat.ts";

const refusedEveryMs = 60_000;
const rememberedMax = 1_000;

export function failedSignalMessage(signal: SignalFailed): ChatMessage {
  const { signal_id: id, fund_id: fund, status, code, detail } = signal;
  const fate = status === "SUBMITTED" ? "its order was denied" : "it became no order";
  return {
    key: `signal ${id} failed`,
    level: "critical",
    title: `Alert of ${[fund, signal.strategy_id].join(" ")} in ${signal.symbol ?? "?"}: ${fate}, ${code}`,
    text: detail,
    facts: { ...factsOf(signal), order: signal.order_id },
  };
}

/** Undefined for what was said within the last minute, or is not about our alerts. Remembers what it has said. */
export function createRefusedSignalMessages(): (signal: SignalRefused, at: Instant) => ChatMessage | undefined {
  const said = new Map<string, { readonly at: Instant; readonly id: string }>();
  return (signal, at) => {
    const { signal_id: id, fund_id: fund, code, detail } = signal;
    if (fund === undefined && code !== "WEBHOOK_SECRET_WRONG") return undefined;
    const about = JSON.stringify([fund, code]);
    const before = said.get(about);
    // The same one again was not taken the first time.
    const isAgain = before?.id === id;
    if (before !== undefined && !isAgain && millisecondsBetween(before.at, at) < refusedEveryMs) return undefined;
    if (said.size >= rememberedMax) said.clear();
    said.set(about, { at, id });
    return {
      key: `signal ${id} refused`,
      level: "warning",
      title: `Alert of ${fund ?? "nobody who is known"} refused: ${code}`,
      text: detail,
      facts: factsOf(signal),
    };
  };
}

function factsOf(signal: SignalFailed | SignalRefused): Readonly<Record<string, string>> {
  const { fund_id: fund, strategy_id: strategy, symbol, symbol_sent: sent, side, quantity } = signal;
  return {
    ...(fund !== undefined && { fund }),
    ...(strategy !== undefined && { strategy }),
    ...((symbol ?? sent) !== undefined && { symbol: symbol ?? sent ?? "" }),
    ...(side !== undefined && { side }),
    ...(quantity !== undefined && { quantity }),
    signal: signal.signal_id,
    code: signal.code,
  };
}
