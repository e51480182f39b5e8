// Which test files use real time: those that reach child processes, sockets, TLS, worker threads, timers of the system or a database by their own imports
// and those of the testkit, but not by those of the product, which every test has and which most of them give virtual time.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const home = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const skipped = new Set(["node_modules", "dist", ".cache", ".portcullis", ".git", "coverage"]);
const realModules =
  /^node:(child_process|net|tls|http|https|http2|dgram|worker_threads|timers|timers\/promises|readline)$|^(pg|ws|undici|playwright-core|@grpc\/grpc-js|@nats-io\/.*)$/;
/** Product files that a test takes only to have the real thing. */
const realProduct =
  /^adapters\/(system\/timers|postgres\/connection|postgres\/embedded\/server|in-process|tls|nats\/.*)/;
/** What Node has without an import. */
const realGlobals = /(?<![.\w])(setTimeout|setInterval|fetch|WebSocket)\(/;
/** These wait in the time of the fixture that is handed to them. */
const waitsAsAsked = new Set(["testkit/conformance/waiting.ts", "testkit/conformance/reference-data.ts"]);
/** Rooms whose imports are followed: they serve tests. */
const servesTests = /^(testkit|acceptance|sim|bench)\/|\/harness\/|\.test\.tsx?$/;

const importLine =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)(?:[^"';]*?\sfrom\s)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** @param {string} root @returns {(file: string) => boolean} */
export function realTimeOf(root = home) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  /** @param {string} file @returns {boolean} */
  const usesRealTime = (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    // Files that import each other: whoever asked first finds out.
    known.set(file, false);
    const found = looksReal(root, file, usesRealTime);
    known.set(file, found);
    return found;
  };
  return usesRealTime;
}

/** @param {string} root @param {string} file @param {(file: string) => boolean} usesRealTime */
function looksReal(root, file, usesRealTime) {
  const path = join(root, file);
  if (!existsSync(path) || waitsAsAsked.has(file)) return false;
  const text = readFileSync(path, "utf8");
  if (realGlobals.test(text) && !/useFakeTimers/.test(text)) return true;
  for (const [, one, lazy] of text.matchAll(importLine)) {
    const target = one ?? lazy ?? "";
    if (!target.startsWith(".")) {
      if (realModules.test(target)) return true;
      continue;
    }
    const other = posix.normalize(posix.join(posix.dirname(file), target));
    if (realProduct.test(other)) return true;
    if (servesTests.test(other) && usesRealTime(other)) return true;
  }
  return false;
}

/** All test files of the first floor that use real time. @param {string} root */
export function realTimeFiles(root = home) {
  const usesRealTime = realTimeOf(root);
  return testFiles(root).filter((file) => !/\.(ci|long)\.test\.tsx?$/.test(file) && usesRealTime(file));
}

/** @param {string} [root] @param {string} [folder] @returns {string[]} */
export function testFiles(root = home, folder = "") {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : testFiles(root, path);
    return /\.test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}
