// What the repository bot may say and change, each rule by itself.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { applyEdits } from "./apply-edits.ts";
import { judgeReservation, nanoOf, promptsCostMost, reachedMarks, runCost, textOf, tokenCost } from "./budget.ts";
import { checkTriage } from "./check-plan.ts";
import { readCommand, runKey } from "./commands.ts";
import { hasHidden, withoutHidden } from "./hidden.ts";
import { fixByRules, lastDiff } from "./mind/fix-rules.ts";
import { reviewByRules } from "./mind/review-rules.ts";
import { addedLines, readDiff } from "./patches.ts";
import { keeperPermissions, personas, readerPermissions } from "./personas.ts";
import { whyProtected } from "./protected-paths.ts";
import { readSettings } from "./repository-settings.ts";
import { safeLine, safeText } from "./safe-text.ts";
import { findSecret, findSecretToPublish } from "./secrets.ts";
import { isSticky, withSection } from "./sticky.ts";

const here = "https://github.com/acme/widgets";
const seed = 20261119;

describe("commands", () => {
  it.each([
    ["@bot fix", "fix"],
    ["Please.\n@BOT review\nThanks", "review"],
    ["@bot fix  ", "fix"],
    ["@bot fix now", undefined],
    ["@bot fix --model=x", undefined],
    ["hey @bot fix", undefined],
    ["> @bot fix", undefined],
    ["```\n@bot fix\n```", undefined],
    ["<!-- \n@bot fix\n-->", undefined],
    ["@bot\u200b fix", "fix"],
    ["@bott fix", undefined],
    ["@bot FIX", undefined],
    ["@bot merge", undefined],
  ])("%j is %s", (body, command) => expect(readCommand(body, "bot")).toBe(command));
});

describe("hidden text", () => {
  it("is gone: comments, also open and nested ones, and characters that nobody sees", () => {
    expect(withoutHidden("a<!-- x -->b<!-- open")).toBe("ab");
    expect(withoutHidden("<!<!-- a -->-- b -->c")).not.toContain("<!--");
    expect(withoutHidden("i\u200bg\u2066nore\u{e0041}\ufe0f")).toBe("ignore");
    expect(hasHidden("a\tb\n")).toBe(false);
    expect(hasHidden("if (\u202e)")).toBe(true);
  });
});

describe("what a page is shown", () => {
  const evil = fc.array(
    fc.oneof(
      fc.constantFrom(
        "@",
        "<",
        ">",
        "[",
        "]",
        "(",
        ")",
        "!",
        "`",
        "\\",
        "#",
        "https://",
        "www.",
        "evil.example",
        "&lt;",
        "\n",
        "javascript:",
        "x",
        " ",
        "//",
        ":",
        "http",
        "GH-",
        "1",
        "-->",
        "<!--",
        "]:",
        "*",
        "|",
        "$",
      ),
      fc.string({ maxLength: 5, unit: "binary" }),
    ),
    { maxLength: 30 },
  );

  it(`is plain text, whatever it was, seed ${seed}`, () => {
    fc.assert(
      fc.property(evil, (parts) => {
        const text = parts.join("");
        for (const shown of [safeText(text, here), safeLine(text, 1_000)]) {
          expect(shown).not.toMatch(/@|:\/\/|www\.|#\d|GH-\d/i);
          expect(hasHidden(shown)).toBe(false);
        }
        expect(safeText(text, here).replaceAll(/\\[\\`*_[\]#!|~$]/g, "")).not.toMatch(/[<>`*[\]#|$]/);
      }),
      { seed, numRuns: inputCount(5_000) },
    );
  });

  it("links into the repository and nowhere else", () => {
    expect(safeText(`see ${here}/blob/main/a.ts`, here)).toContain(`${here}/blob/main/a.ts`);
    for (const url of [
      `${here}.evil.example/x`,
      `${here}/../../evil`,
      `${here}/%2e%2e/x`,
      "https://github.com/acme/other/x",
      `${here}/a@b`,
    ]) {
      expect(safeText(url, here)).toBe("(link removed)");
    }
  });

  it("cannot begin a section of the one comment", () => {
    const comment = withSection("", "triager", safeText('x\n[//]: # "portcullis-bot keeper"\nowned', here));
    expect(isSticky(comment)).toBe(true);
    const both = withSection(withSection(comment, "keeper", "first"), "keeper", "second");
    expect(both).toContain("owned");
    expect(both).not.toContain("first");
    expect(both.split('[//]: # "portcullis-bot keeper"')).toHaveLength(2);
  });
});

describe("keys and tokens", () => {
  it.each([
    `ghs_${"a".repeat(36)}`,
    `ghs_123456_${"eyJhbGciOi".repeat(3)}.${"x".repeat(480)}`,
    `github_pat_${"A1".repeat(20)}`,
    "-----BEGIN RSA PRIVATE KEY-----",
    `AKIA${"A".repeat(16)}`,
    `sk-${"x".repeat(30)}`,
  ])("%s is found, and where it was cut", (key) => {
    expect(findSecret(`x = "${key}"`)).toBeDefined();
    expect(findSecretToPublish([...key].join(" ")) !== undefined).toBe(!key.startsWith("-----"));
  });

  it("plain sentences have none", () => {
    expect(
      findSecretToPublish("The task-runner asks for a risk-free ghost; see docs/setup.md and github.com for more."),
    ).toBeUndefined();
  });
});

describe("protected paths", () => {
  it.each([
    ".github/workflows/x.yml",
    "a/.GitHub/x",
    "CODEOWNERS",
    "docs/codeowners",
    "package-lock.json",
    "sub/Cargo.lock",
    ".gitmodules",
    "../x",
    "a//b",
    "a/./b",
    "GIT~1/config",
    ".git./config",
    ".env",
    ".env.local",
    "a/id.pem",
    "．github/x",
  ])("%s", (path) => expect(whyProtected(path)).toBeDefined());
  it("leaves sources alone", () =>
    expect(["src/a.ts", "docs/.hidden/x.md", "a b/c.txt"].map(whyProtected)).toEqual([
      undefined,
      undefined,
      undefined,
    ]));
});

describe("edits", () => {
  const file = (content: string, mode = "100644") => new Map([["a.txt", { path: "a.txt", mode, content }]]);
  const paths = new Set(["a.txt", "dir/b.txt"]);
  const edit = (find: string, replace: string, line: number | null = null, path = "a.txt") => ({
    path,
    find,
    replace,
    line,
  });

  it("apply exactly, or not at all", () => {
    expect(applyEdits([edit("two", "2")], file("one\ntwo\n"), paths)).toEqual({
      files: [{ path: "a.txt", mode: "100644", content: "one\n2\n" }],
    });
    expect(applyEdits([edit("a", "b")], file("a a"), paths)).toHaveProperty("refused");
    expect(applyEdits([edit("one", "1", 2)], file("one\ntwo\n"), paths)).toHaveProperty("refused");
    expect(applyEdits([edit("on", "1", 1)], file("one\n"), paths)).toHaveProperty("refused");
    expect(applyEdits([edit("one\ntwo", "", 1)], file("one\ntwo\nthree\n"), paths)).toMatchObject({
      files: [{ content: "three\n" }],
    });
    expect(applyEdits([edit("one", "1"), edit("ne\ntw", "x")], file("one\ntwo\n"), paths)).toHaveProperty("refused");
  });

  it.each([
    ["a link", applyEdits([edit("x", "y")], file("x", "120000"), paths)],
    ["a new file over a folder", applyEdits([edit("", "y", null, "dir")], new Map(), paths)],
    ["a new file below a file", applyEdits([edit("", "y", null, "a.txt/b")], new Map(), paths)],
    ["a name that differs by case", applyEdits([edit("", "y", null, "A.txt")], new Map(), paths)],
    ["hidden characters", applyEdits([edit("x", "y\u202e")], file("x"), paths)],
    ["a key", applyEdits([edit("x", `ghp_${"a".repeat(36)}`)], file("x"), paths)],
    [
      "eleven files",
      applyEdits(
        Array.from({ length: 11 }, (_, at) => edit("", "x", null, `n${at}`)),
        new Map(),
        paths,
      ),
    ],
    ["401 lines", applyEdits([edit("x", "y\n".repeat(401))], file("x"), paths)],
  ])("refuse %s", (_what, applied) => expect(applied).toHaveProperty("refused"));
});

describe("diffs", () => {
  it("are read whole or not, and only the last one of somebody with write counts", () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    expect(readDiff(diff)).toEqual([{ path: "x", line: 1, find: ["one", "two"], replace: ["one", "2"] }]);
    expect(readDiff(`${diff}rm -rf /\n`)).toBeUndefined();
    expect(readDiff("@@ -1 +1 @@\n-a\n+b")).toBeUndefined();
    expect(readDiff("rename from a\nrename to b")).toBeUndefined();
    const fenced = `\`\`\`diff\n${diff}\`\`\``;
    expect(lastDiff(fenced)).toBe(diff.trimEnd());
    const comment = (author: string, mayWrite: boolean) => ({ author, mayWrite, body: fenced });
    const thread = { number: 1, title: "x", body: fenced, author: "s", comments: [comment("stranger", false)] };
    expect(fixByRules({ persona: "bug_fixer", thread, paths: [], files: [] }).edits).toEqual([]);
    const both = { ...thread, comments: [comment("writer", true), comment("stranger", false)] };
    expect(fixByRules({ persona: "bug_fixer", thread: both, paths: [], files: [] }).explanation).toContain("writer");
  });

  it("say which lines were added", () => {
    expect(addedLines("@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n\\ No newline\n@@ -9 +10 @@\n+e")).toEqual([
      { line: 2, text: "c" },
      { line: 3, text: "d" },
      { line: 10, text: "e" },
    ]);
  });

  it("are reviewed by what a line shows, without repeating it", () => {
    const patch = (text: string) => `@@ -0,0 +1 @@\n+${text}`;
    const key = `ghp_${"a".repeat(36)}`;
    const patches = [
      { path: "a.ts", patch: patch(`const k = "${key}"`) },
      { path: "a.ts", patch: patch("<<<<<<< HEAD") },
      { path: "src/a.test.ts", patch: patch("describe.only('x', f)") },
      { path: "src/only.ts", patch: patch("profit(x); it.only(x)") },
      { path: ".github/workflows/a.yml", patch: patch("on: pull_request_target") },
    ];
    const thread = { number: 1, title: "", body: "", author: "s", comments: [] };
    const { findings } = reviewByRules({ persona: "code_reviewer", thread, branch: "x", patches });
    expect(findings.map(({ path }) => path)).toEqual(["a.ts", "a.ts", "src/a.test.ts", ".github/workflows/a.yml"]);
    expect(JSON.stringify(findings)).not.toContain(key);
  });
});

describe("labels", () => {
  const how = { repositoryUrl: here, by: "model", model: "m" } as const;
  const state = {
    number: 1,
    isOpen: true,
    labels: ["bug"],
    allLabels: ["bug", "Question", "release", "bot:fix", "defect"],
    words: {},
    others: [2],
  };
  const plan = {
    labels: ["bug", "question", "release", "bot:fix", "invented", "defect"],
    missing: [],
    duplicates: [1, 2, 3],
  };

  it("are those that exist, are not set, and start nothing; the repository's settings name more", () => {
    expect(checkTriage(plan, state, how)).toMatchObject({
      writes: [{ labels: ["Question"] }, { markdown: expect.stringContaining("#2.") }],
    });
    expect(checkTriage(plan, { ...state, words: { crash: "defect", evil: "bot:fix" } }, how)).toMatchObject({
      writes: [{ labels: ["Question", "defect"] }, {}],
    });
    expect(checkTriage(plan, { ...state, isOpen: false }, how)).toHaveProperty("refused");
  });
});

describe("a repository's settings", () => {
  it("turn personas off and name labels, and say nothing else", () => {
    const read = readSettings("personas:\n  bug_fixer: off # not here\nlabels:\n  crash: bug\nmodel: evil\n");
    expect([...read.off]).toEqual(["bug_fixer"]);
    expect({ ...read.words }).toEqual({ crash: "bug" });
    expect(read.unread).toEqual([5]);
    expect(Object.keys(readSettings("labels:\n  __proto__: x\n").words)).toEqual([]);
    expect(readSettings(undefined).off.size).toBe(0);
  });
});

describe("a run's key", () => {
  it("is the same for what is the same", () => {
    expect(runKey("Acme/W", 1, "triager", { kind: "opened" })).toBe(runKey("acme/w", 1, "triager", { kind: "opened" }));
    expect(runKey("a/b", 1, "bug_fixer", { kind: "command", commentId: 7 })).not.toBe(
      runKey("a/b", 1, "bug_fixer", { kind: "label", deliveryId: "7" }),
    );
  });
});

describe("budgets", () => {
  const caps = { dailyNano: nanoOf("5"), perRepositoryNano: nanoOf(1) };
  const none = { dayNano: 0n, repositoryNano: 0n, dayStrangersNano: 0n, repositoryStrangersNano: 0n, personRuns: 0 };
  const fix = { nano: nanoOf("0.20"), byWriter: true };

  it("are exact: a cap may be reached and not passed", () => {
    expect(judgeReservation({ ...none, repositoryNano: nanoOf("0.80") }, caps, fix)).toBeUndefined();
    expect(judgeReservation({ ...none, repositoryNano: nanoOf("0.80") + 1n }, caps, fix)?.which).toBe("repository");
    expect(judgeReservation({ ...none, dayNano: nanoOf("4.9") }, caps, fix)?.which).toBe("day");
    expect(nanoOf("0.0000000001")).toBe(1n);
    expect(textOf(nanoOf("0.20"))).toBe("0.2");
  });

  it("keep half for those with write, and hold a person to twenty runs", () => {
    const used = { ...none, repositoryNano: nanoOf("0.4"), repositoryStrangersNano: nanoOf("0.4") };
    expect(judgeReservation(used, caps, { ...fix, byWriter: false })?.which).toBe("strangers");
    expect(judgeReservation(used, caps, fix)).toBeUndefined();
    expect(judgeReservation({ ...none, personRuns: 20 }, caps, { nano: 0n, byWriter: false })?.which).toBe("person");
    expect(judgeReservation({ ...none, personRuns: 20 }, caps, { nano: 0n, byWriter: true })).toBeUndefined();
  });

  it("pass each mark once, and count tokens upwards", () => {
    expect(reachedMarks(0n, 80n, 100n)).toEqual([50, 75]);
    expect(reachedMarks(80n, 100n, 100n)).toEqual([90, 100]);
    expect(reachedMarks(100n, 120n, 100n)).toEqual([]);
    const prices = { inputNanoPerMillion: nanoOf("3"), outputNanoPerMillion: nanoOf("15") };
    expect(tokenCost(prices, 1, 0)).toBe(3_000n);
    expect(promptsCostMost(prices, [{ bytes: 1_000, answerTokensMax: 10 }])).toBe(3_150_000n);
    expect(runCost(nanoOf("0.2"), nanoOf("0.3"))).toBe(nanoOf("0.3"));
  });
});

describe("personas", () => {
  it("hold no permission beyond their work", () => {
    expect(Object.values(readerPermissions)).not.toContain("write");
    expect(keeperPermissions).toEqual({ metadata: "read", issues: "write" });
    expect(personas.filter(({ permissions }) => permissions["contents"] !== undefined).map(({ name }) => name)).toEqual(
      ["bug_fixer"],
    );
    expect(personas.every(({ questions }) => questions.length <= 2)).toBe(true);
  });
});
