// The writer: each write is stored as an intent first, asked about pause before it is made, and looked for before it is made again. GitHub has no key that makes
// a call happen once, so the mark of a write stands in what is written.

import type { BotRunner } from "../../contracts/src/records/githubbot.ts";
import type { PlannedWrite } from "../../core/bots/check-plan.ts";
import { isSticky, withSection } from "../../core/bots/sticky.ts";
import type { RepositoryForge } from "../../ports/forge.ts";
import type { Intent, Job, RunStore } from "./job.ts";

/** Why writing stopped between two writes. */
export class Paused extends Error {}

interface Writing {
  readonly job: Job;
  readonly runs: RunStore;
  readonly forge: RepositoryForge;
  readonly persona: BotRunner;
  readonly defaultBranch: string;
}

/** How many calls wrote something. */
export async function writeAll(writing: Writing, writes: readonly PlannedWrite[]): Promise<number> {
  let made = 0;
  for (const write of writes) if (await writeOne(writing, write)) made += 1;
  return made;
}

async function writeOne(writing: Writing, write: PlannedWrite): Promise<boolean> {
  switch (write.kind) {
    case "labels":
      return once(writing, "labels", write.labels.join(","), {
        // Setting a label that is there changes nothing.
        look: async () => undefined,
        make: async () => {
          await writing.forge.addLabels(writing.job.number, write.labels);
          return "set";
        },
      });
    case "section":
      return writeSection(writing, write.markdown);
    case "review":
      return writeReview(writing, write);
    default:
      return writePull(writing, write);
  }
}

interface Steps {
  /** What an earlier attempt made of it. */
  look(): Promise<string | undefined>;
  make(): Promise<string>;
}

async function once({ job, runs }: Writing, name: string, marker: string, { look, make }: Steps): Promise<boolean> {
  await mustGoOn(runs);
  const intent: Intent = await runs.intend(name, marker);
  if (intent.result !== undefined) return true;
  const wasBegun = job.attempt > 1 || job.intents.some((each) => each.name === name);
  const found = wasBegun ? await look() : undefined;
  await runs.done(name, found ?? (await make()));
  return true;
}

async function mustGoOn(runs: RunStore): Promise<void> {
  const may = await runs.mayWrite();
  if (may !== true) throw new Paused(may.reason);
}

/**
 * The thread's one comment. It is known by its stored id; a comment of our App that begins as ours do is taken for it where the answer to making it was lost.
 * One that a person deleted comes back only on a command.
 */
export async function writeSection(writing: Writing, markdown: string): Promise<boolean> {
  const { job, runs, forge, persona } = writing;
  const known = await runs.sticky();
  const standing = known === undefined ? await findSticky(writing) : await forge.comment(known.commentId);
  const isOurs = standing !== undefined && standing.appId === job.appId;
  if (known !== undefined && !isOurs && job.trigger !== "command") {
    await runs.keepSticky({ commentId: known.commentId, isGone: true });
    return false;
  }
  const again = known === undefined || isOurs ? standing : await findSticky(writing);
  const name = `section ${persona}`;
  if (again !== undefined && again.appId === job.appId) {
    const body = withSection(again.body, persona, markdown);
    await runs.keepSticky({ commentId: again.id, isGone: false });
    if (body === again.body) return true;
    return once(writing, name, "edit", {
      look: async () => undefined,
      make: async () => {
        await forge.updateComment(again.id, body);
        return String(again.id);
      },
    });
  }
  return once(writing, name, "create", {
    look: async () => {
      const found = await findSticky(writing);
      if (found !== undefined) await runs.keepSticky({ commentId: found.id, isGone: false });
      return found === undefined ? undefined : String(found.id);
    },
    make: async () => {
      const { id } = await forge.createComment(job.number, withSection("", persona, markdown));
      await runs.keepSticky({ commentId: id, isGone: false });
      return String(id);
    },
  });
}

async function findSticky({ job, forge }: Writing) {
  const all = await forge.comments(job.number);
  return all.find(({ appId, body }) => appId === job.appId && isSticky(body));
}

async function writeReview(writing: Writing, write: Extract<PlannedWrite, { kind: "review" }>): Promise<boolean> {
  const { job, forge } = writing;
  const mark = `[//]: # "portcullis-bot run ${job.runId}"`;
  return once(writing, "review", mark, {
    look: async () => ((await forge.reviews(job.number)).some((body) => body.includes(mark)) ? "found" : undefined),
    make: async () => {
      const { headSha, body, comments } = write;
      const { id } = await forge.createReview(job.number, { headSha, body: `${body}\n\n${mark}`, comments });
      return String(id);
    },
  });
}

/** Of the run alone, so that a branch of that name is this run's. */
function branchOf({ number, runId }: Pick<Job, "number" | "runId">): string {
  return `portcullis-bot/${number}-${runId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(0, 12)}`;
}

async function writePull(writing: Writing, write: Extract<PlannedWrite, { kind: "pull" }>): Promise<boolean> {
  const { runs, forge, defaultBranch } = writing;
  const branch = branchOf(writing.job);
  await once(writing, "branch", branch, {
    look: () => forge.headOf(branch),
    make: async () => {
      const { sha } = await forge.createCommit(write.baseSha, write.files, write.message);
      await mustGoOn(runs);
      await forge.createBranch(branch, sha);
      return sha;
    },
  });
  return once(writing, "pull", branch, {
    look: async () => (await forge.pullFrom(branch))?.number.toString(),
    make: async () => {
      const { title, body } = write;
      return String((await forge.createDraft({ title, body, branch, base: defaultBranch })).number);
    },
  });
}
