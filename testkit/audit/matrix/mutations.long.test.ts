// Takes every check of the core's verifier away in turn and demands that some bundle or proof then gets another answer: a check that nobody would
// miss is either untested or useless.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { prng } from "../../virtual/prng.ts";
import { attacks } from "../attacks/index.ts";
import { bundled, type Mutant, mutants } from "./core-mutants.ts";
import { verifyWithCore } from "./core-verifier.ts";
import { equivalentMutants } from "./equivalent-mutants.ts";
import { lineOf } from "./on-the-table.ts";
import { randomCase } from "./random-bundles.ts";

const seed = 20_261_127;
const randomCount = 1_500;
const timeoutMs = 60_000;
const folder = mkdtempSync(join(tmpdir(), "core-mutants-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The table first, because it has a case for almost everything, then what the PRNG made. */
const random = prng(seed);
const cases = [
  ...attacks.filter(({ answer }) => answer !== "usage").map(({ name, bytes, trust }) => ({ what: name, bytes, trust })),
  ...Array.from({ length: randomCount }, () => randomCase(random)),
].map(({ what, bytes, trust }) => {
  const kept = Uint8Array.from(bytes);
  return { what, bytes: kept, trust, answer: lineOf(verifyWithCore(kept, trust)) };
});

const workerCode = `
  import { parentPort, workerData } from "node:worker_threads";
  const { verifyWithCore } = await import(workerData.url);
  const lineOf = ({ verdict, level, code, sequence }) => (verdict === "yes" ? String(level) : code + " at " + sequence);
  let missed;
  for (const { what, bytes, trust, answer } of workerData.cases) {
    let said;
    try {
      said = lineOf(verifyWithCore(bytes, trust));
    } catch (error) {
      said = error.constructor.name;
    }
    if (said === answer) continue;
    missed = what + ": " + said + " instead of " + answer;
    break;
  }
  parentPort.postMessage(missed);
`;

/** The first case that this copy answers otherwise, or undefined. */
function firstMissed(code: string, name: string): Promise<string | undefined> {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, code);
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(workerCode)}`), {
    workerData: { url: pathToFileURL(path).href, cases },
  });
  return new Promise((resolve) => {
    const end = (missed: string | undefined): void => {
      clearTimeout(timer);
      void worker.terminate();
      resolve(missed);
    };
    const timer = setTimeout(() => end("(it never ends)"), timeoutMs);
    worker.on("error", (error) => end(`(it does not run: ${error.message})`));
    worker.on("message", end);
  });
}

const nameOf = ({ file, line, check }: Mutant): string => `${basename(file)}:${line} ${check}`;

test("the whole verifier misses nothing", async () => {
  expect(await firstMissed(await bundled(), "whole")).toBeUndefined();
});

test(`every single check is missed when it is gone (seed ${seed})`, async () => {
  const all = mutants();
  const lines: string[] = [];
  const survivors: Mutant[] = [];
  for (const [number, mutant] of all.entries()) {
    const missed = await firstMissed(await bundled(mutant), `mutant-${number}`);
    if (missed === undefined) survivors.push(mutant);
    lines.push(`${nameOf(mutant)}: ${missed ?? "NOTHING MISSED"}`);
  }
  const isExplained = ({ file, check }: Mutant) =>
    equivalentMutants.some((each) => each.file === basename(file) && each.check === check);
  const open = survivors.filter((mutant) => !isExplained(mutant));
  const found = all.length - survivors.length;
  const explained = survivors.length - open.length;
  const score = ((100 * found) / (all.length - explained)).toFixed(1);
  process.stdout.write(
    `${lines.join("\n")}\nmutation score ${score} % (${found} of ${all.length}, ${explained} equivalent)\n`,
  );
  expect(open.map(nameOf)).toEqual([]);
});

test("what is called equivalent exists", () => {
  const checks = new Set(mutants().map(({ file, check }) => `${basename(file)} ${check}`));
  expect(equivalentMutants.filter(({ file, check }) => !checks.has(`${file} ${check}`))).toEqual([]);
});
