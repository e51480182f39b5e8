// What the reviewer says without a model: what a line shows by itself and must not be merged.
import type { ReviewPlan } from "../../../contracts/src/records/bot-plans.ts";
import type { MaterialOf } from "../material.ts";
import { type AddedLine, addedLines } from "../patches.ts";
import { findSecret } from "../secrets.ts";

type Finding = ReviewPlan["findings"][number];
type Rule = (path: string, text: string) => Omit<Finding, "path" | "line"> | undefined;

const findingsMax = 20;
const lineCharactersMax = 5_000;

const rules: readonly Rule[] = [
  (_path, text) => {
    const what = findSecret(text);
    if (what === undefined) return undefined;
    return { severity: "blocker", text: `This line looks as if it held ${what}. Revoke it: what was pushed is known.` };
  },
  (_path, text) =>
    /^(<{7}|>{7}|\|{7})( |$)/.test(text)
      ? { severity: "blocker", text: "A mark of a merge conflict was left here." }
      : undefined,
  (path, text) =>
    isTestFile(path) && /(^|[\s;])((describe|context|suite|it|test)\.only|fdescribe|fit)\s*\(/.test(text)
      ? { severity: "blocker", text: "With this only a part of the tests runs." }
      : undefined,
  (path, text) =>
    path.startsWith(".github/workflows/") && /\bpull_request_target\b/.test(text)
      ? {
          severity: "blocker",
          text: "A workflow of this kind runs with the repository's secrets on a stranger's pull request.",
        }
      : undefined,
];

function isTestFile(path: string): boolean {
  return /(^|[/._-])(tests?|specs?|__tests__)([/._-]|$)/i.test(path);
}

export function reviewByRules({ patches }: MaterialOf<"code_reviewer">): ReviewPlan {
  const findings: Finding[] = [];
  for (const { path, patch } of patches) {
    for (const added of addedLines(patch ?? "")) {
      findings.push(...judged(path, added));
      if (findings.length >= findingsMax) return { findings: findings.slice(0, findingsMax) };
    }
  }
  return { findings };
}

function judged(path: string, { line, text }: AddedLine): readonly Finding[] {
  return rules.flatMap((rule) => {
    const found = rule(path, text.slice(0, lineCharactersMax));
    return found === undefined ? [] : [{ path, line, ...found }];
  });
}
