// Several processes on one secrets file, some of them killed at random moments: nothing acknowledged is lost, nothing is
// counted twice, and nobody waits for the dead.
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, it } from "vitest";
import { byFloor, countOf } from "../../testkit/full-count.ts";
import { type FileFixture, makeFileFixture } from "../../testkit/secrets-file/folders.ts";

const counter = "secret/portcullis/counter";
const seed = Number(process.env["PORTCULLIS_TEST_SEED"] ?? randomInt(2 ** 31));
const killRounds = countOf(100, byFloor({ first: 4, later: 15 }));

/** A small repeatable die (mulberry32). */
function prng(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

let fixture: FileFixture;
let program: string;
const children: Child[] = [];

beforeEach(async () => {
  fixture = await makeFileFixture();
  program = join(fixture.folder, "program", "child.mjs");
  const source = fileURLToPath(new URL("../../testkit/secrets-file/child.ts", import.meta.url));
  await build({ entryPoints: [source], outfile: program, bundle: true, platform: "node", format: "esm" });
});

afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  await fixture.close();
});

interface Child {
  readonly process: ChildProcess;
  /** Versions of which it was told that they are on disk. */
  readonly acknowledged: number[];
  readonly ended: Promise<unknown>;
  kill(): Promise<void>;
}

function start(rounds: number): Child {
  const key = join(fixture.folder, "secrets.key");
  const child = spawn(process.execPath, [program, fixture.options.file, key, String(rounds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: number[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    acknowledged.push(...lines.map(Number));
  });
  const ended = once(child, "close");
  const started: Child = {
    process: child,
    acknowledged,
    ended,
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
  children.push(started);
  return started;
}

async function untilCounting(child: Child): Promise<void> {
  while (child.acknowledged.length === 0) {
    if (child.process.exitCode !== null) throw new Error("the child ended before it counted");
    await sleep(2);
  }
}

it(`survives kill -9 in the middle of writing, ${killRounds} times (PORTCULLIS_TEST_SEED=${seed})`, async () => {
  const next = prng(seed);
  const secrets = await fixture.open({ lockWaitMsMax: 2_000 });
  for (let round = 0; round < killRounds; round += 1) {
    const before = (await secrets.get(counter))?.version ?? 0;
    const child = start(0);
    await untilCounting(child);
    await sleep(next() * 60);
    await child.kill();
    const after = await secrets.get(counter);
    const acknowledged = Math.max(before, ...child.acknowledged);
    expect(after?.value).toBe(String(after?.version));
    // One more than acknowledged is possible: written, but killed before it could say so.
    expect(after?.version).toBeGreaterThanOrEqual(acknowledged);
    expect(after?.version).toBeLessThanOrEqual(acknowledged + 1);
    const mine = await secrets.rotate(counter, (now) => String(Number(now?.value ?? "0") + 1));
    expect(mine.version).toBe((after?.version ?? 0) + 1);
  }
  // A new opening sweeps what the killed ones left beside the file.
  await (await fixture.open()).rotate(counter, (now) => String(Number(now?.value) + 1));
  expect((await readdir(fixture.folder)).sort()).toEqual(["program", "secrets.enc", "secrets.key"]);
}, 120_000);

it("gives each version to one of several processes that start at once on nothing", async () => {
  const rounds = 25;
  const crew = [start(rounds), start(rounds), start(rounds)];
  await Promise.all(crew.map((child) => child.ended));
  const versions = crew.flatMap((child) => child.acknowledged).sort((a, b) => a - b);
  const total = crew.length * rounds;
  expect(versions).toEqual(Array.from({ length: total }, (_unused, index) => index + 1));
  expect(await (await fixture.open()).get(counter)).toEqual({ path: counter, version: total, value: String(total) });
}, 60_000);

it("lets the others go on when some are killed, and every acknowledged version is given once", async () => {
  const crew = [start(0), start(0), start(0), start(40)];
  const [first, second, third, survivor] = crew;
  for (const doomed of [first, second, third]) {
    if (doomed === undefined) throw new Error("a child is missing");
    await untilCounting(doomed);
    await doomed.kill();
  }
  await survivor?.ended;
  expect(survivor?.acknowledged).toHaveLength(40);
  const versions = crew.flatMap((child) => child.acknowledged);
  expect(new Set(versions).size).toBe(versions.length);
  const now = await (await fixture.open()).get(counter);
  expect(now?.value).toBe(String(now?.version));
  expect(now?.version).toBeLessThanOrEqual(versions.length + 3);
  expect(now?.version).toBeGreaterThanOrEqual(Math.max(...versions));
}, 60_000);
