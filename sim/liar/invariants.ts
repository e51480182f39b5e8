// What must hold of a world that is lied to, beside its twin without the lies.
//
//  1. no_figure_loosens: what is approved as new risk, or leaves a fund, beside lies is approved, and leaves, without them (desk.ts asks both).
//  2. orders_are_their_askers: an order of the desk stands in both worlds alike, whatever somebody else says of it.
//  3. accepted_fills_are_booked: a fill that was answered `accepted` is in the journal, or listed where people see it.
//  4. blocks_end: every block that a lie opened ends by itself or by its command; the world without lies has none.
//  5. ids_are_their_content: other content under an id that was used is not answered `accepted` (lies.ts).
import { waitsBehind } from "../../adapters/transport/put-aside.ts";
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

/**
 * A fill that cannot be taken holds the fills of its fund, whoever published them: people discard it while the liar goes on. What waits behind it is not theirs to
 * discard: the desk's own fills are there too. Whether anything is held still.
 */
export async function discardHeld({ lied: { fixture, tables, time, finish } }: Pick<Worlds, "lied">): Promise<boolean> {
  const held = tables.parked.filter(({ state }) => state === "HELD");
  const lanes = new Map([...held].reverse().map((row) => [`${row.subscription} ${row.lane}`, row]));
  for (const { subscription, eventId, error } of lanes.values()) {
    if (error === waitsBehind) continue;
    const how = { at: time.clock.now(), by: "operator:duty", reason: "a lie" };
    const discard = fixture.outside.store.transact("discard", (unit) =>
      unit.parked.discard(subscription, eventId, how),
    );
    await finish(discard);
  }
  return held.length > 0;
}

/** Numbers that never come: that needs no judgement of a figure. */
export async function acceptGaps({ lied }: Pick<Worlds, "lied">): Promise<void> {
  for (const block of await lied.blocks()) if (block.gap !== undefined) await accept(lied, block);
}

/** What a lie blocks, as people end it when they have looked: the rest ends by itself. */
export async function endBlocks(worlds: Pick<Worlds, "lied">): Promise<void> {
  await acceptGaps(worlds);
  const seen = new Set<string>();
  for (const block of await worlds.lied.blocks()) {
    if (block.block_id === undefined || seen.has(block.block_id)) continue;
    seen.add(block.block_id);
    await accept(worlds.lied, block);
  }
}

/** With the second factor, and of a gap what it shows. */
export async function accept({ fixture, life }: World, { block_id: id = "", gap }: Block): Promise<void> {
  const shown = gap === undefined ? undefined : [{ block_id: id, missing: [...gap.missing] }];
  await fixture.accept(life(), [id], "looked at, and kept", shown);
}

const blockText = ({ code, scope, fund_id: fundId = "", symbol = "", reason }: Block): string =>
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
const isOfMarket = ({ code, symbol }: Block): boolean =>
  code.startsWith("LOSS_") ||
  code.endsWith("_HALTED") ||
  (symbol !== undefined && !symbols.includes(symbol as (typeof symbols)[number]));

export async function honestOpenNone({ twin }: Worlds): Promise<Complaint> {
  const open = (await twin.blocks()).find((block) => !isOfMarket(block));
  return open === undefined ? undefined : `blocks_end: without lies, ${blockText(open)}`;
}
