// What must hold of a world that is lied to, beside its twin without the lies.
//
//  1. no_figure_loosens: what is approved as new risk, or leaves a fund, beside lies is approved, and leaves, without them (desk.ts asks both).
//  2. orders_are_their_askers: an order of the desk stands in both worlds alike, whatever somebody else says of it.
//  3. accepted_fills_are_booked: a fill that was answered `accepted` is in the journal, or listed where people see it.
//  4. blocks_end: every block that a lie opened ends by itself or by its command; the world without lies has none.
//  5. ids_are_their_content: other content under an id that was used is not answered `accepted` (lies.ts).
//  6. tokens_name_their_funds: nothing is accepted of a fund that the publisher's token does not name (lies.ts).
//  7. prices_are_their_pricers: no price is accepted of a symbol from whom nobody named for it (lies.ts).
import type { Approval, Approvals, Block } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Complaint, Desk, Worlds } from "./desk.ts";
import { symbols, type World } from "./world.ts";

/** Ages and times differ by the milliseconds that the worlds are apart. */
const standing = ({ quantity, filled_quantity, reserved_quantity, state, asked_by }: Approval): string =>
  JSON.stringify({ quantity, filled_quantity, reserved_quantity, state, asked_by });

async function approvalIn(world: World, orderId: string): Promise<string> {
  const { approvals } = await world.call<Approvals>("ListApprovals", { order_id: orderId });
  const [approval] = approvals;
  return approval === undefined ? "none" : standing(approval);
}

/** Of those that are open. */
export async function ordersAreTheirAskers({ lied, twin }: Worlds, { orders }: Desk): Promise<Complaint> {
  for (const { order, isSent, isEnded } of orders.slice(-20)) {
    if (!isSent || isEnded) continue;
    const [one, other] = [await approvalIn(lied, order.order_id), await approvalIn(twin, order.order_id)];
    if (one !== other) return `orders_are_their_askers: ${order.order_id} is ${one}, and ${other} without lies`;
  }
  return undefined;
}

export async function acceptedFillsAreBooked(world: World): Promise<Complaint> {
  const ids = [...world.acceptedFills];
  const booked = await world.finish(world.life().ports.riskStore.knownFills(ids));
  const listed = world.tables.parked.map(({ payload }) => payload);
  const missing = ids.find((id) => !booked.has(id) && !listed.some((payload) => payload.includes(`"${id}"`)));
  return missing === undefined ? undefined : `accepted_fills_are_booked: ${missing} is neither booked nor listed`;
}

export const blockText = ({ code, scope, fund_id: fundId = "", symbol = "", reason }: Block): string =>
  `${code} of ${scope} ${fundId} ${symbol}: ${reason}`;

/** A fall that was reported halts at once, and only people lift it; and a fund whose lies were accepted may be worth nothing. */
const isHalt = ({ code }: Block): boolean => code.endsWith("_HALTED") || code === "NAV_NOT_POSITIVE";

export async function blocksHaveEnded({ lied, twin }: Worlds): Promise<Complaint> {
  const codes = new Set((await twin.blocks()).map(({ code, fund_id, symbol }) => `${code} ${fund_id} ${symbol}`));
  const left = (await lied.blocks()).find(
    (block) => !isHalt(block) && !codes.has(`${block.code} ${block.fund_id} ${block.symbol}`),
  );
  return left === undefined ? undefined : `blocks_end: ${blockText(left)} is still open`;
}

/** A market that falls opens what nobody lied about, and what nobody trades has no price here. */
export const isOfMarket = ({ code, symbol }: Block): boolean =>
  code.startsWith("LOSS_") ||
  code.endsWith("_HALTED") ||
  (symbol !== undefined && !symbols.includes(symbol as (typeof symbols)[number]));

export async function honestOpenNone({ twin }: Worlds): Promise<Complaint> {
  const open = (await twin.blocks()).find((block) => !isOfMarket(block));
  return open === undefined ? undefined : `blocks_end: without lies, ${blockText(open)}`;
}
