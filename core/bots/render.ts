// How a plan looks on a page of GitHub. Only this file makes Markdown: what a plan says goes in as plain text (core/bots/safe-text.ts), what marks it up is ours.
import type { FixPlan, ReviewPlan, TriagePlan } from "../../contracts/src/records/bot-plans.ts";
import type { BotCommand } from "../../contracts/src/records/githubbot.ts";
import { personas } from "./personas.ts";
import { codeSpan, safeLine, safeText } from "./safe-text.ts";

export interface Rendering {
  readonly repositoryUrl: string;
  readonly by: "rules" | "model";
  /** The name of the model, where it was one. */
  readonly model: string | undefined;
}

/** Undefined where there is nothing to say. */
export function renderTriage(plan: Pick<TriagePlan, "missing" | "duplicates">, how: Rendering): string | undefined {
  const parts: string[] = [];
  const missing = plan.missing.map((sentence) => oneLine(sentence, how)).filter((line) => line !== "");
  if (missing.length > 0) {
    parts.push(`To look into this, a maintainer needs:\n\n${missing.map((line) => `- ${line}`).join("\n")}`);
  }
  if (plan.duplicates.length > 0) {
    parts.push(`This may be the same as ${plan.duplicates.map((number) => `#${number}`).join(", ")}.`);
  }
  return parts.length === 0 ? undefined : [...parts, madeBy(how)].join("\n\n");
}

export interface RenderedFinding {
  readonly path: string;
  readonly line: number;
  readonly body: string;
}

export function renderFindings(findings: ReviewPlan["findings"], how: Rendering): readonly RenderedFinding[] {
  return findings.flatMap(({ path, line, severity, text }) => {
    const said = safeText(text, how.repositoryUrl);
    return said === "" ? [] : [{ path, line, body: `**${severity}**: ${said}` }];
  });
}

export function renderReview(count: number, how: Rendering): string {
  return `${count === 1 ? "One remark" : `${count} remarks`} on changed lines. This is no approval.\n\n${madeBy(how)}`;
}

interface RenderedFix {
  readonly title: string;
  readonly body: string;
  readonly message: string;
}

const checks = [
  "The commit ends in `skip-checks: true`, because nobody has read the change yet and workflows of this repository run with its secrets.",
  "That stops workflows on `push` and `pull_request` and no others.",
  "Required checks stay pending until a person pushes a commit to this branch.",
].join(" ");

export function renderFix(plan: FixPlan, number: number, marker: string, how: Rendering): RenderedFix {
  const title = safeLine(plan.title, 100) || `Proposal for issue ${number}`;
  const explanation = safeText(plan.explanation, how.repositoryUrl);
  const body = [explanation, `Fixes #${number}`, checks, madeBy(how), `Run ${codeSpan(marker)}`]
    .filter((part) => part !== "")
    .join("\n\n");
  const message = `${title}\n\nProposed for issue ${number} by the repository bot, run ${marker}.\n\n\nskip-checks: true`;
  return { title, body, message };
}

export function renderUnprotected(branch: string): string {
  return [
    `No fix was proposed: the default branch ${codeSpan(branch)} is not protected, so that what is proposed could be merged unread.`,
    "Protect the branch, or add a rule to it that requires a pull request or restricts updates, and ask again.",
  ].join("\n\n");
}

export const skippedForBudget =
  "skipped: budget\n\nWhat the bot may spend today is used up. It begins anew at 00:00 UTC; ask again then.";

export function renderKeeper(command: BotCommand | undefined, slug: string): string {
  if (command === "pause")
    return `The bot is paused in this thread. ${codeSpan(`${slug} resume`)}, addressed to it, ends that.`;
  if (command === "resume") return "The bot works in this thread again.";
  const rows = personas.map(({ name, sentence, permissions }) => {
    const may = Object.entries(permissions).map(([what, how]) => `${what}: ${how}`);
    return `| ${name} | ${sentence} | ${may.join(", ")} |`;
  });
  return [
    `Alone on a line, addressed to ${codeSpan(slug)}, by somebody with write: ${["triage", "review", "fix", "pause", "resume", "help"].map(codeSpan).join(", ")}.`,
    ["| persona | what it does | what its token may |", "|---|---|---|", ...rows].join("\n"),
    "Nothing takes arguments. It opens draft pull requests and never merges, approves or pushes to your branches.",
  ].join("\n\n");
}

function oneLine(text: string, how: Rendering): string {
  return safeText(text.replace(/\s+/g, " "), how.repositoryUrl);
}

function madeBy({ by, model }: Rendering): string {
  return `*${by === "rules" ? "rules, no model" : `model ${codeSpan(model ?? "")}`}*`;
}
