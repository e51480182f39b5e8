// Runs of the repository bot from end to end, against a GitHub that enforces what a token may.
import { describe, expect, it } from "vitest";
import { botFixture, mindOf, writesAt } from "../../testkit/bots/bot-fixture.ts";
import { addComment, addIssue, addPull, contentAt } from "../../testkit/github/github-state.ts";

const diff =
  "```diff\n--- a/src/add.ts\n+++ b/src/add.ts\n@@ -1,3 +1,3 @@\n export function add(a, b) {\n-  return a - b;\n+  return a + b;\n }\n```";
const files = { "src/add.ts": "export function add(a, b) {\n  return a - b;\n}\n" };

describe("the triager", () => {
  it("labels a short report, asks for what is missing in one comment, and says what it did", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, { title: "Crash at start", body: "It crashes." });
    const end = await bot.run(bot.job());
    expect(end).toMatchObject({ status: "DONE", code: undefined, byWriter: false, costNano: 0n, isolation: "process" });
    expect(bot.repository.issues.get(1)?.labels).toEqual(["bug"]);
    const [comment, ...more] = [...bot.repository.comments.values()];
    expect(more).toEqual([]);
    expect(comment?.body).toContain("The steps that lead to it");
    expect(comment?.body).toContain("rules, no model");
    expect(end.calls.filter(({ method }) => method !== "GET").map(({ path, status }) => `${path} ${status}`)).toEqual([
      "/app/installations/99/access_tokens 201",
      "/app/installations/99/access_tokens 201",
      "/repos/acme/widgets/issues/1/labels 200",
      "/repos/acme/widgets/issues/1/comments 201",
      "/installation/token 204",
      "/installation/token 204",
    ]);
    expect([...bot.hub.tokens.values()].every(({ isEnded }) => isEnded)).toBe(true);
  });

  it("is silent where there is nothing to say", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, {
      title: "A thought",
      body: "It would be good to have a second view of the list of widgets here.",
    });
    expect(await bot.run(bot.job())).toMatchObject({ status: "DONE", reason: "There was nothing to say." });
    expect(writesAt(bot.hub)).toEqual([]);
  });

  it("names a probable duplicate", async () => {
    const bot = botFixture();
    const text = "The export of a widget as CSV leaves out the last column whenever the header has a comma";
    addIssue(bot.hub, bot.repository, { title: "CSV export drops the last column", body: text });
    addIssue(bot.hub, bot.repository, {
      title: "Colours are dull",
      body: "I would like all the colours to be brighter than they are now, please.",
    });
    addIssue(bot.hub, bot.repository, { title: "CSV export drops the last column", body: `${text}.` });
    await bot.run(bot.job({ number: 3 }));
    expect([...bot.repository.comments.values()][0]?.body).toContain("This may be the same as #1.");
  });

  it("edits its one comment, and leaves one that a person deleted away until a command asks for it", async () => {
    const bot = botFixture();
    const issue = addIssue(bot.hub, bot.repository, { body: "short" });
    await bot.run(bot.job());
    issue.body = "short as well";
    await bot.run(bot.job({ trigger: "command", command: "triage", requestedBy: "writer" }));
    expect(bot.repository.comments.size).toBe(1);
    bot.repository.comments.clear();
    await bot.run(bot.job());
    expect(bot.repository.comments.size).toBe(0);
    await bot.run(bot.job({ trigger: "command", command: "triage", requestedBy: "writer" }));
    expect(bot.repository.comments.size).toBe(1);
  });
});

describe("the reviewer", () => {
  it("comments once, on changed lines, and approves nothing", async () => {
    const bot = botFixture();
    const patch = "@@ -1,2 +1,3 @@\n import x from 'x';\n+it.only('works', () => x());\n const y = 1;";
    addPull(bot.hub, bot.repository, {
      files: [{ filename: "src/x.test.ts", patch }],
      headRepository: "stranger/widgets",
    });
    const end = await bot.run(bot.job({ persona: "code_reviewer", headSha: "a".repeat(40) }));
    expect(end.status).toBe("DONE");
    const [review] = bot.repository.pulls.get(1)?.reviews ?? [];
    expect(review?.event).toBe("COMMENT");
    expect(review?.comments).toEqual([
      { path: "src/x.test.ts", line: 2, side: "RIGHT", body: "**blocker**: With this only a part of the tests runs." },
    ]);
  });

  it("is silent on a clean pull request", async () => {
    const bot = botFixture();
    addPull(bot.hub, bot.repository, { files: [{ filename: "a.ts", patch: "@@ -1 +1 @@\n-a\n+b" }] });
    expect((await bot.run(bot.job({ persona: "code_reviewer" }))).reason).toBe("There was nothing to say.");
    expect(writesAt(bot.hub)).toEqual([]);
  });
});

describe("the fixer", () => {
  const fix = { persona: "bug_fixer", trigger: "command", command: "fix", requestedBy: "writer" } as const;

  it("opens a draft with exactly the diff of somebody with write", async () => {
    const bot = botFixture({ files });
    addIssue(bot.hub, bot.repository, { title: "add subtracts" });
    addComment(bot.hub, bot.repository, 1, diff.replace("a + b", "evil()"), "reader");
    addComment(bot.hub, bot.repository, 1, diff, "writer");
    const end = await bot.run(bot.job(fix));
    expect(end).toMatchObject({ status: "DONE", byWriter: true, costNano: 200_000_000n });
    const pull = bot.repository.pulls.get(2);
    expect(pull).toMatchObject({ draft: true, headBranch: expect.stringMatching(/^portcullis-bot\/1-[a-f0-9]{12}$/) });
    expect(contentAt(bot.repository, pull?.headBranch ?? "", "src/add.ts")).toContain("return a + b;");
    expect(contentAt(bot.repository, "main", "src/add.ts")).toContain("return a - b;");
    const message = bot.repository.commits.get(pull?.headSha ?? "")?.message;
    expect(message?.endsWith("\n\n\nskip-checks: true")).toBe(true);
    expect(bot.repository.issues.get(2)?.body).toMatch(/Fixes #1\n.*skip-checks.*pending until a person pushes/s);
  });

  it.each([
    ["a reader", { requestedBy: "reader" }],
    ["a bot", { requestedBy: "helpful[bot]" }],
    ["somebody who was removed", { requestedBy: "gone" }],
  ])("does nothing for %s, and the run says why", async (_who, who) => {
    const bot = botFixture({ files });
    addIssue(bot.hub, bot.repository);
    addComment(bot.hub, bot.repository, 1, diff, "writer");
    const end = await bot.run(bot.job({ ...fix, ...who }));
    expect(end).toMatchObject({ status: "SKIPPED", code: "BOT_NOT_PERMITTED", byWriter: false });
    expect(end.reason).toContain(who.requestedBy);
    expect(writesAt(bot.hub)).toEqual([]);
  });

  it("refuses an unprotected default branch and says what to set; a rule that requires a pull request will do", async () => {
    const bot = botFixture({ files });
    addIssue(bot.hub, bot.repository);
    addComment(bot.hub, bot.repository, 1, diff, "writer");
    bot.repository.isProtected = false;
    expect(await bot.run(bot.job(fix))).toMatchObject({
      status: "SKIPPED",
      code: "BOT_BRANCH_UNPROTECTED",
      costNano: 0n,
    });
    expect([...bot.repository.comments.values()].at(-1)?.body).toContain("Protect the branch");
    bot.repository.rules = ["pull_request"];
    expect((await bot.run(bot.job(fix))).status).toBe("DONE");
  });

  it("does nothing on a fork's pull request", async () => {
    const bot = botFixture({ files });
    addPull(bot.hub, bot.repository, { headRepository: "stranger/widgets" });
    expect(await bot.run(bot.job(fix))).toMatchObject({ status: "SKIPPED", code: "BOT_FORK" });
    expect(writesAt(bot.hub)).toEqual([]);
  });

  it("refuses a diff that does not fit exactly, and every protected path", async () => {
    for (const changed of [
      diff.replace("a - b", "a  -  b"),
      diff.replaceAll("src/add.ts", ".github/workflows/ci.yml"),
    ]) {
      const bot = botFixture({ files: { ...files, ".github/workflows/ci.yml": files["src/add.ts"] } });
      addIssue(bot.hub, bot.repository);
      addComment(bot.hub, bot.repository, 1, changed, "writer");
      expect(await bot.run(bot.job(fix))).toMatchObject({ status: "FAILED", code: "BOT_PLAN_REFUSED", costNano: 0n });
      expect(writesAt(bot.hub)).toEqual([]);
    }
  });

  it("works five times in a repository for its dollar, and skips the sixth visibly and once", async () => {
    const bot = botFixture({ files });
    for (let number = 1; number <= 7; number += 1) {
      addIssue(bot.hub, bot.repository, { number: number * 100 });
      addComment(bot.hub, bot.repository, number * 100, diff, "writer");
    }
    const ends = [];
    for (let number = 1; number <= 6; number += 1) ends.push(await bot.run(bot.job({ ...fix, number: number * 100 })));
    expect(ends.map(({ status }) => status)).toEqual(["DONE", "DONE", "DONE", "DONE", "DONE", "SKIPPED"]);
    expect(ends[5]).toMatchObject({ code: "BOT_BUDGET_USED_UP", costNano: 0n });
    await bot.run(bot.job({ ...fix, number: 600 }));
    const said = [...bot.repository.comments.values()].filter(({ body }) => body.includes("skipped: budget"));
    expect(said.map(({ issue }) => issue)).toEqual([600]);
  });

  it("lets one of twenty at once have the last 0.20", async () => {
    const bot = botFixture({ files, caps: { daily: "0.20", perRepository: "1" } });
    for (let number = 1; number <= 20; number += 1) {
      addIssue(bot.hub, bot.repository, { number: number * 100 });
      addComment(bot.hub, bot.repository, number * 100, diff, "writer");
    }
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, at) => bot.run(bot.job({ ...fix, number: (at + 1) * 100 }))),
    );
    expect(ends.filter(({ status }) => status === "DONE")).toHaveLength(1);
    expect(bot.rows.budget.dayNano).toBe(200_000_000n);
  });
});

describe("commands", () => {
  it("help shows what each persona's token may, pause holds, and resume ends it", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, { body: "short" });
    const keeper = { persona: "keeper", trigger: "command", requestedBy: "writer" } as const;
    await bot.run(bot.job({ ...keeper, command: "help" }));
    expect([...bot.repository.comments.values()][0]?.body).toContain("| triager |");
    await bot.run(bot.job({ ...keeper, command: "pause" }));
    expect(await bot.run(bot.job())).toMatchObject({ status: "SKIPPED", code: "BOT_PAUSED" });
    await bot.run(bot.job({ ...keeper, command: "resume" }));
    expect((await bot.run(bot.job())).status).toBe("DONE");
    expect(bot.repository.comments.size).toBe(1);
  });

  it("pause stops a run before its next write", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, { title: "Crash", body: "short" });
    bot.before = (what) => {
      if (what === "done labels") bot.rows.isPaused = true;
    };
    expect(await bot.run(bot.job())).toMatchObject({ status: "SKIPPED", code: "BOT_PAUSED" });
    expect(writesAt(bot.hub)).toEqual(["POST /repos/acme/widgets/issues/1/labels"]);
  });
});

describe("what a mind says is a stranger's word", () => {
  it("a plan for another head is refused", async () => {
    const bot = botFixture({
      mind: mindOf({ by: "rules", plan: { findings: [{ path: "a.ts", line: 1, severity: "note", text: "x" }] } }),
    });
    const pull = addPull(bot.hub, bot.repository, { files: [{ filename: "a.ts", patch: "@@ -1 +1 @@\n-a\n+b" }] });
    bot.before = (what) => {
      if (what === "answered GET" && bot.hub.requests.at(-1)?.path.endsWith("/files")) pull.headSha = "b".repeat(40);
    };
    expect(await bot.run(bot.job({ persona: "code_reviewer" }))).toMatchObject({
      status: "FAILED",
      code: "BOT_PLAN_REFUSED",
    });
    expect(writesAt(bot.hub)).toEqual([]);
  });

  it.each([
    ["no plan", null],
    ["another form", { by: "model", plan: { merge: true } }],
    ["a key", { by: "rules", plan: { labels: [], missing: [`ghs_${"a".repeat(36)}`], duplicates: [] } }],
    [
      "a long token, cut in two",
      { by: "rules", plan: { labels: [], missing: [`ghs_12_${"eyJ".repeat(5)} ${"b".repeat(500)}`], duplicates: [] } },
    ],
  ])("%s is refused", async (_what, said) => {
    const bot = botFixture({ mind: mindOf(said) });
    addIssue(bot.hub, bot.repository);
    const end = await bot.run(bot.job());
    expect(end).toMatchObject({ status: "FAILED", code: "BOT_PLAN_REFUSED", plan: undefined, model: undefined });
    expect(writesAt(bot.hub)).toEqual([]);
  });
});

describe("GitHub's bad days", () => {
  const ofComment = ({ method, path }: { method: string; path: string }): boolean =>
    method === "POST" && path.endsWith("/comments");

  it.each(["down", 500, 502, "secondary", "primary"] as const)(
    "%s: the work waits, and nothing is doubled",
    async (fault) => {
      const bot = botFixture();
      addIssue(bot.hub, bot.repository, { title: "Crash", body: "short" });
      bot.hub.faults.push({ when: ofComment, fault });
      const job = bot.job();
      const end = await bot.run(job);
      expect(end.status).toBe("LATER");
      if (fault === "secondary") expect(end.retryAfterMs).toBe(120_000);
      const intents = bot.rows.intents.get(job.runId) ?? [];
      expect((await bot.run({ ...job, attempt: 2, intents })).status).toBe("DONE");
      expect(bot.repository.comments.size).toBe(1);
    },
  );

  it("a lost answer is looked for, and the comment is there once", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, { title: "Crash", body: "short" });
    bot.hub.faults.push({ when: ofComment, fault: "lost" });
    const job = bot.job();
    expect((await bot.run(job)).status).toBe("LATER");
    expect((await bot.run({ ...job, attempt: 2, intents: bot.rows.intents.get(job.runId) ?? [] })).status).toBe("DONE");
    expect(bot.repository.comments.size).toBe(1);
  });

  it("an expired token and a revoked installation end the run with a reason", async () => {
    const bot = botFixture();
    addIssue(bot.hub, bot.repository, { title: "Crash", body: "short" });
    bot.hub.faults.push({ when: ofComment, fault: 401 });
    expect(await bot.run(bot.job())).toMatchObject({
      status: "FAILED",
      code: "GITHUB_REFUSED",
      reason: expect.stringContaining("401"),
    });
    bot.hub.installation.suspendedAt = "2026-11-19T00:00:00Z";
    expect(await bot.run(bot.job())).toMatchObject({
      status: "FAILED",
      code: "GITHUB_REFUSED",
      reason: expect.stringContaining("403"),
    });
    expect(bot.repository.comments.size).toBe(0);
  });
});
