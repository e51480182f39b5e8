// Days of the simulated market in which nobody lies, on funds that trade and pay out, one of them LIVE and valued from outside. What is not vouched for would stop
// them, so nothing may be found that is not. The course of a day is told in ten minutes, as the market's speed does it; the night is a step of the clock.
import { pricesOf } from "../../adapters/paper-market/paper-market.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { honestSide } from "./desk.ts";
import { blockText, isOfMarket } from "./invariants.ts";
import { openFixture } from "./world.ts";

export interface HonestRun {
  readonly seed: number;
  readonly days: number;
}

export interface HonestReport {
  readonly happened: Readonly<Record<string, number>>;
  /** What was open that no market made, each once; what a person accepted of flows at once is not among it. */
  readonly blocks: readonly string[];
}

const dayMs = 86_400_000;
const courseMs = 600_000;
/** From one price to the next: twelve minutes of the market. */
const roundMs = 5_000;
/** Enough to be delivered. */
const deliveryMs = 200;

export async function honestDays({ seed, days }: HonestRun): Promise<HonestReport> {
  const world = await openFixture({ seed });
  const { clock, timers } = world.time;
  const beganAt = clock.now();
  const speeds = Array.from({ length: days }, (_unused, day) => plusMilliseconds(beganAt, day * dayMs)).flatMap(
    (from) => [
      { from, speed: (dayMs - courseMs) / courseMs },
      { from: plusMilliseconds(from, courseMs), speed: 1 },
    ],
  );
  const market = { clock, timers, seed, quoteEveryMs: roundMs, listings: paperListings, beganAt, speeds };
  const marketAt = pricesOf(market).middle;
  const desk = honestSide({ lied: world, twin: world }, prng(seed).fork("desk"), { marketAt, cashParts: 100 });
  const blocks = new Set<string>();
  let targetMs = world.time.elapsedMs();

  async function pass(ms: number): Promise<void> {
    targetMs = Math.max(targetMs + ms, world.time.elapsedMs());
    await world.reach(targetMs);
  }

  async function look(): Promise<void> {
    for (const block of await world.blocks()) if (!isOfMarket(block)) blocks.add(blockText(block));
  }

  async function round(): Promise<void> {
    await desk.market();
    await desk.tellValues();
    await pass(deliveryMs);
    await look();
    const complaint = await desk.act();
    if (complaint !== undefined) blocks.add(complaint);
    await pass(deliveryMs);
    await look();
    await pass(roundMs - 2 * deliveryMs);
  }

  for (let day = 0; day < days; day += 1) {
    const now = clock.now();
    world.time.stepClock((plusMilliseconds(beganAt, day * dayMs) - now) / 1_000);
    await desk.market();
    await desk.tellValues();
    await pass(roundMs);
    for (let passed = roundMs; passed < courseMs; passed += roundMs) await round();
  }
  await world.close();
  return { happened: { ...desk.counts }, blocks: [...blocks] };
}
