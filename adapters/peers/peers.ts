// The questions that services ask each other, over any way of asking: the records' own words on one side, the procedures' messages on the other.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { RiskEnvelope as EnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { HaltsConfirmed } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import type {
  Approval,
  Approvals,
  Exposures,
  LimitsPreview,
  LimitUses,
  ListApprovalsRequest,
} from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { BelievedApproval } from "../../contracts/src/records/books.ts";
import { riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { riskDecision } from "../../contracts/src/records/order.ts";
import type { Outcome } from "../../ports/identity.ts";
import type {
  Answered,
  HaltsConfirmer,
  LimitPreviews,
  OrderManagement,
  RiskBooks,
  RiskChecks,
  Withdrawals,
} from "../../ports/peers.ts";

/** Asks one procedure. A denial is an answer; what got none in time rejects. */
export type AskPeer = (service: string, method: string, request: object) => Promise<Outcome<unknown>>;

export interface Peers {
  readonly riskChecks: RiskChecks;
  readonly orderManagement: OrderManagement;
  readonly riskBooks: RiskBooks;
  readonly haltsConfirmer: HaltsConfirmer;
  readonly withdrawals: Withdrawals;
  readonly limitPreviews: LimitPreviews;
}

export function peersOver(ask: AskPeer): Peers {
  return {
    riskChecks: riskChecksOver(ask),
    orderManagement: orderManagementOver(ask),
    riskBooks: riskBooksOver(ask),
    haltsConfirmer: haltsConfirmerOver(ask),
    withdrawals: withdrawalsOver(ask),
    limitPreviews: limitPreviewsOver(ask),
  };
}

function limitPreviewsOver(ask: AskPeer): LimitPreviews {
  return {
    async preview(asked) {
      const reference = "kind" in asked ? { kind: asked.kind, content_json: asked.contentJson } : noReference;
      const envelope = "envelope" in asked ? { envelope: asked.envelope } : {};
      const outcome = await ask("RiskEngine", "PreviewLimits", { ...reference, ...envelope });
      if (!outcome.ok) throw new Defect(`PreviewLimits was denied: ${outcome.denial.code}`);
      // The codec gave what the procedure answers.
      return outcome.value as LimitsPreview;
    },
  };
}

const noReference = { kind: "", content_json: "" };

function withdrawalsOver(ask: AskPeer): Withdrawals {
  return {
    async reserve({ fundId, amount, cash, at }) {
      const asked = await ask("RiskEngine", "ReserveWithdrawal", { fund_id: fundId, amount, cash, at });
      return asked.ok ? { answer: undefined } : { denial: asked.denial };
    },
  };
}

function haltsConfirmerOver(ask: AskPeer): HaltsConfirmer {
  return {
    async announce({ severity, fund_id, strategy_id, reason, requested_by, halt_id, since }) {
      const halt = { severity, fund_id, strategy_id, reason, requested_by, halt_id, since };
      const outcome = await ask("RiskEngine", "AnnounceHalt", halt);
      if (!outcome.ok) throw new Defect(`AnnounceHalt was denied: ${outcome.denial.code}`);
    },
    async confirm(epoch, settled = []) {
      const outcome = await ask("RiskEngine", "ConfirmHalts", { epoch, settled_halt_ids: settled });
      if (!outcome.ok) throw new Defect(`ConfirmHalts was denied: ${outcome.denial.code}`);
      // The codec gave what the procedure answers.
      const confirmed = outcome.value as HaltsConfirmed;
      if (confirmed.epoch >= epoch) return { incarnation: confirmed.incarnation, epoch: confirmed.epoch };
      const sentence = `The risk engine knows epoch ${confirmed.epoch} and not yet ${epoch}.`;
      throw new Fault("SERVICE_UNAVAILABLE", sentence, { retry: "now" });
    },
  };
}

function believedApproval(approval: Approval): BelievedApproval {
  const { valid_until: validUntil, expires_at: expiresAt } = approval;
  const isUnsent = validUntil !== undefined && expiresAt !== undefined;
  return {
    orderId: approval.order_id,
    fundId: approval.fund_id,
    strategyId: approval.strategy_id,
    symbol: approval.symbol,
    state: approval.state,
    askedBy: approval.owned_by ?? approval.asked_by,
    isExit: approval.reduce_only === true,
    reserved: decimal.parse(approval.reserved_quantity),
    unsent: isUnsent ? { validUntil: parse(validUntil), expiresAt: parse(expiresAt) } : undefined,
  };
}

const approvalPageMax = 5_000;
const approvalPagesMax = 20;

function riskBooksOver(ask: AskPeer): RiskBooks {
  async function exposures(): Promise<Exposures> {
    const outcome = await ask("RiskEngine", "ListExposures", {});
    if (!outcome.ok) throw new Defect(`ListExposures was denied: ${outcome.denial.code}`);
    // The codec gave what the procedure answers.
    return outcome.value as Exposures;
  }

  return {
    heldSymbols: async () => (await exposures()).held_symbols,
    async lines() {
      return (await exposures()).lines.map((line) => ({
        fundId: line.fund_id,
        symbol: line.symbol,
        quantity: line.quantity,
        pendingBuy: line.pending_buy,
        pendingSell: line.pending_sell,
      }));
    },
    async approvals() {
      const all: Approval[] = [];
      for (let pages = 0; pages < approvalPagesMax; pages += 1) {
        const last = all.at(-1);
        const after = last === undefined ? {} : { after_approval: `${last.valid_until ?? ""}/${last.order_id}` };
        const request: ListApprovalsRequest = { unsent: false, count_max: approvalPageMax, ...after };
        const outcome = await ask("RiskEngine", "ListApprovals", request);
        if (!outcome.ok) throw new Defect(`ListApprovals was denied: ${outcome.denial.code}`);
        const { approvals } = outcome.value as Approvals;
        all.push(...approvals);
        if (approvals.length < approvalPageMax) return all.map(believedApproval);
      }
      throw new Fault("RESOURCE_EXHAUSTED", `More than ${all.length} approvals stand: they are not compared.`, {
        retry: "later",
      });
    },
    async grossExposure(fundId) {
      const outcome = await ask("RiskEngine", "GetLimitUse", { fund_id: fundId });
      if (!outcome.ok) throw new Defect(`GetLimitUse was denied: ${outcome.denial.code}`);
      const { uses } = outcome.value as LimitUses;
      const used = uses.find(({ limit, scope }) => limit === "max_gross_exposure_pct" && scope === "")?.used;
      return used === undefined ? undefined : decimal.parse(used);
    },
  };
}

function riskChecksOver(ask: AskPeer): RiskChecks {
  return {
    async check(order) {
      const outcome = await ask("RiskEngine", "CheckOrder", order);
      // Being denied is what a decision says; a denial beside it would be of another kind of question.
      if (!outcome.ok) throw new Defect(`CheckOrder was denied as a call: ${outcome.denial.code}`);
      return read("a decision", riskDecision.safeParse(outcome.value));
    },
    async envelope(fundId) {
      const asked = await unlessMissing(ask("RiskEngine", "GetEnvelope", { fund_id: fundId }));
      if (asked === undefined || !asked.ok) return undefined;
      return read("an envelope", riskEnvelope.safeParse(withoutAbsent(asked.value as EnvelopeMessage)));
    },
  };
}

function orderManagementOver(ask: AskPeer): OrderManagement {
  const answered = async <Answer>(asking: Promise<Outcome<unknown>>): Promise<Answered<Answer>> => {
    const outcome = await asking;
    // The codec gave what the procedure answers.
    return outcome.ok ? { answer: outcome.value as Answer } : { denial: outcome.denial };
  };
  return {
    submit: (order) => answered<OrderStatus>(ask("Oms", "SubmitOrder", order)),
    cancel: (orderId, reason) => answered<OrderStatus>(ask("Oms", "CancelOrder", { order_id: orderId, reason })),
    async order(orderId) {
      const asked = await unlessMissing(ask("Oms", "GetOrder", { order_id: orderId }));
      return asked?.ok === true ? (asked.value as OrderStatus) : undefined;
    },
    async adjust(adjustment) {
      const asked = await ask("Oms", "AdjustPosition", {
        adjustment_id: adjustment.adjustmentId,
        fund_id: adjustment.fundId,
        strategy_id: adjustment.strategyId,
        symbol: adjustment.symbol,
        from_quantity: adjustment.fromQuantity,
        to_quantity: adjustment.toQuantity,
        price: adjustment.price,
        broker: adjustment.broker,
        reason: adjustment.reason,
      });
      return asked.ok ? { answer: undefined } : { denial: asked.denial };
    },
    async cross(cross) {
      const asked = await ask("Oms", "CrossPositions", {
        cross_id: cross.crossId,
        fund_id: cross.fundId,
        symbol: cross.symbol,
        strategy_id: cross.strategyId,
        from_quantity: cross.fromQuantity,
        other_strategy_id: cross.otherStrategyId,
        other_from_quantity: cross.otherFromQuantity,
        quantity: cross.quantity,
        reason: cross.reason,
      });
      return asked.ok ? { answer: undefined } : { denial: asked.denial };
    },
  };
}

/** Undefined when there is nothing under that name. */
async function unlessMissing(asking: Promise<Outcome<unknown>>): Promise<Outcome<unknown> | undefined> {
  try {
    return await asking;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}

type Read<Value> =
  | { readonly success: true; readonly data: Value }
  | { readonly success: false; readonly error: Error };

function read<Value>(what: string, result: Read<Value>): Value {
  if (result.success) return result.data;
  throw new Fault("INTERNAL", `What came is not ${what}: ${result.error.message}`, { retry: "later" });
}

/** A message has a member for everything; a record only for what is there. */
function withoutAbsent(message: object): object {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));
}
