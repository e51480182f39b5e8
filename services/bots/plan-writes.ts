// Reads the thread again, at the moment before anything is written, and holds the plan against it: what a plan was made for may be gone.
import type { FixPlan, ReviewPlan, TriagePlan } from "../../contracts/src/records/bot-plans.ts";
import { type CheckedPlan, checkFix, checkReview, checkTriage } from "../../core/bots/check-plan.ts";
import type { Persona } from "../../core/bots/personas.ts";
import type { Rendering } from "../../core/bots/render.ts";
import type { RepositorySettings } from "../../core/bots/repository-settings.ts";
import { findSecretToPublish } from "../../core/bots/secrets.ts";
import type { RepositoryForge } from "../../ports/forge.ts";
import { filesOf, type Gathered } from "./gather.ts";
import type { Job } from "./job.ts";

interface Planned {
  readonly reader: RepositoryForge;
  readonly job: Job;
  readonly persona: Persona;
  readonly settings: RepositorySettings;
  readonly gathered: Gathered;
  readonly said: { readonly plan: unknown };
  readonly how: Rendering;
}

const planCharactersMax = 65_536;

/** With the plan as it is kept: nothing of one that is not of its form, is too long or holds what looks like a key. */
export async function planWrites(planned: Planned): Promise<CheckedPlan & { readonly plan: unknown }> {
  const { persona, said } = planned;
  const read = persona.plan.safeParse(said.plan);
  if (!read.success) return { refused: "The plan is not of its persona's form.", plan: undefined };
  const text = JSON.stringify(read.data);
  const plan = text.length <= planCharactersMax && findSecretToPublish(text) === undefined ? read.data : undefined;
  return { ...(await checked(planned, read.data)), plan };
}

async function checked(
  { reader, job, persona, settings, gathered, how }: Planned,
  plan: unknown,
): Promise<CheckedPlan> {
  const issue = await reader.issue(job.number);
  const isOpen = issue.isOpen && !issue.isLocked;
  if (persona.name === "triager") {
    const { words } = settings;
    const allLabels = await reader.labels();
    const state = { number: job.number, isOpen, labels: issue.labels, allLabels, words, others: gathered.others };
    return checkTriage(plan as TriagePlan, state, how);
  }
  if (persona.name === "code_reviewer") {
    const { headSha } = await reader.pull(job.number);
    return checkReview(
      plan as ReviewPlan,
      { isOpen, headSha, readSha: gathered.headSha ?? "", patches: gathered.patches },
      how,
    );
  }
  const { edits } = plan as FixPlan;
  const { baseSha, tree } = gathered;
  if (baseSha === undefined) return { refused: "The default branch has no commit." };
  if (job.trigger === "labelled" && !issue.labels.includes("bot:fix"))
    return { refused: "The label was taken away meanwhile." };
  const files = await filesOf(
    reader,
    tree,
    edits.map(({ path }) => path),
  );
  const paths = new Set(tree.map(({ path }) => path));
  return checkFix(plan as FixPlan, { number: job.number, isOpen, baseSha, paths, files }, job.runId, how);
}
