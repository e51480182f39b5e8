// Every command line of ctl that README and docs show must parse, so that no page goes on showing a verb or an option that is gone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./program.ts";
import { groupsOf } from "./verb-groups.ts";
import { verbs } from "./verbs/index.ts";

const root = join(import.meta.dirname, "../..");
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith(".md"),
);

/** The lines of code blocks that begin with ctl, without the prompt, npx, comments, and whatever a shell does with the answer. */
function commandsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
  return blocks
    .flatMap((block) => block.split("\n"))
    .map((line) => /^(?:\$ )?(?:\w+=\$\()?(?:npx )?(ctl .*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
    .map((line) => line.replace(/\s+#.*$/, "").replace(/ (?:\||>) .*$/, ""));
}

/** As a shell splits it: quoted text is one word. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, word]) => double ?? single ?? word ?? "");

const kindOf = (line: string): string =>
  parseCommandLine(wordsOf(line).slice(1), { verbs, groups: groupsOf(verbs) }, picocolors.createColors(false)).kind;

describe("24.5: the commands of the documentation", () => {
  it.each(pages.map((page) => [page]))("%s", (page) => {
    const wrong = commandsOf(readFileSync(join(root, page), "utf8")).filter((line) => kindOf(line) === "wrong");
    expect(wrong).toEqual([]);
  });

  it("are found in prompts, with npx, and before a pipe; what does not parse is found", () => {
    const page =
      "```\n$ npx ctl riskengine halts list   # all\nctl why o-1 --json | head\nKEY=$(npx ctl ls)\nls\n```\nctl doctor\n";
    expect(commandsOf(page)).toEqual(["ctl riskengine halts list", "ctl why o-1 --json", "ctl ls)"]);
    expect(["ctl why o-1", "ctl wy o-1", "ctl why o-1 --loud"].map(kindOf)).toEqual(["verb", "wrong", "wrong"]);
  });
});
