// The procedures that change open orders: cancel one, cancel all, amend. Each request is durable before it is answered.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  AmendOrderRequest,
  CancelAllRequest,
  CancelOrderRequest,
  OrderStatus,
  OrderStatuses,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { decimalText, idText, lineText, positiveDecimalText } from "../../contracts/src/records/fields.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { createAttempts } from "../shared/attempts.ts";
import { isKnownFund, noSuchFund } from "../shared/must-know-fund.ts";
import type { TouchedOrders } from "../shared/touched-orders.ts";
import type { Amending } from "./amendments/amending.ts";
import type { Terms } from "./amendments/amendment-terms.ts";
import { type Attempted, tellAttempt } from "./attempted.ts";
import type { Cancelling } from "./cancelling.ts";
import type { OmsPorts } from "./oms-parts.ts";
import { statusOf } from "./order-status.ts";
import type { Drivers } from "./order-worker.ts";
import { whyNotYours } from "./ownership/order-askers.ts";
import { mustBeFree } from "./reserved-names.ts";

const answerMsMax = 3_000;
const confirmationWord = "CANCEL";
const keyText = lineText(200).min(1);

type Call = Pick<RpcCall, "identity">;

interface OrderCommandsParts {
  readonly ports: OmsPorts;
  readonly drivers: Drivers;
  readonly cancelling: Cancelling;
  readonly amending: Amending;
  readonly touched: Pick<TouchedOrders, "refused">;
}

export function createOrderCommands({ ports, drivers, cancelling, amending, touched }: OrderCommandsParts) {
  const { clock, store } = ports;
  const attempts = createAttempts(ports, "oms");

  const tells =
    ({ identity }: Call, attempted: Attempted) =>
    async (unit: UnitOfWork): Promise<void> => {
      await tellAttempt(unit, identity, attempted, clock.now());
    };

  async function present(orderId: string): Promise<OrderStatus> {
    const stored = await store.transact("oms.look", (unit) => unit.oms.order(orderId));
    if (stored === undefined) throw noSuchOrder(orderId);
    return statusOf(stored);
  }

  /** Of an order that is another source's; undefined when it may be touched. */
  async function refusedToOthers({ identity }: Call, attempted: Attempted): Promise<DeniedAnswer | undefined> {
    const denial = await whyNotYours(ports, attempted.target, identity);
    if (denial === undefined) return undefined;
    touched.refused(identity.name, attempted.target);
    return attempts.refused({ identity, ...attempted }, denial);
  }

  async function cancelOrder(request: CancelOrderRequest, call: Call): Promise<OrderStatus | DeniedAnswer> {
    const { order_id: orderId, reason } = request;
    const attempted = { verb: "CancelOrder", target: orderId, reason } as const;
    const refused = await refusedToOthers(call, attempted);
    if (refused !== undefined) return refused;
    const asked = { person: personOf(call), tell: tells(call, attempted) };
    const answer = await cancelling.request(orderId, wordsOf(reason, call), asked);
    if (answer === undefined) throw noSuchOrder(orderId);
    if ("denial" in answer) return answer;
    await drivers.settled(orderId, ({ state }) => hasEnded(state), answerMsMax);
    return present(orderId);
  }

  async function cancelAll(request: CancelAllRequest, call: Call): Promise<OrderStatuses | DeniedAnswer> {
    const { fund_id: fundId } = request;
    const target = fundId ?? "";
    const attempt = { identity: call.identity, verb: "CancelAll", target, reason: request.reason };
    if (request.confirmation !== confirmationWord) {
      const reason = `Type ${confirmationWord} to confirm. Nothing was cancelled.`;
      return attempts.refused(attempt, { code: "CONFIRMATION_WRONG", reason });
    }
    const open = await store.transact("oms.look", (unit) => unit.oms.openOrders());
    const wanted = open.filter(({ order }) => fundId === undefined || order.fund_id === fundId);
    // A fund that is gone may have left orders, and they can be cancelled; "there was none" is said of no mistyped name.
    if (wanted.length === 0 && fundId !== undefined && !(await isKnownFund(ports, fundId))) {
      throw await attempts.notFound(attempt, noSuchFund(fundId));
    }
    const auditId = await store.transact("oms.cancel-all", (unit) =>
      tellAttempt(unit, call.identity, { verb: "CancelAll", target, reason: request.reason }, clock.now()),
    );
    const asked = { person: personOf(call) };
    for (const { order } of wanted) await cancelling.request(order.order_id, wordsOf(request.reason, call), asked);
    await Promise.all(
      wanted.map(({ order }) => drivers.settled(order.order_id, ({ state }) => hasEnded(state), answerMsMax)),
    );
    const orders = await Promise.all(wanted.map(({ order }) => present(order.order_id)));
    return { orders, audit_id: auditId };
  }

  async function amendOrder(request: AmendOrderRequest, call: Call): Promise<OrderStatus | DeniedAnswer> {
    const { order_id: orderId, idempotency_key: key, reason } = request;
    const attempted = { verb: "AmendOrder", target: orderId, reason } as const;
    const refused = await refusedToOthers(call, attempted);
    if (refused !== undefined) return refused;
    const terms = readTerms(request);
    mustBeFree({ idempotency_key: key }, call.identity);
    const tell = tells(call, attempted);
    const answer = await amending.request(orderId, key, terms, tell);
    if (answer === undefined) throw noSuchOrder(orderId);
    if ("denial" in answer) return answer;
    if (answer.stored.amendment?.idempotency_key !== key) return statusOf(answer.stored);
    drivers.wake(orderId);
    await drivers.settled(orderId, ({ amendment }) => amendment?.idempotency_key !== key, answerMsMax);
    const outcome = await amending.outcome(orderId, key, terms);
    if (outcome === undefined) throw noSuchOrder(orderId);
    return "denial" in outcome ? outcome : statusOf(outcome.stored);
  }

  /** Whose the order is that a command names. */
  async function fundsOf({ order_id: orderId }: { readonly order_id: string }): Promise<readonly string[] | undefined> {
    const stored = await store.transact("oms.look", (unit) => unit.oms.order(orderId));
    return stored && [stored.order.fund_id];
  }

  return { cancelOrder, cancelAll, amendOrder, fundsOf };
}

function personOf({ identity }: Call): string | undefined {
  return identity.kind === "service" ? undefined : identity.actor;
}

function wordsOf(reason: string, { identity }: Call): string {
  return reason.trim() === "" ? `Cancelled by ${identity.actor}.` : reason;
}

export function noSuchOrder(orderId: string): Fault {
  return new Fault("NOT_FOUND", `There is no order ${orderId.slice(0, 128)}.`, { retry: "never" });
}

function readTerms({ order_id, idempotency_key, quantity, limit_price, stop_price }: AmendOrderRequest): Terms {
  const mistakes = [
    idText.safeParse(order_id).success ? [] : ["order_id"],
    keyText.safeParse(idempotency_key).success ? [] : ["idempotency_key"],
    quantity === undefined || positiveDecimalText.safeParse(quantity).success ? [] : ["quantity"],
    limit_price === undefined || decimalText.safeParse(limit_price).success ? [] : ["limit_price"],
    stop_price === undefined || decimalText.safeParse(stop_price).success ? [] : ["stop_price"],
  ].flat();
  if (quantity === undefined && limit_price === undefined && stop_price === undefined) mistakes.push("no new term");
  if (mistakes.length > 0) {
    throw new Fault("INVALID_ARGUMENT", `This is no amendment: ${mistakes.join(", ")}.`, { retry: "never" });
  }
  const plain = (text: string): string => decimal.format(decimal.parse(text));
  return {
    ...(quantity !== undefined && { quantity: plain(quantity) }),
    ...(limit_price !== undefined && { limit_price: plain(limit_price) }),
    ...(stop_price !== undefined && { stop_price: plain(stop_price) }),
  };
}
