// One alert against the key, the rules and our books, inside the transaction that stores it or, for a test, in one that keeps nothing.
import * as decimal from "../../../contracts/src/decimal.ts";
import { type Instant, later, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { alertAgeSMax } from "../../../core/webhook/alert-order.ts";
import {
  type AlertRefusal,
  type JudgedAlert,
  judgeAlert,
  type ReadAlert,
  readAlert,
} from "../../../core/webhook/judge-alert.ts";
import { type PositionMismatch, positionMismatch, signedQuantity } from "../../../core/webhook/position-before.ts";
import type { TradingViewSettings } from "../../../ports/settings.ts";
import type { StoredSignal } from "../../../ports/signal-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { keyWindowMs, type OmsPorts } from "../oms-parts.ts";
import { hexOf } from "../slicing.ts";
import { remainingOf } from "../transitions.ts";
import type { SignalBody } from "./signal-records.ts";
import type { SignalReference } from "./signal-reference.ts";
import { fundSettings } from "./signal-settings.ts";

export interface Alert {
  readonly fundId: string;
  readonly body: SignalBody;
  readonly bodyHash: string;
}

export type Verdict = {
  readonly read: ReadAlert;
  readonly mismatch?: PositionMismatch;
} & (
  | { readonly httpStatus: 202; readonly judged: JudgedAlert }
  | { readonly httpStatus: 409; readonly refusal: AlertRefusal; readonly holder: StoredSignal }
  | { readonly httpStatus: 422; readonly refusal: AlertRefusal }
);

/** The same alert whatever the order of its fields. */
export function bodyHashOf({ sha256 }: Pick<OmsPorts, "sha256">, body: SignalBody): string {
  const entries = Object.entries(body).sort(([one], [other]) => (one < other ? -1 : 1));
  return hexOf(sha256(JSON.stringify(entries)));
}

/** How long a key is taken: five minutes, and as long as the alert could still be good. */
export function keyUntil(receivedAt: Instant, alertAt: Instant | undefined): Instant {
  const window = plusMilliseconds(receivedAt, keyWindowMs);
  return alertAt === undefined ? window : later(window, plusMilliseconds(alertAt, alertAgeSMax * 1_000));
}

export async function judge(
  unit: UnitOfWork,
  { fundId, body, bodyHash }: Alert,
  { reference, settings, now }: { reference: SignalReference; settings: TradingViewSettings; now: Instant },
): Promise<Verdict> {
  const { symbols, onMismatch } = fundSettings(settings, fundId);
  const mode = reference.fund(fundId)?.mode ?? "LIVE";
  const read = readAlert(body, { fundId, mode, symbols, liveFunds: settings.liveFunds });
  const key = body["idempotency_key"];
  const holder = typeof key === "string" && key !== "" ? await unit.signals.keyHolder(fundId, key, now) : undefined;
  if (holder !== undefined) return { read, httpStatus: 409, refusal: takenKey(holder, bodyHash), holder };
  const { fields, symbol, refusal } = read;
  if (refusal !== undefined || fields === undefined || symbol === undefined) {
    const unread: AlertRefusal = { code: "WEBHOOK_FIELD_INVALID", detail: "The alert cannot be read." };
    return { read, httpStatus: 422, refusal: refusal ?? unread };
  }
  const judged = judgeAlert(fields, symbol, {
    assetClass: reference.instrument(symbol)?.asset_class,
    // As the gates do: what research has reported of them comes a moment later on a first start.
    strategies: (reference.fund(fundId)?.strategies ?? []).map((strategyId) => ({ strategyId, fundId })),
    now,
    ageMsMax: settings.ageMsMax,
    requiresTime: settings.requiresTime,
  });
  if ("code" in judged) return { read, httpStatus: 422, refusal: judged };
  const saysBefore = fields.prev_market_position !== undefined || fields.prev_market_position_size !== undefined;
  const ours = saysBefore ? await heldAndUnderWay(unit, { fundId, strategyId: fields.strategy_id, symbol }) : undefined;
  const mismatch = ours === undefined ? undefined : positionMismatch(fields, ours);
  if (mismatch === undefined) return { read, httpStatus: 202, judged };
  if (onMismatch === "refuse") {
    return { read, mismatch, httpStatus: 422, refusal: { code: "WEBHOOK_POSITION_MISMATCH", detail: said(mismatch) } };
  }
  const warnings = [...judged.warnings, "POSITION_MISMATCH"];
  return { read, mismatch, httpStatus: 202, judged: { ...judged, warnings } };
}

export function said({ said: theirs, ours }: PositionMismatch): string {
  return `prev_market_position: the alert says ${theirs}, our books with what is under way say ${ours}; an alert may have been missed.`;
}

function takenKey({ signalId, accepted }: StoredSignal, bodyHash: string): AlertRefusal {
  const isSame = accepted?.bodyHash === bodyHash;
  const mend = "let the key end with {{timenow}}, so that every alert has its own";
  return {
    code: isSame ? "WEBHOOK_KEY_DUPLICATE" : "WEBHOOK_KEY_REUSED",
    detail: isSame
      ? `idempotency_key: this alert was accepted before, as ${signalId}.`
      : `idempotency_key: another alert took it, ${signalId}; ${mend}.`,
  };
}

/** What the strategy holds of the symbol once everything that alerts asked for has traded. */
async function heldAndUnderWay(
  unit: UnitOfWork,
  { fundId, strategyId, symbol }: { readonly fundId: string; readonly strategyId: string; readonly symbol: string },
): Promise<decimal.Decimal> {
  const held = (await unit.oms.positions(fundId)).find((one) => one.strategyId === strategyId && one.symbol === symbol);
  let sum = held?.quantity ?? decimal.zero;
  const counted = new Set<string>();
  for (const stored of await unit.oms.openOrders()) {
    const { order } = stored;
    const isOurs = order.fund_id === fundId && order.strategy_id === strategyId && order.symbol === symbol;
    if (!isOurs || !order.order_id.startsWith("tv-")) continue;
    counted.add(order.order_id);
    // An order that goes out in slices shows their sum.
    if (stored.parentOrderId === undefined) sum = decimal.add(sum, signedQuantity(order.side, remainingOf(stored)));
  }
  for (const { accepted } of await unit.signals.waitingSignals(fundId)) {
    if (accepted === undefined || counted.has(accepted.orderId)) continue;
    const { order } = accepted;
    if (order.strategy_id !== strategyId || order.symbol !== symbol) continue;
    // An order that has ended already is in the position, with what it traded.
    if ((await unit.oms.order(accepted.orderId)) !== undefined) continue;
    sum = decimal.add(sum, signedQuantity(order.side, decimal.parse(order.quantity)));
  }
  return sum;
}
