// Sets our position to the broker's, where that is allowed and the evidence is complete: an adjustment that order management books like a trade, under
// a name that follows from the difference, so that a replay changes nothing. It never trades.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { adjustmentFor } from "../../../core/reconcile/reconcile.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { StoredDifference } from "../../../ports/reconcile-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { shortHash } from "../short-hash.ts";
import type { AccountFacts } from "./gather-account.ts";

interface CorrectOptions {
  readonly ports: Pick<ServicePorts, "store" | "log" | "crash" | "sha256">;
  readonly orderManagement: OrderManagement;
  readonly facts: AccountFacts;
  /** Of the fund, when nobody holds the symbol. */
  readonly firstStrategyId: string;
}

/** True when order management has booked it. */
export async function correct(
  { ports, orderManagement, facts, firstStrategyId }: CorrectOptions,
  difference: StoredDifference,
): Promise<boolean> {
  const { store, log } = ports;
  const { differenceId, symbol, fundId, broker } = difference;
  const mismatch = facts.mismatches.find((one) => one.symbol === symbol);
  if (mismatch === undefined) return false;
  const adjustment = adjustmentFor(mismatch, facts.holdingsOf(symbol), facts.evidence.get(symbol)?.gaps ?? [], {
    strategyId: firstStrategyId,
    brokerPrice: facts.brokerPrices.get(symbol) ?? decimal.zero,
  });
  if (adjustment === undefined) {
    log.warn("a difference cannot be corrected: nobody holds the symbol or it has no price", { differenceId, symbol });
    return false;
  }
  const { strategyId, from, to, price } = adjustment;
  const texts = [decimal.format(from), decimal.format(to)] as const;
  const adjustmentId = `adjust-${shortHash(ports.sha256, [differenceId, strategyId, ...texts])}`;
  const remember = (id: string | undefined): Promise<void> =>
    store.transact("reconcile.adjusting", async (unit) => {
      const [look] = await unit.reconcile.looks([differenceId]);
      if (look === undefined) return;
      const { adjustmentId: _before, ...rest } = look;
      await unit.reconcile.putLook({ ...rest, ...(id !== undefined && { adjustmentId: id }) });
    });
  // Written down first: when both sides agree afterwards, this is why.
  await remember(adjustmentId);
  try {
    const answered = await orderManagement.adjust({
      adjustmentId,
      fundId,
      strategyId,
      symbol,
      broker,
      fromQuantity: texts[0],
      toQuantity: texts[1],
      price: decimal.format(price),
      reason: `Difference ${differenceId}: two answers of ${broker} agree.`,
    });
    if ("answer" in answered) return true;
    log.warn("a correction was refused", { differenceId, code: answered.denial.code, reason: answered.denial.reason });
    await remember(undefined);
    return false;
  } catch (thrown) {
    if (thrown instanceof Defect) ports.crash.die(thrown);
    // It may have been booked; the next look sees whether both sides agree.
    log.warn("a correction got no answer", { differenceId, error: messageOf(thrown) });
    return false;
  }
}
