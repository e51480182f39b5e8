// The front door for orders. An order is durable before anything else happens to it; from then on its driver takes it further, and the caller is
// told how far it came.
//
//  1. The same key and body within five minutes is the same order, however often it comes; another body is a conflict, and so is another machine's key; later it
//     is a new order.
//  2. An order that a halt covers is refused here, whether the risk engine is up or not, unless it is marked as an exit: those go on to be proven.
//     The halts are those of the store in this very transaction; when the store cannot be asked nothing is taken in.
//  3. In a fund that a flatten closes only marked exits are taken until its broker has called it flat.
//  4. A marked exit is taken in with at most what its strategy holds beyond its other exits (own-exits.ts).
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Order as OrderMessage } from "../../contracts/src/generated/svc/v1/order.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import { type Order, order as orderSchema } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { haltCovers } from "../../core/orders/may-send.ts";
import type { Identity } from "../../ports/identity.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { closedFunds, whyFlattening } from "../shared/flattening.ts";
import { tellAttempt } from "./attempted.ts";
import { verdictOf } from "./checking.ts";
import { keyWindowMs, type OmsPorts } from "./oms-parts.ts";
import { statusOf } from "./order-status.ts";
import type { Drivers } from "./order-worker.ts";
import { ownExit } from "./own-exits.ts";
import { isOwn } from "./ownership/order-askers.ts";
import type { QuoteKeeping } from "./quotes/keep-quotes.ts";
import { mustBeFree } from "./reserved-names.ts";
import { hexOf } from "./slicing.ts";
import { transitionOf } from "./transitions.ts";

/** Slices are named after their order, so its name leaves room for theirs. */
const orderIdLengthMax = 120;
/** Orders that are being taken further at the same time; one more is refused early. */
const drivenMax = 5_000;
/** How long a caller waits to hear how far its order came. */
const answerMsMax = 5_000;
const triesMax = 3;

/** States in which the order is still on its way to the broker. */
const onItsWay: ReadonlySet<string> = new Set(["PENDING_CHECK", "ACCEPTED", "ROUTED"]);

type Call = Pick<RpcCall, "identity">;

export function createSubmitting(ports: OmsPorts, drivers: Drivers, quotes: Pick<QuoteKeeping, "ofOrder">) {
  const { clock, store } = ports;

  async function submit(request: OrderMessage, { identity }: Call): Promise<OrderStatus | DeniedAnswer> {
    const bodyHash = hexOf(ports.sha256(canonical(request)));
    const order = readOrder(request, () => ports.random.uuid());
    mustBeFree(order, identity);
    if (!ports.brokers.some(({ name }) => name === order.broker)) {
      const reason = `There is no broker ${order.broker} here.`;
      return { denial: { code: "ORDER_BROKER_UNKNOWN", reason } };
    }
    if (order.dry_run === true) return dryRun(order, bodyHash, identity.actor);
    if (drivers.count() >= drivenMax) {
      throw new Fault("RESOURCE_EXHAUSTED", "As many orders as can be are under way.", { retry: "later" });
    }
    const attempted = { verb: "SubmitOrder", target: order.fund_id, reason: order.thesis ?? "" } as const;
    const tell = async (unit: UnitOfWork): Promise<void> => {
      await tellAttempt(unit, identity, attempted, clock.now());
    };
    const taken = await takeIn(order, bodyHash, identity, tell);
    if ("denial" in taken) return taken;
    return answer(taken.stored);
  }

  /** A commit whose answer was lost is found under its key. */
  async function takeIn(
    order: Order,
    bodyHash: string,
    identity: Identity,
    tell: (unit: UnitOfWork) => Promise<void>,
  ): Promise<{ readonly stored: StoredOrder } | DeniedAnswer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await store.transact("oms.submit", async (unit) => {
          const at = clock.now();
          const same = await unit.oms.lockKey(order.idempotency_key, minusMilliseconds(at, keyWindowMs));
          if (same !== undefined && !(await isOwn(unit, same, identity))) return conflict(othersKey);
          if (same?.bodyHash === bodyHash) return { stored: same };
          if (same !== undefined) return conflict(`The key belongs to order ${same.order.order_id}, which differs.`);
          const known = await unit.oms.lockOrder(order.order_id);
          if (known !== undefined && !(await isOwn(unit, known, identity))) return conflict(othersName(known));
          if (known !== undefined) return conflict(whyTaken(known, bodyHash));
          await tell(unit);
          return { stored: await insert(unit, order, bodyHash, identity.actor) };
        });
      } catch (thrown) {
        const isUnknown = thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
        // The caller hears of trouble; the order may be there all the same, and then it goes on.
        if (isUnknown) drivers.wake(order.order_id);
        if (!isUnknown || tries >= triesMax) throw thrown;
      }
    }
  }

  async function insert(unit: UnitOfWork, asked: Order, bodyHash: string, submittedBy: string): Promise<StoredOrder> {
    const at = clock.now();
    const { order, cut } = await ownExit(unit, asked);
    const refusal = order.reduce_only === true ? undefined : await whyOnlyExits(unit, order);
    const pending: StoredOrder = {
      order,
      state: "PENDING_CHECK",
      bodyHash,
      filledQuantity: decimal.zero,
      filledValue: decimal.zero,
      submittedBy,
      createdAt: at,
      updatedAt: at,
      ...cut,
    };
    const created = { ...order, submitted_by: submittedBy, ...(cut !== undefined && { cut_from: cut.cutFrom }) };
    await quotes.ofOrder(unit, "CREATED", order, at);
    if (refusal === undefined) {
      await unit.oms.insertOrder(pending);
      await unit.events.publish(subjects.ordersCreated, created);
      return pending;
    }
    const refused: StoredOrder = { ...pending, state: "REJECTED", ...refusal };
    await unit.oms.insertOrder(refused);
    await unit.events.publish(subjects.ordersCreated, created);
    await unit.events.publish(subjects.ordersRejected, transitionOf(pending, refused));
    return refused;
  }

  /** Nothing is kept: what the risk engine would say, and after an approval this door, as a status. */
  async function dryRun(asked: Order, bodyHash: string, submittedBy: string): Promise<OrderStatus> {
    const at = clock.now();
    const { order, cut } = await store.transact("oms.look", (unit) => ownExit(unit, asked));
    const verdict = verdictOf(await ports.riskChecks.check(order), order, at);
    const refusal =
      verdict.approved && order.reduce_only !== true
        ? await store.transact("oms.look", (unit) => whyOnlyExits(unit, order))
        : undefined;
    return statusOf({
      order,
      state: verdict.approved && refusal === undefined ? "ACCEPTED" : "REJECTED",
      bodyHash,
      filledQuantity: decimal.zero,
      filledValue: decimal.zero,
      decision: verdict.decision,
      ...cut,
      ...(verdict.approved ? refusal : verdict.denial),
      submittedBy,
      createdAt: at,
      updatedAt: at,
    });
  }

  async function answer(stored: StoredOrder): Promise<OrderStatus> {
    const { order_id: orderId } = stored.order;
    if (!onItsWay.has(stored.state)) return statusOf(stored);
    drivers.wake(orderId);
    await drivers.settled(orderId, ({ state }) => !onItsWay.has(state), answerMsMax);
    const now = await store.transact("oms.look", (unit) => unit.oms.order(orderId));
    return statusOf(now ?? stored);
  }

  return submit;
}

/** What lets only marked exits through where this order would trade. */
async function whyOnlyExits(unit: UnitOfWork, order: Order): Promise<Denial | undefined> {
  const { active } = await unit.oms.haltsAtSending();
  const halt = active.find((one) => haltCovers(one, order));
  if (halt !== undefined) {
    const reason = `The halt ${halt.halt_id} (${halt.reason}) covers this order.`.slice(0, 2_000);
    return { code: "ORDER_HALTED", reason };
  }
  const flatten = await unit.flattens.find();
  if (flatten === undefined || !closedFunds(flatten).includes(order.fund_id)) return undefined;
  return { code: "ORDER_FUND_FLATTENING", reason: whyFlattening(flatten, order.fund_id) };
}

/** The order as it was handed in, whatever the order of its fields. */
function canonical(request: OrderMessage): string {
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function readOrder(request: OrderMessage, newId: () => string): Order {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  const read = orderSchema.safeParse({ ...given, order_id: request.order_id === "" ? newId() : request.order_id });
  const mistakes = read.success
    ? []
    : read.error.issues.slice(0, 10).map(({ path, message }) => `${path.join(".")}: ${message}`);
  if (read.success && read.data.order_id.length <= orderIdLengthMax) return read.data;
  if (read.success) mistakes.push(`order_id: expected at most ${orderIdLengthMax} characters`);
  throw new Fault("INVALID_ARGUMENT", `This is no order: ${mistakes.join("; ")}.`, { retry: "never" });
}

/** The same again after its time is a new order, and a new order has a name of its own. */
function whyTaken({ order: { order_id: orderId }, bodyHash: known }: StoredOrder, bodyHash: string): string {
  if (known !== bodyHash) return `The order_id ${orderId} belongs to another order.`;
  const minutes = keyWindowMs / 60_000;
  return `The order ${orderId} is this one, from more than ${minutes} minutes ago; to trade it once more leave the order_id out or give another.`;
}

/** Nothing of the order is told, not even its name. */
const othersKey = "The key belongs to an order that another caller handed in.";
const othersName = ({ order }: StoredOrder): string => `The order_id ${order.order_id} belongs to another order.`;

function conflict(reason: string): DeniedAnswer {
  return { denial: { code: "ORDER_KEY_CONFLICT", reason } };
}
