// What people do about lies, in the world that is lied to: they discard what nobody can take, have published again what the liar was in the way of, and accept
// what is open when they have looked. None of it loosens by itself what a lie tightened.
import { waitsBehind } from "../../adapters/transport/put-aside.ts";
import type { Block } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Worlds } from "./desk.ts";
import { desk, type World } from "./world.ts";

interface ForeignHeld {
  readonly source: string;
  readonly code: string;
  /** As it came. */
  readonly payload: string;
}

/**
 * A fill that cannot be taken holds the fills of its fund, whoever published them: people discard it while the liar goes on. What waits behind it is not theirs to
 * discard: the desk's own fills are there too. Whether anything is held still.
 */
export async function discardHeld({ lied }: Pick<Worlds, "lied">): Promise<boolean> {
  const { fixture, tables, time, finish } = lied;
  const held = tables.parked.filter(({ state }) => state === "HELD");
  const lanes = new Map([...held].reverse().map((row) => [`${row.subscription} ${row.lane}`, row]));
  for (const { subscription, subject, eventId, error, payload } of lanes.values()) {
    if (error === waitsBehind) continue;
    if (subject === subjects.foreignHeld.name) await publishAgain(lied, JSON.parse(payload) as ForeignHeld);
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
async function accept({ fixture, life }: World, { block_id: id = "", gap }: Block): Promise<void> {
  const shown = gap === undefined ? undefined : [{ block_id: id, missing: [...gap.missing] }];
  await fixture.accept(life(), [id], "looked at, and kept", shown);
}

/** A fill of the desk whose id the liar used first: the desk publishes it under another one. */
async function publishAgain(world: World, { source, code, payload }: ForeignHeld): Promise<void> {
  if (source !== desk.name || code !== "EVENT_FILL_CHANGED") return;
  const fill = JSON.parse(payload) as Fill;
  const fill_id = world.rename(fill.fill_id);
  const again = { ...fill, fill_id, sequence: world.next(desk, fill.fund_id, "fills") };
  await world.publish(desk, { id: fill_id, subject: subjects.fillsCreated, payload: again });
}
