// Holds a plan against the thread as it is now, and says which writes follow from it. A plan is a stranger's word: what it names must be there, what it may
// not name is left out, and what was meant for another state is refused.
//
// What a list of writes keeps, whatever the plan said:
//  1. Labels exist, are not on the issue yet, are among those that the bot may set, and are three at most.
//  2. Remarks stand on lines that the pull request added, at the head that was read.
//  3. Nothing that is published holds what looks like a key.
//  4. A plan without anything to say leads to no write.
import type { FixPlan, ReviewPlan, TriagePlan } from "../../contracts/src/records/bot-plans.ts";
import { applyEdits, type ChangedFile, type RepositoryFile } from "./apply-edits.ts";
import type { PatchMaterial } from "./material.ts";
import { addedLines } from "./patches.ts";
import {
  type RenderedFinding,
  type Rendering,
  renderFindings,
  renderFix,
  renderReview,
  renderTriage,
} from "./render.ts";
import { findSecretToPublish } from "./secrets.ts";

export type PlannedWrite =
  | { readonly kind: "labels"; readonly labels: readonly string[] }
  | { readonly kind: "section"; readonly markdown: string }
  | {
      readonly kind: "review";
      readonly headSha: string;
      readonly body: string;
      readonly comments: readonly RenderedFinding[];
    }
  | {
      readonly kind: "pull";
      readonly baseSha: string;
      readonly files: readonly ChangedFile[];
      readonly title: string;
      readonly body: string;
      readonly message: string;
    };

export type CheckedPlan = { readonly writes: readonly PlannedWrite[] } | { readonly refused: string };

/** GitHub's own, and what maintainers call a report that lacks something. Others may start workflows; the repository's settings name those that may be set. */
const harmlessLabels: ReadonlySet<string> = new Set([
  "bug",
  "documentation",
  "duplicate",
  "enhancement",
  "question",
  "invalid",
  "needs-info",
  "needs-triage",
]);

interface IssueState {
  readonly number: number;
  readonly isOpen: boolean;
  readonly labels: readonly string[];
  /** Of the repository. */
  readonly allLabels: readonly string[];
  readonly words: Readonly<Record<string, string>>;
  /** Whom a duplicate may be. */
  readonly others: readonly number[];
}

export function checkTriage(plan: TriagePlan, state: IssueState, how: Rendering): CheckedPlan {
  if (!state.isOpen) return { refused: "The issue was closed meanwhile." };
  const allowed = new Set([...harmlessLabels, ...Object.values(state.words).map((label) => label.toLowerCase())]);
  const there = new Map(state.allLabels.map((label) => [label.toLowerCase(), label]));
  const has = new Set(state.labels.map((label) => label.toLowerCase()));
  const labels = [...new Set(plan.labels.map((label) => label.toLowerCase()))].flatMap((label) => {
    const known = there.get(label);
    // The bot's own words start its own work.
    return known === undefined || has.has(label) || !allowed.has(label) || label.startsWith("bot:") ? [] : [known];
  });
  const duplicates = [...new Set(plan.duplicates)].filter((one) => one !== state.number && state.others.includes(one));
  const markdown = renderTriage({ missing: plan.missing, duplicates }, how);
  const writes: PlannedWrite[] = [];
  if (labels.length > 0) writes.push({ kind: "labels", labels: labels.slice(0, 3) });
  if (markdown !== undefined) writes.push({ kind: "section", markdown });
  return published(writes);
}

interface PullState {
  readonly isOpen: boolean;
  readonly headSha: string;
  /** The head that the mind's material was read at. */
  readonly readSha: string;
  readonly patches: readonly PatchMaterial[];
}

export function checkReview(plan: ReviewPlan, state: PullState, how: Rendering): CheckedPlan {
  if (!state.isOpen) return { refused: "The pull request was closed meanwhile." };
  if (state.headSha !== state.readSha) return { refused: "The pull request got other commits meanwhile." };
  const changed = new Map(
    state.patches.map(({ path, patch }) => [path, new Set(addedLines(patch ?? "").map(({ line }) => line))]),
  );
  const standing = plan.findings.filter(({ path, line }) => changed.get(path)?.has(line) === true);
  const comments = renderFindings(standing, how);
  if (comments.length === 0) return { writes: [] };
  return published([{ kind: "review", headSha: state.headSha, body: renderReview(comments.length, how), comments }]);
}

interface FixState {
  readonly number: number;
  readonly isOpen: boolean;
  readonly baseSha: string;
  readonly paths: ReadonlySet<string>;
  readonly files: ReadonlyMap<string, RepositoryFile>;
}

export function checkFix(plan: FixPlan, state: FixState, marker: string, how: Rendering): CheckedPlan {
  if (!state.isOpen) return { refused: "The issue was closed meanwhile." };
  if (plan.edits.length === 0) return { writes: [] };
  const applied = applyEdits(plan.edits, state.files, state.paths);
  if ("refused" in applied) return applied;
  if (applied.files.length === 0) return { writes: [] };
  const rendered = renderFix(plan, state.number, marker, how);
  return published([{ kind: "pull", baseSha: state.baseSha, files: applied.files, ...rendered }]);
}

/** Of files only what the edits bring is judged, which `applyEdits` did: the rest is published already. */
function published(writes: readonly PlannedWrite[]): CheckedPlan {
  for (const write of writes) {
    const secret = textsOf(write)
      .map(findSecretToPublish)
      .find((found) => found !== undefined);
    if (secret !== undefined) return { refused: `What it would publish looks as if it held ${secret}.` };
  }
  return { writes };
}

function textsOf(write: PlannedWrite): readonly string[] {
  switch (write.kind) {
    case "labels":
      return write.labels;
    case "section":
      return [write.markdown];
    case "review":
      return [write.body, ...write.comments.map(({ body }) => body)];
    default:
      return [write.title, write.body, write.message, ...write.files.map(({ path }) => path)];
  }
}
