// The process is killed at every step of a run, between any two calls of the store or of GitHub, and the run is tried again until it ends: what stands at GitHub
// stands there once.
import { describe, expect, it } from "vitest";
import { type BotFixture, botFixture } from "../../testkit/bots/bot-fixture.ts";
import { byFloor } from "../../testkit/full-count.ts";
import { addComment, addIssue, addPull } from "../../testkit/github/github-state.ts";
import type { Job, JobEnd } from "./job.ts";

class Killed extends Error {}

const diff = "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n```";

const kinds = {
  triager: {
    job: {},
    set: (bot: BotFixture) => addIssue(bot.hub, bot.repository, { title: "Crash", body: "short" }),
    holds: (bot: BotFixture) => {
      expect(bot.repository.comments.size).toBe(1);
      expect(bot.repository.issues.get(1)?.labels).toEqual(["bug"]);
    },
  },
  code_reviewer: {
    job: { persona: "code_reviewer" },
    set: (bot: BotFixture) =>
      addPull(bot.hub, bot.repository, { files: [{ filename: "a.test.ts", patch: "@@ -0,0 +1 @@\n+fdescribe(x)" }] }),
    holds: (bot: BotFixture) => expect(bot.repository.pulls.get(1)?.reviews).toHaveLength(1),
  },
  bug_fixer: {
    job: { persona: "bug_fixer", trigger: "command", command: "fix", requestedBy: "writer" },
    set: (bot: BotFixture) => {
      addIssue(bot.hub, bot.repository);
      addComment(bot.hub, bot.repository, 1, diff, "writer");
    },
    holds: (bot: BotFixture) => {
      expect([...bot.repository.refs.keys()]).toHaveLength(2);
      expect(bot.repository.pulls.size).toBe(1);
    },
  },
} as const;

/** How many steps there were; a kill at one of them, or at none. */
async function runKilledAt(kind: keyof typeof kinds, at: number): Promise<number> {
  const { job: more, set, holds } = kinds[kind];
  const bot = botFixture({ files: { "a.txt": "one\n" }, caps: { daily: "100", perRepository: "100" } });
  set(bot);
  let steps = 0;
  let isDead = false;
  bot.before = () => {
    steps += isDead ? 0 : 1;
    isDead ||= steps === at && at > 0;
    // A dead process asks and stores nothing more, whatever it still does here.
    if (isDead) throw new Killed();
  };
  const job = bot.job(more as Partial<Job>);
  let end: JobEnd | undefined;
  for (let attempt = 1; attempt <= 3 && end?.status !== "DONE"; attempt += 1) {
    isDead = false;
    const intents = bot.rows.intents.get(job.runId) ?? [];
    // A worker that is killed answers nothing; what GitHub was asked at that moment may be done.
    end = await bot.run({ ...job, attempt, intents: [...intents] }).catch((thrown: unknown) => {
      if (thrown instanceof Killed) return undefined;
      throw thrown;
    });
  }
  expect(end?.status).toBe("DONE");
  holds(bot);
  return steps;
}

describe("killed at each step", () => {
  it.each(Object.keys(kinds) as (keyof typeof kinds)[])("%s: what it writes stands there once", async (kind) => {
    const steps = await runKilledAt(kind, 0);
    const stride = byFloor({ first: 3, later: 1 });
    for (let at = 1; at <= steps; at += stride) await runKilledAt(kind, at);
  });
});
