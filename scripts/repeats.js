// Which failed files may be run once more. A machine that is busy for a minute makes people wait in vain or drops a connection; it never makes a sum wrong.
// So a file is repeated only if it uses real time, everything that failed in it was a wait or a connection, and it is not about money, halts or audit.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** More than this is no hiccup. */
export const repeatsMax = 2;

/** Words in a file's path or a test's name by which it is about money, halts or audit (held by tidy.test.ts). @type {ReadonlySet<string>} */
export const neverRepeated = new Set(JSON.parse(readFileSync(join(root, "testkit/tidy/never-repeated.json"), "utf8")));

const connectionCodes = new Set(["ECONNRESET", "ECONNREFUSED", "UND_ERR_SOCKET"]);
const waits = [
  /^(Test|Hook) timed out in \d+ms/,
  // testkit/platform.ts: `eventually`, `within` and `ready`.
  /^not within \d+ ms: /,
  /^no banner within /,
  // testkit/conformance/waiting.ts.
  /^waited \d+ ms in vain: /,
];

/** @param {import("./suite-reporter.js").Failure} failure @returns {boolean} */
export function isWaitOrConnection(failure) {
  // A poll that ended fails with its last assertion and says in the cause that it was a poll.
  if (failure.cause?.message === "Matcher did not succeed in time.") return true;
  if (/assert/i.test(failure.name)) return false;
  if (failure.code !== undefined && connectionCodes.has(failure.code)) return true;
  if (/\bsocket hang up\b|\b(read|connect|write) (ECONNRESET|ECONNREFUSED)\b/.test(failure.message)) return true;
  if (waits.some((wait) => wait.test(failure.message))) return true;
  return failure.cause !== undefined && isWaitOrConnection(failure.cause);
}

/** @param {string} text A path or a test's name. */
export function isNeverRepeated(text) {
  return text
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => neverRepeated.has(word));
}

/**
 * @param {import("./suite-reporter.js").FailedFile} failed
 * @param {(file: string) => boolean} usesRealTime
 */
export function mayRepeat({ file, tests }, usesRealTime) {
  if (!usesRealTime(file) || isNeverRepeated(file)) return false;
  return tests.every(
    ({ name, failures }) => !isNeverRepeated(name) && failures.length > 0 && failures.every(isWaitOrConnection),
  );
}

/** The first failure in one line, for who reads the end of a long output. @param {import("./suite-reporter.js").FailedFile} failed */
export function firstFailure({ tests }) {
  const [first] = tests;
  return `${first?.name ?? "?"}: ${first?.failures[0]?.message.split("\n")[0] ?? "no error"}`;
}
