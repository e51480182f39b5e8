// Approvals that nobody sent, in time: they run out so long after their `valid_until`, and their owners or an operator may say earlier what became
// of them.
//
//  1. Nothing expires, and nothing is left out of the proof that an exit reduces, before everything that was said of orders until its `valid_until`
//     was heard: the time is that of heard-time.ts, and a start begins it anew.
//  2. An expiry moves the books in the step in which it goes to the journal, and is taken back when the journal did not take it.
//  3. Each is reported once, after the journal has it (approval-events.ts).
//  4. An approval is released only after order management was kept from sending it (keep-from-sending.ts).
//  5. A sweep goes over all open orders in short stretches, between which checks are decided; what expires goes to the journal in small groups, one
//     after the other, so that no check, and no denial by a halt, waits for the commit of more than one of them.
//  6. No more expires than can be published: a store that takes no events stops expiries, not the engine.
//  7. Of machines only the source to which an order belongs confirms or releases it; a person may release any.

import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import type {
  Approval,
  Approvals as ApprovalList,
  ConfirmSentRequest,
  ListApprovalsRequest,
  ReleaseApprovalRequest,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import {
  format,
  fromMicroseconds,
  type Instant,
  parse,
  plusMilliseconds,
  tryParse,
} from "../../../contracts/src/instant.ts";
import { platformServices } from "../../../contracts/src/platform-services.ts";
import { approvalExpired } from "../../../contracts/src/records/order.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { toDecimal } from "../../../core/money/amount.ts";
import { approvalGraceMs } from "../../../core/orders/approval-list.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { Attempt, Attempts } from "../../shared/attempts.ts";
import { startLoop } from "../../shared/loop.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { TouchedOrders } from "../../shared/touched-orders.ts";
import { breathe, within } from "../../shared/waiting.ts";
import type { Alarms } from "../alarms.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { type ApprovalEvent, type ApprovalEvents, payloadOf, unpublishedMax } from "./approval-events.ts";
import type { HeardTime } from "./heard-time.ts";
import { keepFromSending } from "./keep-from-sending.ts";

interface ApprovalsOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "settings">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  readonly attempts: Attempts;
  readonly alarms: Pick<Alarms, "raise">;
  readonly events: ApprovalEvents;
  readonly heard: HeardTime;
  readonly touched: Pick<TouchedOrders, "refused">;
}

export interface RunningApprovals {
  confirmSent(request: ConfirmSentRequest, call: RpcCall): Promise<Approval | DeniedAnswer>;
  releaseApproval(request: ReleaseApprovalRequest, call: RpcCall): Promise<Approval | DeniedAnswer>;
  listApprovals(request: ListApprovalsRequest, call: Pick<RpcCall, "identity">): Promise<ApprovalList>;
  /** What moved the books and is not in the journal. */
  unwritten(): number;
  stop(): Promise<void>;
}

/** An unsent approval past its time, and what the heard time was when that was seen first. */
interface Lapse {
  readonly validUntil: Instant;
  readonly sinceMs: number;
}

const everyMs = 500;
const stretchMax = 4_096;
const listMax = 5_000;
/** Before every approval: as long as nobody can say up to when everything was heard, nothing has run out. */
const never = fromMicroseconds(0);
/** At most so many expire in one sweep: each of them is an entry of the journal. */
const expiriesMax = 1_000;
/** An order that is approved anew so often while its approval is released is being sent. */
const releaseTriesMax = 5;
/** Invariant 5: together in a commit, and how long a sweep waits for it. */
const groupMax = 64;
const groupMsMax = 1_000;

export function startApprovals(options: ApprovalsOptions): RunningApprovals {
  const { ports, engine, commit, attempts, alarms, events, heard } = options;
  const { clock, timers, log } = ports;
  const graceMs = ports.settings.risk.approvalGraceMs ?? approvalGraceMs;
  /** Orders whose owners' word is not in the journal. */
  const unwritten = new Set<string>();
  /** Entries on their way into the journal whose events follow. */
  let underWay = 0;
  /** By order, as the last sweep found them. */
  let lapsed: ReadonlyMap<string, Lapse> = new Map();

  async function sweep(ending: AbortSignal): Promise<number> {
    const heardUntil = heard.advance();
    const seen = new Map<string, Lapse>();
    let group: Promise<void>[] = [];
    let expired = 0;
    for (let from = 0; ; ) {
      const { unsent, next } = engine.sweepUnsent(heardUntil ?? never, from, stretchMax);
      for (const { orderId, validUntil } of unsent) {
        const lapse = lapseOf(orderId, validUntil) ?? { validUntil, sinceMs: heard.elapsedMs() };
        const isDue = heard.elapsedMs() - lapse.sinceMs >= graceMs && expired < expiriesMax;
        // Also of one that expires now: when the journal does not take it, its time is not counted again.
        seen.set(orderId, lapse);
        if (!isDue || !hasRoom() || commit.complaint() !== undefined) continue;
        const durable = expire(orderId, validUntil);
        if (durable === undefined) continue;
        expired += 1;
        group.push(durable);
        if (group.length < groupMax) continue;
        if (!(await settled(group, ending))) return everyMs;
        group = [];
      }
      if (next === 0) break;
      from = next;
      await breathe(timers, ending);
      if (ending.aborted) return everyMs;
    }
    lapsed = seen;
    if (expired > 0) log.info("approvals expired unsent", { count: expired });
    return everyMs;
  }

  function lapseOf(orderId: string, validUntil: Instant): Lapse | undefined {
    const lapse = lapsed.get(orderId);
    return lapse?.validUntil === validUntil ? lapse : undefined;
  }

  /** Invariant 6. */
  const hasRoom = (): boolean => events.unpublished() + underWay < unpublishedMax;

  /** Invariant 2. */
  function expire(orderId: string, through: Instant): Promise<void> | undefined {
    const reported = expiryOf(orderId, through, "Nothing showed within its time that it was sent.");
    if (reported === undefined) return undefined;
    underWay += 1;
    return reported.durable.then(
      () => {
        underWay -= 1;
        events.tellInTime(reported.event);
      },
      (thrown: unknown) => {
        underWay -= 1;
        log.warn("an approval could not expire yet", { order_id: orderId, reason: messageOf(thrown) });
      },
    );
  }

  /** False when the journal takes too long, or nobody waits any more. */
  async function settled(group: readonly Promise<void>[], ending: AbortSignal): Promise<boolean> {
    const all = Promise.all(group).then(() => true);
    return (await within(timers, groupMsMax, all, false, ending)) && !ending.aborted;
  }

  function expiryOf(orderId: string, through: Instant, reason: string, releasedBy?: string) {
    const state = releasedBy === undefined ? "EXPIRED" : "RELEASED";
    const expiry = engine.expire(orderId, through, state);
    if (expiry === undefined) return undefined;
    const { order, what, released } = expiry;
    const now = clock.now();
    const event = {
      kind: "expiry",
      payload: {
        order_id: order.id,
        fund_id: order.fund.id,
        strategy_id: order.strategyId,
        symbol: order.book.symbol,
        side: order.side,
        what,
        released_quantity: decimal.format(toDecimal(released)),
        valid_until: format(through),
        state,
        ...(releasedBy !== undefined && { released_by: releasedBy }),
        reason,
        at: format(now),
      },
    } as const satisfies ApprovalEvent;
    // Nothing goes into the journal that could not be read back from it: the books would not stand up again.
    const read = approvalExpired.safeParse(event.payload);
    if (!read.success) {
      engine.unexpire(expiry);
      const at = read.error.issues.map(({ path }) => path.join(".")).join(", ");
      log.error("an approval cannot be recorded as expired and stays reserved", { order_id: orderId, at });
      return undefined;
    }
    const entry = { kind: event.kind, at: now, fundId: order.fund.id, orderId: order.id, payload: payloadOf(event) };
    return { event, durable: commit.add(entry, () => engine.unexpire(expiry)) };
  }

  /** Invariant 7. Undefined when it may. */
  async function refusedToOthers(attempt: Attempt): Promise<DeniedAnswer | undefined> {
    const { identity, target: orderId } = attempt;
    const owner = identity.kind === "service" ? engine.ownerOf(orderId) : undefined;
    if (owner === undefined || owner === identity.name) return undefined;
    options.touched.refused(identity.name, orderId);
    const reason = `Order ${orderId} was asked for by another source, which alone confirms and releases it.`;
    return attempts.refused(attempt, { code: "ORDER_NOT_YOURS", reason });
  }

  async function confirmSent(
    { order_id: orderId }: ConfirmSentRequest,
    { identity }: RpcCall,
  ): Promise<Approval | DeniedAnswer> {
    const refused = await refusedToOthers({ identity, verb: "ConfirmSent", target: orderId, reason: "" });
    if (refused !== undefined) return refused;
    mustBeOpen();
    if (!hasRoom()) throw tooManyUnpublished();
    const before = engine.approval(orderId);
    const confirmed = engine.confirmSent(orderId);
    if (confirmed === undefined) throw notFound(orderId);
    if (confirmed === "ended") return endedApproval(orderId);
    const after = engine.approval(orderId) ?? before;
    if (after === undefined) throw notFound(orderId);
    if (confirmed === "known" && !unwritten.has(orderId)) return after;
    const now = clock.now();
    const isAgain = confirmed === "reserved again";
    const event = {
      kind: "sent",
      payload: {
        order_id: orderId,
        fund_id: after.fund_id,
        confirmed_by: identity.actor,
        after_expiry: isAgain,
        at: format(now),
      },
    } as const satisfies ApprovalEvent;
    if (isAgain) sentAfterExpiry(alarms, orderId, after.fund_id);
    // It is a fact, whether the journal took it or not: the owner asks again, and then it is written.
    unwritten.add(orderId);
    underWay += 1;
    try {
      await commit.add({ kind: "sent", at: now, fundId: after.fund_id, orderId, payload: payloadOf(event) });
    } finally {
      underWay -= 1;
    }
    unwritten.delete(orderId);
    events.tellInTime(event);
    return after;
  }

  async function releaseApproval(
    { order_id: orderId, reason }: ReleaseApprovalRequest,
    { identity }: RpcCall,
  ): Promise<Approval | DeniedAnswer> {
    const attempt: Attempt = { identity, verb: "ReleaseApproval", target: orderId, reason };
    const approval = engine.approval(orderId);
    if (approval === undefined) throw notFound(orderId);
    const refused = await refusedToOthers(attempt);
    if (refused !== undefined) return refused;
    if (line(reason, 2_000).trim() === "") {
      const missing = "An approval is not released without a reason.";
      return attempts.refused(attempt, { code: "REASON_MISSING", reason: missing });
    }
    if (approval.state === "RELEASED") return approval;
    if (approval.state === "EXPIRED") {
      const expired = `The approval of ${orderId} has expired already: nothing is reserved for it.`;
      return attempts.refused(attempt, { code: "APPROVAL_EXPIRED", reason: expired });
    }
    for (let tries = 0; tries < releaseTriesMax; tries += 1) {
      const unsent = engine.unsent(orderId);
      if (unsent === undefined) break;
      mustBeOpen();
      if ((await keepFromSending(ports, orderId, unsent)) === "sent") break;
      const reported = expiryOf(orderId, unsent.through, line(reason, 2_000), identity.actor);
      // Something was heard of the order meanwhile, or it was approved again: as it stands now.
      if (reported === undefined) continue;
      await reported.durable;
      await events.tell(reported.event, (unit) => attempts.allowed(unit, attempt));
      return engine.approval(orderId) ?? approval;
    }
    const sent = `Order ${orderId} was sent: what is reserved for it stays until it ends.`;
    return attempts.refused(attempt, { code: "APPROVAL_SENT", reason: sent });
  }

  /** With when it runs out as the time stands: it may have stood still. */
  function inTime(approval: Approval): Approval {
    const { order_id: orderId, valid_until: until } = approval;
    if (until === undefined) return approval;
    const validUntil = parse(until);
    const lapse = lapseOf(orderId, validUntil);
    const leftMs = lapse === undefined ? graceMs : lapse.sinceMs + graceMs - heard.elapsedMs();
    const now = clock.now();
    const from = lapse === undefined && validUntil > now ? validUntil : now;
    return { ...approval, expires_at: format(plusMilliseconds(from, Math.max(leftMs, 0))) };
  }

  function mustBeOpen(): void {
    const complaint = commit.complaint();
    if (complaint !== undefined) throw complaint;
  }

  const what = {
    failing: "unsent approvals could not be looked through",
    working: "unsent approvals can be looked through again",
  };
  const loop = startLoop({ ports, what, firstAfterMs: 0, run: sweep, troubleMsMax: everyMs });
  return {
    confirmSent,
    releaseApproval,
    async listApprovals(request, { identity }) {
      const { fund_id: fundId, unsent, order_id: orderId, count_max: count = 0, after_approval: after } = request;
      const owner = ownOnly(identity);
      if (orderId !== undefined) {
        const found = engine.approval(orderId);
        const isShown = found !== undefined && (owner === undefined || engine.ownerOf(orderId) === owner);
        return { approvals: isShown ? [inTime(found)] : [] };
      }
      const countMax = count === 0 ? listMax : Math.min(count, listMax + 1);
      const mark = after === undefined ? {} : { after: approvalMark(after) };
      const question = { fundId: fundId || undefined, unsent, owner, countMax, ...mark };
      return { approvals: engine.approvals(question).map(inTime) };
    },
    unwritten: () => unwritten.size + underWay,
    stop: async () => {
      await loop.stop();
      await events.stop();
    },
  };
}

/** A machine outside sees what it asked for itself; people and our own processes see everybody's. */
function ownOnly({ kind, name }: RpcCall["identity"]): string | undefined {
  return kind === "service" && !(platformServices as readonly string[]).includes(name) ? name : undefined;
}

/** Something shows that an order was sent whose approval had run out or was released. */
export function sentAfterExpiry(alarms: Pick<Alarms, "raise">, orderId: string, fundId: string): void {
  const sentence = `Order ${orderId} of ${fundId} was sent although its approval had expired or was released; it is reserved again.`;
  alarms.raise("SENT_AFTER_EXPIRY", orderId, sentence);
}

/** Its end was reported, and something dated later shows that it works. */
export function worksAfterItsEnd(alarms: Pick<Alarms, "raise">, orderId: string, fundId: string): void {
  const sentence = `Order ${orderId} of ${fundId} was reported as ended, and works after that; what it may still trade is reserved again, until a later end of it is reported or an operator ends it: ctl riskengine approvals end ${orderId}.`;
  alarms.raise("ORDER_WORKS_AFTER_END", orderId, sentence);
}

/** When it runs out, empty when it was sent, and its order's id, with a slash between them. */
function approvalMark(text: string): { readonly unsentUntil: number; readonly orderId: string } {
  const slash = text.indexOf("/");
  const until = text.slice(0, Math.max(slash, 0));
  const unsentUntil = until === "" ? Number.NaN : tryParse(until);
  if (slash >= 0 && unsentUntil !== undefined) return { unsentUntil, orderId: text.slice(slash + 1) };
  const sentence = `after is ${JSON.stringify(line(text, 128))}: give valid_until and order_id of the last one that you have, with a slash between them.`;
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

function tooManyUnpublished(): Fault {
  const sentence = `${unpublishedMax} changes of approvals wait to be published, as many as may. Ask again.`;
  return new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
}

function notFound(orderId: string): Fault {
  const shown = JSON.stringify(line(orderId, 128));
  return new Fault("NOT_FOUND", `Nothing is reserved for an order ${shown}.`, { retry: "never" });
}

function endedApproval(orderId: string): Approval {
  const nothing = { fund_id: "", strategy_id: "", symbol: "", side: "" };
  const amounts = { quantity: "0", filled_quantity: "0", reserved_quantity: "0" };
  return { order_id: orderId, ...nothing, ...amounts, state: "ENDED" };
}
