// What must be true of synthetic stops: one stop, one exit.

import * as decimal from "../../contracts/src/decimal.ts";
import type { StopAttempted, StopEnded, StopTriggered } from "../../contracts/src/records/operations.ts";
import type { Fill, OrderCreated } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { covers } from "../../testkit/halt-judge.ts";
import type { Evidence } from "../evidence.ts";
import { type History, isExitOf, isOver, positionKey, type ReportedStop } from "../history.ts";

import { first, type Invariant, onMessage } from "./invariant.ts";

export const stopsExitOnce: Invariant = {
  name: "stops_exit_once",
  sentence:
    "A stop fires once for an opening, has one exit at a time, and its exits never trade more than there was to close, because a stop that exits twice opens the opposite position.",
  violated(evidence) {
    const { past } = evidence;
    return (
      onMessage<StopTriggered>(evidence, subjects.stopTriggered, ({ stop_id: id }) =>
        past.stops.has(id) ? `${id} fired twice` : undefined,
      ) ??
      onMessage<StopAttempted>(evidence, subjects.stopAttempted, (attempt) => attemptedWrongly(past, attempt)) ??
      onMessage<OrderCreated>(evidence, subjects.ordersCreated, ({ order_id: id }) => nobodysExit(past, id)) ??
      onMessage<Fill>(evidence, subjects.fillsCreated, (fill) => tooMuch(past, fill)) ??
      onMessage<StopEnded>(evidence, subjects.stopEnded, ({ stop_id: id }) =>
        past.stops.get(id)?.ended === undefined ? undefined : `${id} ended twice`,
      ) ??
      owedForGood(evidence)
    );
  },
};

function attemptedWrongly(
  past: History,
  { stop_id: id, attempt, order_id: orderId }: StopAttempted,
): string | undefined {
  const stop = past.stops.get(id);
  if (stop === undefined) return `${id} attempted an exit and never fired`;
  if (stop.ended !== undefined) return `${id} attempted ${orderId} after its end`;
  const before = stop.attempts.at(-1);
  if (attempt !== (before?.attempt ?? 0) + 1) return `${id} attempted ${attempt} after ${before?.attempt ?? 0}`;
  const earlier = before === undefined ? undefined : past.orders.get(before.order_id);
  if (earlier === undefined || isOver(earlier.state)) return undefined;
  return `${id} attempted ${orderId} while ${before?.order_id} is ${earlier.state}`;
}

/** Slices are named after their order. */
function nobodysExit(past: History, orderId: string): string | undefined {
  const stop = [...past.stops.values()].find(({ triggered }) => isExitOf(triggered.stop_id, orderId));
  if (stop === undefined) return undefined;
  const [whole] = orderId.split("/");
  if (stop.attempts.some((attempt) => attempt.order_id === whole)) return undefined;
  return `${orderId} closes for ${stop.triggered.stop_id}, which never attempted it`;
}

function tooMuch(
  past: History,
  { fill_id: fillId, order_id: orderId, strategy_id: strategyId, quantity }: Fill,
): string | undefined {
  if (past.fills.has(fillId)) return undefined;
  const stop = [...past.stops.values()].find(({ triggered }) => isExitOf(triggered.stop_id, orderId));
  // The other half of a cross closes the other strategy's position.
  if (stop === undefined || stop.triggered.strategy_id !== strategyId) return undefined;
  const closable = decimal.add(decimal.abs(decimal.parse(stop.triggered.quantity)), stop.added);
  const closed = decimal.add(stop.exited, decimal.parse(quantity));
  if (closed <= closable) return undefined;
  return `the exits of ${stop.triggered.stop_id} traded ${decimal.format(closed)}, and ${decimal.format(closable)} were to be closed`;
}

/** Once the faults are over every exit comes to its end, unless there is a reason that only people can take away. */
function owedForGood({ settled, reported, past }: Evidence): string | undefined {
  if (!settled || reported !== undefined) return undefined;
  return first(past.stops.values(), (stop) => {
    if (stop.ended !== undefined || isExcused(past, stop)) return undefined;
    return `the exit of ${stop.triggered.stop_id} is still owed after ${stop.attempts.length} attempts`;
  });
}

/**
 * Only where people must act, and an alarm says so: the fund's limits let no exit pass a halt, or the account was traded past us, so that the broker
 * does not hold what the stop would close, and the reconciler, which may not correct it, has reported that.
 */
export function isExcused(past: History, { triggered, attempts }: ReportedStop): boolean {
  const reported = past.waiting.get(positionKey(triggered.fund_id, triggered.symbol)) ?? [];
  const ofStop = `The stop of ${triggered.strategy_id} in ${triggered.symbol} `;
  if (attempts.length > 0 && !reported.some((sentence) => sentence.startsWith(ofStop))) return false;
  if (attempts.length > 0 && past.apart.has(positionKey(triggered.fund_id, triggered.symbol))) return true;
  const place = { fund_id: triggered.fund_id, strategy_id: triggered.strategy_id ?? "" };
  const isHalted = past.halts.some((halt) => halt.lift === undefined && covers(halt, place));
  const newest = [...past.envelopes.values()].filter((one) => one.fund_id === triggered.fund_id).at(-1);
  return isHalted && newest?.halt_allow_reduce_only === false;
}
