// Takes every marked check of the verifier away in turn, in a copy, and demands that some attack then gets another answer than it should:
// a check that nobody would miss is either untested or useless.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { consistencyAttacks } from "../testkit/audit/attacks/consistency.ts";
import { attacks as entryAttacks } from "../testkit/audit/attacks/index.ts";
import { got, verifierFile, wanted } from "../testkit/audit/run-attack.ts";
import { nowS, type Verdict } from "../testkit/audit/test-log.ts";

const attacks = [...entryAttacks, ...consistencyAttacks];
const source = readFileSync(verifierFile, "utf8").split("\n");
const folder = mkdtempSync(join(tmpdir(), "audit-mutants-"));
afterAll(() => rmSync(folder, { recursive: true }));

const timeoutMs = 60_000;
const marker = /\/\/ check: ([a-z0-9-]+)$/;

/** The lines that carry a check, by the check's name. */
const checks = source.flatMap((line, at) => {
  const name = marker.exec(line)?.[1];
  return name === undefined ? [] : [{ name, at }];
});

/** The source without one check: its condition never holds. The formatter may have put the condition on the line before the marker. */
function without(at: number): string {
  const lines = [...source];
  const place = /^\s*if \(/.test(lines[at] ?? "") ? at : at - 1;
  const changed = (lines[place] ?? "").replace(/^(\s*)if \(/, "$1if (false && ");
  const open = changed.replace(
    /if \(false && (.*)\)( |$)(?=(fail|wrong|malformed|usage|return|continue|checkGenesis|$))/,
    "if (false && ($1))$2",
  );
  if (open === changed || changed === lines[place]) throw new Error(`no condition for the check on line ${at + 1}`);
  lines[place] = open;
  return lines.join("\n");
}

/** The worker runs every attack against one copy; a copy that never ends is ended. */
const workerCode = `
  import { parentPort, workerData } from "node:worker_threads";
  const verifier = await import(workerData.url);
  for (const [i, { bytes, trust }] of workerData.cases.entries()) {
    const result = await verifier.verifyBytes(Buffer.from(bytes), trust).catch((error) => ({
      thrown: error.constructor.name, message: error.message,
    }));
    parentPort.postMessage({ i, result });
  }
`;

/** The name of the first attack that this copy answers otherwise, or undefined. */
function firstMissed(path: string): Promise<string | undefined> {
  const cases = attacks.map(({ bytes, trust }) => ({ bytes, trust: { ...trust, nowS } }));
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(workerCode)}`), {
    workerData: { url: pathToFileURL(path).href, cases },
  });
  return new Promise((resolve) => {
    const end = (name: string | undefined): void => {
      clearTimeout(timer);
      void worker.terminate();
      resolve(name);
    };
    const timer = setTimeout(() => end("(it never ends)"), timeoutMs);
    worker.on("error", (error) => end(`(it does not run: ${error.message})`));
    worker.on("exit", () => end(undefined));
    worker.on("message", ({ i, result }: { i: number; result: Verdict & { thrown?: string; message?: string } }) => {
      const attack = attacks[i];
      if (attack === undefined) return;
      const answer =
        result.thrown === undefined ? got(result, attack) : thrown(result.thrown, result.message ?? "", attack.says);
      if (answer !== wanted(attack)) end(`${attack.name}: ${answer}`);
    });
  });
}

function thrown(kind: string, message: string, says: string): string {
  return kind === "UsageError" && message.includes(says) ? `usage ${says}` : `${kind} ${message}`;
}

test("the checks have names of their own, and the whole verifier misses nothing", async () => {
  expect(checks.length).toBeGreaterThan(90);
  expect(new Set(checks.map((check) => check.name)).size).toBe(checks.length);
  const path = join(folder, "whole.mjs");
  writeFileSync(path, source.join("\n"));
  expect(await firstMissed(path)).toBeUndefined();
});

test("every single check is missed when it is gone", async () => {
  const lines: string[] = [];
  const survivors: string[] = [];
  for (const { name, at } of checks) {
    const path = join(folder, `${name}.mjs`);
    writeFileSync(path, without(at));
    const missed = await firstMissed(path);
    if (missed === undefined) survivors.push(name);
    lines.push(`${name}: ${missed ?? "NOTHING MISSED"}`);
  }
  const found = checks.length - survivors.length;
  const score = ((100 * found) / checks.length).toFixed(1);
  process.stdout.write(`${lines.join("\n")}\nmutation score ${score} % (${found} of ${checks.length})\n`);
  expect(survivors).toEqual([]);
});
