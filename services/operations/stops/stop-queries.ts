// The procedures about stops: what rests and what is owed, and an operator's word that one shall end without its exit.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type {
  EndStopRequest,
  ListStopsRequest,
  Stop,
  Stops,
} from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { StoredStop } from "../../../ports/stop-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { mustKnowFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { isAttempt } from "../exits/exit-order.ts";
import { exitedQuantity } from "../exits/owed-facts.ts";
import { countLimit, invalid, pagedLimit, sinceHours } from "../risk-queries-arguments.ts";
import { givenReason, missingReason, tellAttempt } from "../worker-verbs.ts";
import { isSameOpening, stopIdOf } from "./stop-order.ts";
import { exitOfStop, type StopWorker } from "./stop-worker.ts";
import type { PositionWatch, WatchedStop } from "./watch-positions.ts";

interface StopQueriesOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash" | "settings" | "sha256" | "referenceData">;
  readonly orderManagement: OrderManagement;
  readonly watch: PositionWatch;
  readonly worker: StopWorker;
}

export function stopQueries({ ports, orderManagement, watch, worker }: StopQueriesOptions) {
  const { store, clock } = ports;

  async function ended(unit: UnitOfWork, hours: number, request: ListStopsRequest): Promise<Stop[]> {
    const { fund_id: fundId, count_max: asked, after_stop_id: afterStopId } = request;
    if (asked > pagedLimit) throw invalid(`count_max is ${asked}: ask for at most ${countLimit}.`);
    const countMax = asked === 0 ? countLimit : asked;
    const found = await unit.stops.ended(sinceHours(hours, clock.now()), countMax, { fundId, afterStopId });
    return Promise.all(found.map((stop) => shownStop(unit, stop, worker)));
  }

  async function list(unit: UnitOfWork, request: ListStopsRequest): Promise<Stop[]> {
    const { fund_id: fundId, owed_only: owedOnly, ended_hours: hours } = request;
    if (hours !== undefined) return ended(unit, hours, request);
    if (request.count_max > 0 || request.after_stop_id !== undefined) {
      throw invalid("count_max and after page through stops that ended: say ended_hours as well.");
    }
    const owed = (await unit.stops.owed()).filter((stop) => fundId === undefined || stop.fundId === fundId);
    const shown = await Promise.all(owed.map((stop) => shownStop(unit, stop, worker)));
    if (owedOnly) return shown;
    const held = await watch.judgeAll(unit, fundId);
    const ids = held.map(({ position }) => stopIdOf(ports.sha256, position));
    const fired = new Map((await unit.stops.find(ids)).map((stop) => [stop.stopId, stop]));
    const isOwed = ({ position }: WatchedStop): boolean => owed.some((stop) => isSameOpening(stop, position));
    for (const [index, watched] of held.entries()) {
      if (isOwed(watched)) continue;
      const stop = fired.get(ids[index] ?? "");
      if (stop === undefined) shown.push(restingStop(watched));
      else if (stop.ended !== undefined) shown.push(await shownStop(unit, stop, worker));
    }
    return shown;
  }

  return {
    async ListStops(request: ListStopsRequest): Promise<Stops> {
      const stops = await store.transact("stops.list", (unit) => list(unit, request));
      if (stops.length === 0) await mustKnowFund(ports, request.fund_id);
      return { stops, enabled: ports.settings.stops.enabled };
    },

    async EndStop(
      { stop_id: stopId, reason: given }: EndStopRequest,
      { identity }: RpcCall,
    ): Promise<Stop | DeniedAnswer> {
      const reason = givenReason(given);
      if (reason === "") return { denial: missingReason("A stop is not ended") };
      const ended = await store.transact("stops.end", async (unit) => {
        const stop = await unit.stops.lock(stopId);
        if (stop === undefined || stop.ended !== undefined) return undefined;
        const at = clock.now();
        const exited = await exitedQuantity(unit, exitOfStop(stop));
        const over: StoredStop = { ...stop, ended: { outcome: "ENDED_BY_OPERATOR", exitedQuantity: exited, at } };
        await unit.stops.update(over);
        await unit.events.publish(subjects.stopEnded, {
          stop_id: stopId,
          fund_id: stop.fundId,
          strategy_id: stop.strategyId,
          symbol: stop.symbol,
          outcome: "ENDED_BY_OPERATOR" as const,
          exited_quantity: decimal.format(exited),
          ended_by: identity.actor,
          reason,
          at: format(at),
        });
        await tellAttempt(unit, identity, { verb: "EndStop", target: stopId, reason, at });
        const found = stop.attempt === undefined ? undefined : await unit.oms.order(stop.attempt.orderId);
        // Recorded and not there yet is withdrawn as well; what is there under that name and not ours is left alone.
        const orderId = found === undefined || isAttempt(found, exitOfStop(stop)) ? stop.attempt?.orderId : undefined;
        return { shown: await shownStop(unit, over, worker), orderId };
      });
      if (ended === undefined) {
        return {
          denial: {
            code: "STOP_NOT_OPEN",
            reason: `There is no stop ${JSON.stringify(stopId.slice(0, 64))} that waits for its exit.`,
          },
        };
      }
      if (ended.orderId !== undefined) await withdraw(ended.orderId, reason);
      return ended.shown;
    },
  };

  /** The stop is over either way; an exit that trades all the same is a trade like every other. */
  async function withdraw(orderId: string, reason: string): Promise<void> {
    try {
      await orderManagement.cancel(orderId, reason);
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      ports.log.warn("the exit of a stop that was ended could not be cancelled", {
        order_id: orderId,
        error: messageOf(thrown),
      });
    }
  }
}

async function shownStop(unit: UnitOfWork, stop: StoredStop, worker: StopWorker): Promise<Stop> {
  const order = stop.attempt === undefined ? undefined : await unit.oms.order(stop.attempt.orderId);
  const isExiting = isAttempt(order, exitOfStop(stop)) && !hasEnded(order.state);
  const complaint = stop.ended === undefined ? worker.complaint(stop.stopId) : stop.ended.outcome;
  return {
    stop_id: stop.stopId,
    fund_id: stop.fundId,
    strategy_id: stop.strategyId,
    symbol: stop.symbol,
    quantity: decimal.format(stop.quantity),
    basis_price: decimal.format(stop.basisPrice),
    trigger_price: decimal.format(stop.triggerPrice),
    state: stop.ended !== undefined ? "ENDED" : isExiting ? "EXITING" : "OWED",
    observed_price: decimal.format(stop.observedPrice),
    observed_at: format(stop.observedAt),
    fired_at: format(stop.firedAt),
    attempts: stop.attempt?.number ?? 0,
    ...(stop.attempt !== undefined && { order_id: stop.attempt.orderId }),
    ...(complaint !== undefined && { complaint }),
    ...(stop.ended !== undefined && {
      outcome: stop.ended.outcome,
      ended_at: format(stop.ended.at),
      exited_quantity: decimal.format(stop.ended.exitedQuantity),
    }),
  };
}

function restingStop({ position, judgement }: WatchedStop): Stop {
  const { fundId, strategyId, symbol, quantity, averagePrice } = position;
  return {
    stop_id: "",
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    quantity: decimal.format(quantity),
    basis_price: decimal.format(averagePrice),
    trigger_price: decimal.format(judgement.triggerPrice),
    state: judgement.state === "FIRES" ? "REACHED" : judgement.state,
    attempts: 0,
    ...(judgement.state === "UNPRICED"
      ? { complaint: judgement.complaint }
      : { observed_price: decimal.format(judgement.observedPrice), observed_at: format(judgement.observedAt) }),
  };
}
