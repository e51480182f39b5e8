// One seed, one run: a world in which a second publisher with a valid token lies, in every field and at every moment, over kills of the engine, and its twin
// in which nobody does. The honest side is the same in both (desk.ts); the invariants stand in invariants.ts. Nothing here waits for real time.
import type { Fill } from "../../contracts/src/records/order.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { type Complaint, type Desk, honestSide, type Worlds } from "./desk.ts";
import { acceptedFillsAreBooked, blocksHaveEnded, honestOpenNone, ordersAreTheirAskers } from "./invariants.ts";
import { currentLies, type Liar, type Lie } from "./lies.ts";
import { acceptGaps, discardHeld, endBlocks } from "./people.ts";
import type { PlantedLiarBug } from "./planted-bugs.ts";
import { openFixture } from "./world.ts";

export interface LiarRun {
  readonly seed: number;
  readonly steps: number;
  /** All that are told now when absent. */
  readonly lies?: readonly Lie[];
  readonly plantedBug?: PlantedLiarBug | undefined;
}

export interface LiarReport {
  /** By kind. */
  readonly told: Readonly<Record<string, number>>;
  readonly restarts: number;
  /** Blocks that were open when the liar fell silent. */
  readonly blocks: number;
  readonly happened: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
  readonly violation?: string;
}

/** Between two steps, now and then: polls, grace times and confirmations come round in it. What waits costs more than what happens. */
const longMs = 3_000;
const marketEvery = 2;
const valuesEvery = 5;
const lookEvery = 10;
/**
 * In it the honest side's prices and values reach both worlds, so that an order is judged by the same ones: whether a value or an order comes first by a millisecond
 * differs without any lie.
 */
const heardMs = 20;
/** A subscription begins where the killed one was. */
const takeOverMs = 3_000;
/** Values, prices and grace times come round in it. */
const settleMs = 24_000;
/** A lane that stopped again and again is tried with pauses of up to half a minute. */
const heldRoundsMax = 40;
/** Of one seed: all at once would keep every fund blocked from the first minute on. */
const kindsMax = 4;

export async function simulateLiar(run: LiarRun): Promise<LiarReport> {
  const { seed, steps, plantedBug } = run;
  const options = { seed, plantedBug };
  const worlds: Worlds = { lied: await openFixture(options), twin: await openFixture(options) };
  const random = prng(seed).fork("liar");
  const lies = kindsOf(run.lies ?? currentLies, random);
  const desk = honestSide(worlds, prng(seed).fork("desk"));
  const own = liarIn(worlds, desk, random);
  const told: Record<string, number> = {};
  let restarts = 0;
  let targetMs = 0;
  let complaint: Complaint;

  async function pass(ms: number): Promise<void> {
    targetMs = Math.max(targetMs + ms, worlds.lied.time.elapsedMs(), worlds.twin.time.elapsedMs());
    for (const world of [worlds.lied, worlds.twin]) await world.reach(targetMs);
  }

  /** What waited behind a fill that nobody can take is tried again once that is discarded. */
  async function free(): Promise<void> {
    for (let round = 0; round < heldRoundsMax && (await discardHeld(worlds)); round += 1) await pass(1_000);
  }

  /** What an engine that was killed a moment ago has not taken over yet it takes over then. */
  async function ordersAreAlike(): Promise<Complaint> {
    if ((await ordersAreTheirAskers(worlds, desk)) === undefined) return undefined;
    await pass(takeOverMs);
    await free();
    return ordersAreTheirAskers(worlds, desk);
  }

  async function lie(): Promise<void> {
    const kind = lies[random.below(Math.max(1, lies.length))];
    if (kind === undefined) return;
    told[kind.name] = (told[kind.name] ?? 0) + 1;
    complaint ??= (await kind.tell(own)) ?? undefined;
  }

  async function step(index: number): Promise<void> {
    await pass(random.chance(0.03) ? random.below(longMs) : 5 + random.below(90));
    if (index % marketEvery === 0) await desk.market();
    if (index % valuesEvery === 0) await desk.tellValues();
    await pass(heardMs);
    if (random.chance(0.1)) await lie();
    complaint ??= await desk.act();
    if (random.chance(0.05)) await lie();
    if (random.chance(0.01)) {
      await worlds.lied.restart();
      restarts += 1;
    }
    if (index % lookEvery !== 0) return;
    await pass(150);
    await free();
    await acceptGaps(worlds);
    complaint ??= (await ordersAreAlike()) ?? (await honestOpenNone(worlds));
  }

  async function settle(): Promise<number> {
    await pass(5_000);
    await free();
    complaint ??= (await ordersAreAlike()) ?? (await acceptedFillsAreBooked(worlds.lied));
    const blocks = (await worlds.lied.blocks()).filter(({ block_id }) => block_id !== undefined).length;
    worlds.lied.adopt();
    for (let round = 0; round < 3 && complaint === undefined; round += 1) {
      await free();
      await endBlocks(worlds);
      for (let passed = 0; passed < settleMs / 3; passed += 4_000) {
        await pass(3_800);
        await desk.market();
        await pass(200);
        await desk.tellValues();
      }
    }
    complaint ??= await blocksHaveEnded(worlds);
    return blocks;
  }

  await desk.market();
  await desk.tellValues();
  await pass(500);
  for (let index = 0; index < steps && complaint === undefined; index += 1) await step(index);
  const blocks = complaint === undefined ? await settle() : 0;
  const elapsedMs = Math.round(targetMs);
  for (const world of [worlds.lied, worlds.twin]) await world.close();
  const report = { told, restarts, blocks, happened: { ...desk.counts }, elapsedMs };
  return complaint === undefined ? report : { ...report, violation: complaint };
}

function kindsOf(all: readonly Lie[], random: Liar["prng"]): readonly Lie[] {
  const left = [...all];
  const chosen: Lie[] = [];
  for (let count = 1 + random.below(kindsMax); count > 0 && left.length > 0; count -= 1) {
    chosen.push(...left.splice(random.below(left.length), 1));
  }
  return chosen;
}

function liarIn({ lied }: Worlds, desk: Desk, random: Liar["prng"]): Liar {
  let count = 0;
  const told: Fill[] = [];
  const fresh = (): number => {
    count += 1;
    return count;
  };
  return { world: lied, desk, prng: random, told, fresh };
}
