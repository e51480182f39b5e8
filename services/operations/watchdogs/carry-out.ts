// Carries out what episodes owe outside the store: halts through the halt manager, hedges through order management's front door, VACUUM in the database.
// Each has a name that follows from its episode, so that doing it again after a crash is the same halt and the same order.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Order } from "../../../contracts/src/records/order.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type { HedgeOrder } from "../../../core/watchdogs/watchdog.ts";
import type { DatabaseCare } from "../../../ports/database-care.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { RunningHalts } from "../halts/halts.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { Board } from "./board.ts";
import { type Owed, storedOf, type Watch } from "./watch.ts";

interface CarryOutOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "log" | "orderManagement" | "crash">;
  readonly board: Board;
  readonly halts: Pick<RunningHalts, "trip">;
  readonly alarms: WorkerAlarms;
  readonly databaseCare: DatabaseCare | undefined;
  /** The broker that holds what the order reduces; undefined when it is not held any more. Rejects while no broker says what it holds. */
  holdingBroker(fundId: string, order: HedgeOrder): Promise<string | undefined>;
}

export interface CarryOut {
  /** Everything that this watchdog's episodes owe. What cannot be done stays owed, and alarms. */
  all(watchdog: WatchdogName): Promise<void>;
}

const ownActor = "service:operations";

export function createCarryOut(options: CarryOutOptions): CarryOut {
  const { ports, board, alarms } = options;

  async function all(watchdog: WatchdogName): Promise<void> {
    for (const [key, watch] of board.of(watchdog)) {
      if (watch.owed.length > 0) await settle(key, watch);
    }
  }

  async function settle(key: string, watch: Watch): Promise<void> {
    const left: Owed[] = [];
    const notes: string[] = [];
    for (const owed of watch.owed) {
      const outcome = await tryOne(watch, owed);
      if (outcome === "owed") left.push(owed);
      else if (outcome !== "done") notes.push(outcome);
    }
    if (left.length === watch.owed.length) return;
    const lastAction = [watch.lastAction, ...notes].join(" ").trim();
    const next: Watch = { ...watch, owed: left, lastAction };
    await ports.store.transact("watchdogs.judged", (unit) => unit.watchdogs.putWatches([storedOf(next)]));
    board.put(key, next);
  }

  /** A sentence when it ended otherwise than wanted. */
  async function tryOne(watch: Watch, owed: Owed): Promise<"done" | "owed" | (string & {})> {
    const name = nameOf(owed);
    try {
      const outcome = await doOne(watch, owed);
      alarms.clear("WATCHDOG_EFFECT_OPEN", name);
      return outcome;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      await alarms.raise("WATCHDOG_EFFECT_OPEN", name, `${watch.watchdog} wants ${name}: ${messageOf(thrown)}`);
      return "owed";
    }
  }

  async function doOne(watch: Watch, owed: Owed): Promise<"done" | (string & {})> {
    if (owed.kind === "halt") return halt(watch, owed);
    if (owed.kind === "hedge") return hedge(watch, owed);
    const complaint = await options.databaseCare?.vacuum(owed.table);
    if (complaint === undefined) return "done";
    ports.log.warn("a table could not be vacuumed", { table: owed.table, complaint });
    return complaint;
  }

  async function halt(watch: Watch, owed: Owed & { readonly kind: "halt" }): Promise<"done" | (string & {})> {
    const { fundId = "", strategyId } = watch.scope;
    const isStrategy = owed.level === "STRATEGY_HALT";
    const answer = await options.halts.trip({
      severity: owed.level,
      fund_id: owed.level === "FIRM_HALT" ? "" : fundId,
      reason: owed.reason,
      ...(isStrategy && strategyId !== undefined ? { strategy_id: strategyId } : {}),
      requested_by: watch.watchdog,
      halt_id: owed.haltId,
      since: format(ports.clock.now()),
      evidence: { ...watch.judgement?.figures, value: watch.judgement?.value ?? null },
    });
    // Only people lift: what they have lifted is not latched again by the same episode.
    return "denial" in answer ? answer.denial.reason : "done";
  }

  async function hedge(
    watch: Watch,
    { orderId, order }: Owed & { readonly kind: "hedge" },
  ): Promise<"done" | (string & {})> {
    const { fundId = "" } = watch.scope;
    const broker = await options.holdingBroker(fundId, order);
    if (broker === undefined) return `${order.symbol} is not held any more.`;
    const submitted: Order = {
      idempotency_key: orderId,
      order_id: orderId,
      fund_id: fundId,
      strategy_id: order.strategyId,
      symbol: order.symbol,
      side: order.side === "BUY" ? "BUY_TO_COVER" : "SELL",
      quantity: String(order.contracts),
      order_type: "MARKET",
      tif: "DAY",
      broker,
      asset_class: "OPTION",
      actor: ownActor,
      thesis: `${watch.watchdog}: net theta is above its threshold`,
      reduce_only: true,
    };
    const given = await ports.orderManagement.submit(submitted);
    const refusal =
      "denial" in given
        ? given.denial.reason
        : given.answer.code
          ? (given.answer.reason ?? given.answer.code)
          : undefined;
    if (refusal === undefined) return "done";
    // The same order would be refused again: from here on it is people's business.
    const sentence = `The hedge ${orderId} was refused: ${refusal}`;
    await alarms.raise("WATCHDOG_EFFECT_OPEN", `the refused order ${orderId}`, sentence);
    return sentence;
  }

  return { all };
}

function nameOf(owed: Owed): string {
  if (owed.kind === "halt") return `the halt ${owed.haltId}`;
  return owed.kind === "hedge" ? `the order ${owed.orderId}` : `a vacuum of ${owed.table}`;
}
