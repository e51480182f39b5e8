// A signal as it is stored, as events tell of it, and as people read it.
import type { WebhookSignal } from "../../../contracts/src/generated/svc/v1/webhook.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { SignalFailed, SignalReceived, SignalRefused } from "../../../contracts/src/records/signal.ts";
import type { SignalWithOrder } from "../../../ports/oms-queries.ts";
import type { StoredSignal } from "../../../ports/signal-records.ts";
import { line } from "../../shared/one-line.ts";

export type SignalBody = Readonly<Record<string, unknown>>;

type Sent = Pick<StoredSignal, "strategyId" | "symbolSent" | "side" | "quantity" | "idempotencyKey">;

/** What the sender wrote, also where it is wrong: whoever mends an alert wants to see it. */
export function sentParts(body: SignalBody | undefined): Sent {
  const text = (name: string, lengthMax: number): string | undefined => {
    const value = body?.[name];
    return typeof value === "string" && value !== "" ? line(value, lengthMax) : undefined;
  };
  const [strategyId, symbolSent, side] = [text("strategy_id", 128), text("symbol", 64), text("side", 64)];
  const [quantity, idempotencyKey] = [text("quantity", 64), text("idempotency_key", 200)];
  return {
    ...(strategyId !== undefined && { strategyId }),
    ...(symbolSent !== undefined && { symbolSent }),
    ...(side !== undefined && { side }),
    ...(quantity !== undefined && { quantity }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function sentOf(signal: StoredSignal) {
  const { strategyId, symbolSent, symbol, side, quantity, idempotencyKey } = signal;
  return {
    ...(strategyId !== undefined && { strategy_id: strategyId }),
    ...(symbolSent !== undefined && { symbol_sent: symbolSent }),
    ...(symbol !== undefined && { symbol }),
    ...(side !== undefined && { side }),
    ...(quantity !== undefined && { quantity }),
    ...(idempotencyKey !== undefined && { idempotency_key: line(idempotencyKey, 200) }),
  };
}

export function receivedEvent(signal: StoredSignal): SignalReceived {
  return {
    signal_id: signal.signalId,
    source: signal.source,
    fund_id: signal.fundId ?? "",
    ...sentOf(signal),
    order_id: signal.accepted?.orderId ?? "",
    ...(signal.alertAt !== undefined && { alert_at: format(signal.alertAt) }),
    received_at: format(signal.receivedAt),
    warnings: [...signal.warnings],
  };
}

export function refusedEvent(signal: StoredSignal): SignalRefused {
  return {
    signal_id: signal.signalId,
    source: signal.source,
    http_status: signal.httpStatus,
    code: signal.code ?? "",
    detail: line(signal.detail ?? "", 2_000),
    ...(signal.fundId !== undefined && { fund_id: signal.fundId }),
    ...sentOf(signal),
    ...(signal.duplicateOf !== undefined && { duplicate_of: signal.duplicateOf }),
    received_at: format(signal.receivedAt),
    ...(signal.unrecorded !== undefined && { unrecorded: signal.unrecorded }),
  };
}

export function failedEvent(
  signal: StoredSignal,
  why: { readonly code: string; readonly detail: string },
  at: SignalFailed["at"],
): SignalFailed {
  return {
    signal_id: signal.signalId,
    source: signal.source,
    fund_id: signal.fundId ?? "",
    ...sentOf(signal),
    order_id: signal.accepted?.orderId ?? "",
    status: signal.status,
    code: why.code,
    detail: line(why.detail, 2_000),
    at,
  };
}

export function signalMessage({ signal, order }: SignalWithOrder): WebhookSignal {
  const { alertAt, code, detail, fundId, duplicateOf, accepted, body } = signal;
  return {
    signal_id: signal.signalId,
    source: signal.source,
    received_at: format(signal.receivedAt),
    ...(alertAt !== undefined && { alert_at: format(alertAt) }),
    answer_ms: signal.answerMs,
    remote_address: signal.remoteAddress,
    http_status: signal.httpStatus,
    status: signal.status,
    ...(code !== undefined && { code }),
    ...(detail !== undefined && { detail }),
    ...(fundId !== undefined && { fund_id: fundId }),
    ...sentOf(signal),
    ...(duplicateOf !== undefined && { duplicate_of: duplicateOf }),
    ...(accepted !== undefined && { order_id: accepted.orderId }),
    ...(order !== undefined && { order_state: order.state }),
    ...(order?.code !== undefined && { decision_code: order.code }),
    warnings: [...signal.warnings],
    ...(body !== undefined && { body }),
    ...(signal.unrecorded !== undefined && { unrecorded: signal.unrecorded }),
  };
}
