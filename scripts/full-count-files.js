// The files of the first floor whose properties have more inputs than `npm test` takes: the second floor runs them again, with all of them.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { testFiles } from "./real-time.js";

const asksHowMany = /\b(inputCount|byFloor)[<(]/;
const home = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Those that ask testkit/full-count.ts how many. @param {string} [root] */
export function fullCountFiles(root = home) {
  return testFiles(root).filter(
    (file) => !/\.(ci|long)\.test\.tsx?$/.test(file) && asksHowMany.test(readFileSync(join(root, file), "utf8")),
  );
}
