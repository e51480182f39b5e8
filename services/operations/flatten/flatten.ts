// Flattening paper funds: takes an operator's request, and sees it through. One flatten runs at a time; who asks while it runs joins it, and what it does not
// cover yet is added to it.
import type { Denial } from "../../../contracts/src/codes.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  Flatten,
  FlattenLine,
  FlattenPaperRequest,
  GetFlattenRequest,
} from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { FundReference } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { drillFundId } from "../../../core/halts/halts.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { StoredFlatten, StoredFlattenLine } from "../../../ports/flatten-records.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { haltReason } from "../../halts/confirmation-word.ts";
import { type Attempt, createAttempts } from "../../shared/attempts.ts";
import { startLoop } from "../../shared/loop.ts";
import { noSuchFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import { givenReason } from "../worker-verbs.ts";
import { isOwedFor, ordersToCancel, shownOrders } from "./flatten-orders.ts";
import { createFlattenWorker, type FlattenDriverOptions, type FlattenWorker, lineOf, owes } from "./flatten-worker.ts";
import { shownFunds } from "./unflat-funds.ts";

const driveEveryMs = 1_000;
/** With nothing to do; a request wakes it. */
const idleMs = 30_000;

interface FlattenOptions extends Omit<FlattenDriverOptions, "ports"> {
  readonly ports: FlattenDriverOptions["ports"] & Pick<ServicePorts, "timers">;
}

interface RunningFlatten {
  readonly handlers: Pick<RpcService["handlers"], "FlattenPaper" | "GetFlatten">;
  stop(): Promise<void>;
}

export function startFlatten(options: FlattenOptions): RunningFlatten {
  const { ports } = options;
  const { store, clock } = ports;
  const attempts = createAttempts(ports, "halts");
  let isEnding = false;
  const worker = createFlattenWorker(options, { isEnding: () => isEnding });
  const loop = startLoop({
    ports,
    what: "the flatten",
    firstAfterMs: 0,
    run: async () => ((await worker.work()) ? driveEveryMs : idleMs),
  });

  /** Undefined for a fund that there is not. */
  async function scopeOf(fundId: string | undefined): Promise<readonly FundReference[] | Denial | undefined> {
    const { funds } = await ports.referenceData.read();
    if (fundId === undefined) return funds.filter((one) => one.mode === "PAPER" && one.fund_id !== drillFundId);
    if (fundId === drillFundId) {
      const reason = `The fund ${fundId} belongs to the halt drills, which close what they open themselves. Name another one.`;
      return { code: "FUND_NOT_PAPER", reason };
    }
    const fund = funds.find((one) => one.fund_id === fundId);
    if (fund === undefined) return undefined;
    if (fund.mode === "PAPER") return [fund];
    return { code: "FUND_NOT_PAPER", reason: `The fund ${fundId} is ${fund.mode}; only paper funds are flattened.` };
  }

  async function flattenPaper(request: FlattenPaperRequest, { identity }: RpcCall): Promise<Flatten | DeniedAnswer> {
    const reason = givenReason(haltReason(request.reason));
    const attempt: Attempt = { identity, verb: "FlattenPaper", target: request.fund_id ?? "", reason };
    if (request.confirmation !== "FLATTEN") {
      const unconfirmed = {
        code: "CONFIRMATION_WRONG",
        reason: "Type FLATTEN to confirm. Nothing was closed.",
      } as const;
      return attempts.refused(attempt, unconfirmed);
    }
    const scope = await scopeOf(request.fund_id);
    if (scope === undefined) throw await attempts.notFound(attempt, noSuchFund(request.fund_id ?? ""));
    if ("code" in scope) return attempts.refused(attempt, scope);
    const flattenId = `flatten-${ports.random.uuid()}`;
    const fundIds = scope.map(({ fund_id: id }) => id);
    const flatten = await transactToKnownEnd(ports, "flatten.request", async (unit) => {
      const asked = { flattenId, fundIds, reason, requestedBy: identity.actor, at: clock.now() };
      const running = await beginOrJoin(unit, asked, ports);
      await attempts.allowed(unit, attempt);
      return running;
    });
    loop.wake();
    return shown(flatten.flattenId);
  }

  async function shown(flattenId: string | undefined): Promise<Flatten> {
    return store.transact("flatten.look", async (unit) => {
      const flatten = await unit.flattens.find(flattenId);
      if (flatten === undefined) {
        const what = flattenId === undefined ? "Nothing was ever flattened." : "There is no such flatten.";
        throw new Fault("NOT_FOUND", what, { retry: "never" });
      }
      return shownFlatten(unit, flatten, worker);
    });
  }

  return {
    handlers: {
      FlattenPaper: flattenPaper,
      GetFlatten: (request: GetFlattenRequest) => shown(request.flatten_id === "" ? undefined : request.flatten_id),
    },
    stop: () => {
      isEnding = true;
      return loop.stop();
    },
  };
}

interface Asked {
  readonly flattenId: string;
  readonly fundIds: readonly string[];
  readonly reason: string;
  readonly requestedBy: string;
  readonly at: Instant;
}

/** Begins a flatten, or joins the one that runs. */
async function beginOrJoin(
  unit: UnitOfWork,
  { flattenId, fundIds, reason, requestedBy, at }: Asked,
  { sha256 }: Pick<ServicePorts, "sha256">,
): Promise<StoredFlatten> {
  const before = await unit.flattens.lockRunning();
  const id = before?.flattenId ?? flattenId;
  const lines = before === undefined ? [] : await unit.flattens.lines(id);
  const held = (await unit.oms.positions()).filter(
    (one) => one.quantity !== 0n && fundIds.includes(one.fundId) && !lines.some((line) => isOwedFor(line, one)),
  );
  const resting = await ordersToCancel(unit, fundIds, before?.orders);
  const reported = { flatten_id: id, fund_ids: [...fundIds], requested_by: requestedBy, reason };
  const auditId = await unit.events.publish(subjects.flattenRequested, {
    ...reported,
    positions: held.length,
    orders: resting.length,
    at: format(at),
  });
  const orders = [...(before?.orders ?? []), ...resting];
  const flatten: StoredFlatten =
    before === undefined
      ? { flattenId: id, requestedBy, reason, at, auditId, fundIds, provedFundIds: [], orders }
      : {
          ...before,
          orders,
          fundIds: [...new Set([...before.fundIds, ...fundIds])],
          provedFundIds: before.provedFundIds.filter((one) => !fundIds.includes(one)),
          unflat: (before.unflat ?? []).filter((one) => !fundIds.includes(one.fundId)),
        };
  if (before !== undefined) await unit.flattens.update(flatten);
  else if (!(await unit.flattens.insert(flatten))) {
    throw new Fault("STORE_CONFLICT", "Another flatten began at the same moment. Ask again.", { retry: "now" });
  }
  for (const [index, position] of held.entries()) {
    await unit.flattens.insertLine(lineOf(sha256, { flattenId: id, index: lines.length + index, position, at }));
  }
  return flatten;
}

async function shownFlatten(unit: UnitOfWork, flatten: StoredFlatten, worker: FlattenWorker): Promise<Flatten> {
  const lines = await unit.flattens.lines(flatten.flattenId);
  const shownLines: FlattenLine[] = [];
  for (const line of lines) shownLines.push(await shownLine(unit, line, worker));
  return {
    flatten_id: flatten.flattenId,
    requested_by: flatten.requestedBy,
    reason: flatten.reason,
    requested_at: format(flatten.at),
    ...(flatten.doneAt !== undefined && { done_at: format(flatten.doneAt) }),
    lines: shownLines,
    orders: await shownOrders(unit, flatten, worker.orderComplaint),
    funds: await shownFunds(unit, flatten, (fundId) => owes(unit, flatten, fundId)),
    audit_id: flatten.auditId,
  };
}

async function shownLine(unit: UnitOfWork, line: StoredFlattenLine, worker: FlattenWorker): Promise<FlattenLine> {
  const { fundId, strategyId, symbol, attempt, ended } = line;
  const order = attempt === undefined || ended !== undefined ? undefined : await unit.oms.order(attempt.orderId);
  const isExiting = order !== undefined && !hasEnded(order.state);
  const waiting = isExiting
    ? `its exit is ${order.state} and has not traded in full`
    : order === undefined && attempt?.isRefused !== true
      ? "order management has not got its exit yet"
      : "its last exit ended before the position was closed";
  const complaint = ended === undefined ? (worker.complaint(line.lineId) ?? waiting) : undefined;
  return {
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    quantity: decimal.format(line.quantity),
    state: ended !== undefined ? "FLAT" : isExiting ? "EXITING" : "OWED",
    ...(attempt !== undefined && { order_id: attempt.orderId }),
    attempts: attempt?.number ?? 0,
    ...(complaint !== undefined && { complaint }),
    at: format(line.at),
  };
}
