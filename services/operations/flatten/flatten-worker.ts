// Drives a flatten: the orders that are to go first, then each of its positions by the driver of exits, then what the broker says is left of each
// fund. All of it goes on after a restart, because the store says what is left.
//
//  1. A line is over when the position that was held when it was asked is gone. Whatever else the fund comes to hold before it is proved flat is closed
//     by a line of its own, and an entry that was taken in while the flatten began is cancelled as well.
//  2. Exits do not wait for orders that cannot be cancelled yet.
//  3. A flatten is over when all of its lines and orders are and the broker, asked after that, has called every fund flat. Until it does, the
//     flatten is not done, and that is an alarm.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { FlatProof } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Broker } from "../../../ports/broker.ts";
import type { StoredFlatten, StoredFlattenLine } from "../../../ports/flatten-records.ts";
import type { StoredPosition } from "../../../ports/oms-records.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { line as oneLine } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { createExitWorker, type ExitBook, type ExitWorker } from "../exits/exit-worker.ts";
import type { OwedExit } from "../exits/owed-exit.ts";
import { exitedQuantity } from "../exits/owed-facts.ts";
import { proveFlat } from "../reconcile/prove-flat.ts";
import { shortHash } from "../short-hash.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { createOrderCanceller, latePositions, owesOrders } from "./flatten-orders.ts";
import { afterProof, leftWords, mayAskAgain, nextStepOf, unflatOf } from "./unflat-funds.ts";

/** From then on somebody has to know that a flatten is not finished. */
const openMsMax = 60_000;

export interface FlattenDriverOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "random" | "log" | "crash" | "referenceData" | "sha256">;
  readonly orderManagement: OrderManagement;
  readonly broker: Broker;
  readonly alarms: WorkerAlarms;
}

interface Life {
  isEnding(): boolean;
}

export interface FlattenWorker extends Pick<ExitWorker, "complaint"> {
  /** Takes the flatten that runs one step further; false when there is none, or it is done. */
  work(): Promise<boolean>;
  /** Why an order is not gone; undefined when nothing is known against it. */
  orderComplaint(orderId: string): string | undefined;
}

export function createFlattenWorker(options: FlattenDriverOptions, { isEnding }: Life): FlattenWorker {
  const { ports, orderManagement, broker, alarms } = options;
  const { store, clock, log } = ports;
  let instruments: ReadonlyMap<string, Instrument> = new Map();
  const worker: ExitWorker = createExitWorker({
    ports,
    orderManagement,
    broker: broker.name,
    instrument: (symbol) => instruments.get(symbol),
    book: bookOf(store),
    isEnding,
  });
  const canceller = createOrderCanceller({ ports, orderManagement, isEnding });

  async function prove(flatten: StoredFlatten, fundId: string): Promise<string | undefined> {
    try {
      const question = { fundId, askedBy: flatten.requestedBy, reason: `Flatten ${flatten.flattenId}` };
      const proof = await proveFlat({ ...ports, broker }, question, noteProof);
      if (!proof.flat) log.warn("a flattened fund is not flat", { fund: fundId, proof: proof.proof_id });
      return undefined;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      return `the broker has not said what is left of ${fundId} (${messageOf(thrown)})`;
    }
  }

  async function tellOpen(flatten: StoredFlatten, left: Left, complaint: string | undefined): Promise<void> {
    if (millisecondsBetween(flatten.at, clock.now()) < openMsMax) return;
    const { positions, orders } = left;
    const why =
      complaint ?? (positions > 0 ? "their exits have not traded yet" : "their cancels are not confirmed yet");
    const what = `${positions} positions and ${orders} orders are open`;
    const sentence = `The flatten ${flatten.flattenId} is not finished, ${what}: ${why}.`;
    await alarms.raise("FLATTEN_OPEN", flatten.flattenId, sentence, { positions, orders });
  }

  /** Says of every fund whether the broker calls it flat, from what the store has: also after a restart. */
  async function tellUnflat(flatten: StoredFlatten): Promise<void> {
    for (const fundId of flatten.fundIds) {
      const about = `${flatten.flattenId} ${fundId}`;
      const unflat = unflatOf(flatten, fundId);
      if (unflat === undefined || (await isOwing(store, flatten, fundId))) {
        alarms.clear("FLATTEN_NOT_FLAT", about);
        continue;
      }
      const next = await store.transact("flatten.look", (unit) => nextStepOf(unit, unflat));
      const has = `every line is closed, and ${broker.name} still has ${leftWords(unflat)}`;
      const sentence = `The flatten of ${fundId} is NOT DONE: ${has}. ${next}`;
      await alarms.raise("FLATTEN_NOT_FLAT", about, sentence, { fund_id: fundId, proof_id: unflat.proofId });
    }
  }

  /** What its funds have come to hold since it was asked for is closed as well. */
  async function addLate({ flattenId }: StoredFlatten): Promise<void> {
    const find = async (unit: UnitOfWork) => {
      const flatten = await unit.flattens.lockRunning();
      if (flatten?.flattenId !== flattenId) return undefined;
      const lines = await unit.flattens.lines(flattenId);
      return { flatten, lines, late: await latePositions(unit, flatten, lines) };
    };
    const seen = await store.transact("flatten.look", find);
    if (seen === undefined || seen.late.length === 0) return;
    await store.transact("flatten.drive", async (unit) => {
      const found = await find(unit);
      if (found === undefined) return;
      const { flatten, lines, late } = found;
      const at = clock.now();
      for (const [index, position] of late.entries()) {
        const line = lineOf(ports.sha256, { flattenId, index: lines.length + index, position, at });
        await unit.flattens.insertLine(line);
        await tell(unit, line, "OWED", "The fund came to hold it after the flatten was asked for.");
      }
      // What the broker said of these funds is of before.
      const unflat = (flatten.unflat ?? []).filter(({ fundId }) => !late.some((one) => one.fundId === fundId));
      await unit.flattens.update({ ...flatten, unflat });
    });
  }

  return {
    complaint: worker.complaint,
    orderComplaint: canceller.complaint,
    async work() {
      const flatten = await store.transact("flatten.look", (unit) => unit.flattens.lockRunning());
      if (flatten === undefined) return false;
      const orders = await canceller.cancel(flatten);
      await addLate(flatten);
      const lines = await store.transact("flatten.look", (unit) => unit.flattens.lines(flatten.flattenId));
      instruments = new Map((await ports.referenceData.read()).instruments.map((one) => [one.symbol, one]));
      const owed = lines.filter(({ ended }) => ended === undefined).map(({ lineId }) => lineId);
      const left = await worker.work(owed);
      let complaint = owed.map((lineId) => worker.complaint(lineId)).find((said) => said !== undefined);
      const proved = new Set(flatten.provedFundIds);
      for (const fundId of flatten.fundIds) {
        if (isEnding() || proved.has(fundId) || (await isOwing(store, flatten, fundId))) continue;
        if (!mayAskAgain(unflatOf(flatten, fundId), clock.now())) continue;
        const unproved = await prove(flatten, fundId);
        complaint ??= unproved;
      }
      const now = await store.transact("flatten.look", (unit) => unit.flattens.find(flatten.flattenId));
      if (now !== undefined) await tellUnflat(now);
      if (now?.doneAt === undefined) {
        const isOnlyUnflat = left + orders === 0 && complaint === undefined && (now?.unflat ?? []).length > 0;
        if (!isOnlyUnflat) await tellOpen(flatten, { positions: left, orders }, complaint);
        return true;
      }
      alarms.clear("FLATTEN_OPEN", flatten.flattenId);
      log.info("a flatten is done", { flatten: flatten.flattenId });
      return false;
    },
  };
}

interface Left {
  readonly positions: number;
  readonly orders: number;
}

function isOwing(store: ServicePorts["store"], flatten: StoredFlatten, fundId: string): Promise<boolean> {
  return store.transact("flatten.look", (unit) => owes(unit, flatten, fundId));
}

export async function owes(unit: UnitOfWork, flatten: StoredFlatten, fundId: string): Promise<boolean> {
  const lines = await unit.flattens.lines(flatten.flattenId);
  if (lines.some((line) => line.fundId === fundId && line.ended === undefined)) return true;
  if (await owesOrders(unit, flatten, fundId)) return true;
  return (await latePositions(unit, flatten, lines)).some((position) => position.fundId === fundId);
}

/** A position that is to be closed, under a name of its own. */
export function lineOf(
  sha256: ServicePorts["sha256"],
  of: { readonly flattenId: string; readonly index: number; readonly position: StoredPosition; readonly at: Instant },
): StoredFlattenLine {
  const { flattenId, index, position, at } = of;
  const { fundId, strategyId, symbol, openedBy, quantity } = position;
  const lineId = `flatten-${shortHash(sha256, [flattenId, String(index)])}`;
  const held = { fundId, strategyId, symbol, openedBy, quantity };
  return { lineId, flattenId, ...held, exitedBefore: decimal.zero, askedAt: at, at };
}

/** Somebody may have asked for more while the broker was asked: then this proof is one of a moment, and another one is owed. */
async function noteProof(unit: UnitOfWork, at: Instant, proof: FlatProof): Promise<void> {
  const flatten = await unit.flattens.lockRunning();
  if (flatten === undefined || flatten.provedFundIds.includes(proof.fund_id)) return;
  if (await owes(unit, flatten, proof.fund_id)) return;
  await unit.flattens.update(afterProof(flatten, proof, at));
}

function exitOfLine(line: StoredFlattenLine): OwedExit {
  const { lineId, fundId, strategyId, symbol, openedBy, quantity, askedAt, attempt, exitedBefore } = line;
  return {
    exitId: lineId,
    fundId,
    strategyId,
    symbol,
    openedBy,
    quantity,
    owedSince: askedAt,
    exitedBefore,
    ...(attempt !== undefined && { attempt }),
  };
}

function bookOf(store: ServicePorts["store"]): ExitBook<StoredFlattenLine> {
  return {
    manner: "what was held, with the fund",
    work: (work) => store.transact("flatten.drive", work),
    refusing: (work) => store.transact("flatten.drive", work),
    exitOf: exitOfLine,
    async lock(unit, lineId) {
      const line = await unit.flattens.lockLine(lineId);
      return line?.ended === undefined ? line : undefined;
    },
    async attempted(unit, line, attempt) {
      const exitedBefore = await exitedQuantity(unit, exitOfLine(line));
      const moved = { ...line, attempt, exitedBefore, at: attempt.at };
      await move(unit, moved, "EXITING", `Closes ${decimal.format(attempt.quantity)}.`);
    },
    refused: (unit, line, attempt, why) => move(unit, { ...line, attempt }, "OWED", why),
    end: (unit, line, exited, at) => endLine(unit, line, exited, at),
    thesis: ({ flattenId }) => `Flatten ${flattenId}: an operator wants every position of the fund closed.`,
    cancelReason: ({ flattenId }) => `It competes with the flatten ${flattenId}.`,
    waits: async () => undefined,
    over: () => undefined,
  };
}

async function endLine(unit: UnitOfWork, line: StoredFlattenLine, exited: Decimal, at: Instant): Promise<void> {
  const ended = { exitedQuantity: exited, at };
  const position = (await unit.oms.positions(line.fundId)).find(
    (one) => one.strategyId === line.strategyId && one.symbol === line.symbol,
  );
  const isNetted =
    position?.openedBy === line.openedBy && exited < decimal.abs(line.quantity) && position.quantity !== 0n;
  const rest = isNetted ? " The fund holds nothing of it: the rest stands against another strategy's." : "";
  await move(unit, { ...line, ended, at }, "FLAT", `Its exits traded ${decimal.format(exited)}.${rest}`);
}

async function move(
  unit: UnitOfWork,
  line: StoredFlattenLine,
  state: "OWED" | "EXITING" | "FLAT",
  detail: string,
): Promise<void> {
  await unit.flattens.updateLine(line);
  await tell(unit, line, state, detail);
}

async function tell(
  unit: UnitOfWork,
  line: StoredFlattenLine,
  state: "OWED" | "EXITING" | "FLAT",
  detail: string,
): Promise<void> {
  await unit.events.publish(subjects.flattenLine, {
    flatten_id: line.flattenId,
    fund_id: line.fundId,
    strategy_id: line.strategyId,
    symbol: line.symbol,
    state,
    ...(line.attempt !== undefined && { order_id: line.attempt.orderId }),
    attempts: line.attempt?.number ?? 0,
    detail: oneLine(detail, 2_000),
    at: format(line.at),
  });
}
