// What loop-watch.js wrote down: the longest stretch of processor time that the loop of each service gave to one piece of work, question by question.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Longest {
  /** By service, since the last look; those that were not busy for 2 ms are absent. */
  since(): Readonly<Record<string, number>>;
}

/** Of processes that run by now: what a start takes is no question's. */
export function longestIn(folder: string): Longest {
  const read = new Map(readdirSync(folder).map((name): [string, number] => [name, linesOf(folder, name).length]));
  return {
    since() {
      const longest: Record<string, number> = {};
      for (const [name, before] of read) {
        const lines = linesOf(folder, name);
        read.set(name, lines.length);
        const service = name.replace(/-\d+$/, "");
        for (const line of lines.slice(before)) {
          longest[service] = Math.max(longest[service] ?? 0, Number(line.split(" ")[1]));
        }
      }
      return longest;
    },
  };
}

const linesOf = (folder: string, name: string): readonly string[] =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((text) => text !== "");
