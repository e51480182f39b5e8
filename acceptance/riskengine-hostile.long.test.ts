// The full count of hostile messages against the running platform, then everything that connections can do wrong, many times; afterwards
// the platform is started again on what was kept, because what hostile clients said stands in its journal. PORTCULLIS_SEED repeats a run.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { brokenFrames, crowd, neverReading, rapidResets, type Target } from "../testkit/hostile/connections.ts";
import { openHonest } from "../testkit/hostile/honest.ts";
import { hostileRounds, parkedCount, residentMb } from "../testkit/hostile/rounds.ts";
import { smallHeap } from "../testkit/hostile/small-heap.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { openRiskClient } from "../testkit/risk/client.ts";
import { prng } from "../testkit/virtual/prng.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const messageCount = Number(process.env["PORTCULLIS_HOSTILE_MESSAGES"] ?? 100_000);
/** What may be added to the risk engine's memory after a tenth of the run, most of it garbage that nobody had to collect yet. */
const growthMbMax = 200;

let folder: string;
let platform: Platform;

beforeAll(async () => {
  process.stderr.write(`seed ${seed}\n`);
  folder = temporaryFolder("hostile");
  platform = startPlatform({ dataFolder: join(folder, "data"), environment: smallHeap });
  await platform.ready();
}, 120_000);

afterAll(async () => {
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const enginePid = (): number => platform.runFile().processes["riskengine"] ?? 0;

describe(`hostile clients, seed ${seed}`, { timeout: 1_800_000 }, () => {
  test(`${messageCount} messages of every kind`, async () => {
    const engine = enginePid();
    const verdict = await hostileRounds({ platform, seed, messageCount, giantRounds: 20 });
    const kinds = [...verdict.tally].sort().map(([name, count]) => `${count} ${name}`);
    process.stderr.write(`${kinds.join("\n")}\nresident MB: ${verdict.residentMb.join(" ")}\n`);
    process.stderr.write(`${verdict.sent} sent, honest: ${verdict.honest.approved} of ${verdict.honest.asked}\n`);
    expect(verdict.violations).toEqual([]);
    expect(verdict.sent).toBeGreaterThanOrEqual(messageCount);
    expect(verdict.approvals).toBeGreaterThan(100);
    expect(verdict.honest.unanswered).toEqual([]);
    expect(verdict.honest.approved).toBeGreaterThan(10);
    expect(enginePid()).toBe(engine);
    const [, afterTenth = 0] = verdict.residentMb;
    expect((verdict.residentMb.at(-1) ?? 0) - afterTenth).toBeLessThan(growthMbMax);
  });

  test("connections that misbehave, again and again", async () => {
    const engine = enginePid();
    const honest = await openHonest(platform, `${seed}-connections`);
    const target: Target = { address: platform.runFile().addresses["riskengine"] ?? "", token: honest.serviceToken };
    const own = prng(seed);
    const memory: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      await neverReading(target, `${seed}-${round}`, 10_000);
      await rapidResets(target, `${seed}-${round}`, 3_000);
      await brokenFrames(target, own.fork(`frames ${round}`), 200);
      await crowd(target, own.fork(`crowd ${round}`), 240, 500);
      memory.push(residentMb(engine));
    }
    const { unanswered, approved } = await honest.stop();
    process.stderr.write(`resident MB: ${memory.join(" ")}\n`);
    expect(unanswered).toEqual([]);
    expect(approved).toBeGreaterThan(0);
    expect(enginePid()).toBe(engine);
    expect((memory.at(-1) ?? 0) - (memory[0] ?? 0)).toBeLessThan(growthMbMax);
  });

  test("what was kept can be read, and the platform starts again on it", async () => {
    const client = await openRiskClient(platform);
    expect((await client.rejections("alpha", 100)).status).toBe("OK");
    client.close();
    expect(await parkedCount(platform)).toBe(0);
    expect(platform.stdout()).not.toContain("RPC failed");
    platform.signal("SIGTERM");
    expect((await platform.exited).code).toBe(0);
    platform = startPlatform({ dataFolder: join(folder, "data"), environment: smallHeap });
    await platform.ready();
    await eventually("it is healthy", async () => (await platform.health()) === 200, 20_000);
    const later = await openHonest(platform, `${seed}-later`);
    expect(await later.stop()).toMatchObject({ unanswered: [] });
    expect(platform.stdout()).not.toContain("STATE_MISMATCH");
  });
});
