// Sets a position of ours to what the broker has, as one more trade that everybody follows: an adjustment with an id that the same evidence
// always gives. The position must still be what the evidence was about. None is opened that nobody could value or close: what the reference data
// does not have is a difference that people settle.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { AdjustPositionRequest, Position } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { decimalText, idText, nameText, symbolText } from "../../contracts/src/records/fields.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import type { StoredPosition } from "../../ports/oms-records.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { bookFill } from "./booking.ts";
import type { Instruments } from "./instruments.ts";
import type { Bells, OmsPorts } from "./oms-parts.ts";
import { positionMessageOf } from "./order-status.ts";
import { missingReference } from "./reference-guard.ts";

export function createAdjusting(ports: OmsPorts, instruments: Instruments, bells: Bells) {
  const missing = missingReference(ports);
  return async (request: AdjustPositionRequest): Promise<Position | DeniedAnswer> => {
    mustBeReadable(request);
    const { adjustment_id: id, fund_id: fundId, strategy_id: strategyId, symbol } = request;
    const instrument = await instruments.find(symbol);
    const multiplier = decimal.parse(instrument?.multiplier ?? "1");
    const answer = await ports.store.transact("oms.adjust", async (unit) => {
      const held = await unit.oms.lockPosition(fundId, strategyId, symbol);
      const at = ports.clock.now();
      const present: StoredPosition = held ?? {
        fundId,
        strategyId,
        symbol,
        openedBy: "",
        updatedAt: at,
        quantity: decimal.zero,
        averagePrice: decimal.zero,
        realisedPnl: decimal.zero,
      };
      // The same adjustment again: what it did is done.
      if ((await unit.oms.fillsOf(id)).length > 0) return { position: present };
      const { quantity } = present;
      if (quantity !== decimal.parse(request.from_quantity)) {
        const reason = `The position of ${strategyId} in ${symbol} is ${decimal.format(quantity)}, not ${request.from_quantity}.`;
        return { denial: { code: "ADJUSTMENT_OUTDATED" as const, reason } };
      }
      const wanted = decimal.parse(request.to_quantity);
      const change = decimal.subtract(wanted, quantity);
      if (change === decimal.zero) return { position: present };
      const unknown = isSmaller(wanted, quantity) ? undefined : await missing(unit, request);
      if (unknown !== undefined) return { denial: { code: "ADJUSTMENT_REFERENCE_GONE" as const, reason: unknown } };
      const fill = { ...fillOf(request, change), filled_at: format(at) };
      return { position: (await bookFill(unit, fill, multiplier, at)) ?? present };
    });
    if ("denial" in answer) return { denial: answer.denial };
    bells.position(fundId, symbol);
    return positionMessageOf(answer.position, instrument, await instruments.freshPrice(symbol, fundId));
  };
}

/** Less of the same side: whatever is gone, that can only help. */
function isSmaller(wanted: decimal.Decimal, held: decimal.Decimal): boolean {
  const isSameSide = wanted === decimal.zero || decimal.sign(wanted) === decimal.sign(held);
  return isSameSide && decimal.abs(wanted) < decimal.abs(held);
}

function fillOf(request: AdjustPositionRequest, change: decimal.Decimal): Omit<Fill, "filled_at"> {
  return {
    fill_id: request.adjustment_id,
    order_id: request.adjustment_id,
    fund_id: request.fund_id,
    strategy_id: request.strategy_id,
    symbol: request.symbol,
    side: decimal.sign(change) === 1 ? "BUY" : "SELL",
    quantity: decimal.format(decimal.abs(change)),
    price: request.price,
    broker: request.broker,
    kind: "ADJUSTMENT",
  };
}

function mustBeReadable(request: AdjustPositionRequest): void {
  const ids = [request.adjustment_id, request.fund_id, request.strategy_id];
  const numbers = [request.from_quantity, request.to_quantity, request.price];
  const isReadable =
    ids.every((id) => idText.safeParse(id).success) &&
    symbolText.safeParse(request.symbol).success &&
    nameText.safeParse(request.broker).success &&
    numbers.every((text) => decimalText.safeParse(text).success);
  if (isReadable) return;
  throw new Fault("INVALID_ARGUMENT", "An adjustment names fund, strategy, symbol, quantities and price.", {
    retry: "never",
  });
}
