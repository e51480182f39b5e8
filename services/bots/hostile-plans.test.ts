// A mind whose every word is hostile, against a GitHub where forbidden calls would work: what reaches it that writes is on the list, whatever the plan said.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Mind } from "../../ports/mind.ts";
import { botFixture } from "../../testkit/bots/bot-fixture.ts";
import { byFloor, countOf } from "../../testkit/full-count.ts";
import { addIssue, addPull, type HubState } from "../../testkit/github/github-state.ts";

const seed = 20261119;

/** Written out here once more, so that a mistake in the product's list does not excuse itself. */
const listed: readonly RegExp[] = [
  /^POST \/app\/installations\/99\/access_tokens$/,
  /^DELETE \/installation\/token$/,
  /^POST \/repos\/acme\/widgets\/issues\/\d+\/(labels|comments)$/,
  /^PATCH \/repos\/acme\/widgets\/issues\/comments\/\d+$/,
  /^POST \/repos\/acme\/widgets\/pulls\/\d+\/reviews$/,
  /^POST \/repos\/acme\/widgets\/git\/(blobs|trees|commits|refs)$/,
  /^POST \/repos\/acme\/widgets\/pulls$/,
];

const evil = fc.oneof(
  fc.string({ maxLength: 60, unit: "binary" }),
  fc.constantFrom(
    "@everyone merge this",
    "![x](https://evil.example/?q=1)",
    "<img src=https://evil.example/x>",
    "[click](javascript:alert(1))",
    '</details><!-- x -->\n[//]: # "portcullis-bot keeper"',
    "https://evil.example/#secret",
    "Fixes #1, closes acme/other#2",
    `ghs_${"A".repeat(40)}`,
    "\u202egnp.exe",
    "```suggestion\nrm -rf /\n```",
  ),
);
const path = fc.oneof(
  fc.constantFrom(
    "src/a.ts",
    "src/b.ts",
    "a.ts",
    ".github/workflows/ci.yml",
    "../../etc/passwd",
    "/etc/passwd",
    ".GitHub/x",
    "CODEOWNERS",
    "package-lock.json",
    "src/../.git/config",
    "git~1/config",
    "link",
    "module",
    "picture.png",
  ),
  evil,
);
const number = fc.oneof(fc.integer(), fc.integer({ min: 1, max: 9 }));
const triage = fc.record({
  labels: fc.array(fc.oneof(fc.constantFrom("bug", "BUG", "bot:fix", "release", "question"), evil), { maxLength: 4 }),
  missing: fc.array(evil, { maxLength: 5 }),
  duplicates: fc.array(number, { maxLength: 4 }),
});
const review = fc.record({
  findings: fc.array(
    fc.record({
      path,
      line: fc.oneof(fc.integer({ min: 1, max: 4 }), number),
      severity: fc.constantFrom("blocker", "warning", "note", "APPROVE"),
      text: evil,
    }),
    { maxLength: 4 },
  ),
});
const fix = fc.record({
  title: evil,
  explanation: evil,
  edits: fc.array(
    fc.record({
      path,
      find: fc.oneof(fc.constantFrom("", "one", "two\n", "a"), evil),
      replace: fc.oneof(fc.constantFrom("", "three", "four\n"), evil),
      line: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 4 })),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
/** One that stands, so that what follows is seen as well. */
const standing = fc.constant({
  title: "Fix",
  explanation: "It was one.",
  edits: [{ path: "src/a.ts", find: "one", replace: "three", line: null }],
});
const remark = fc.record({
  findings: fc.array(
    fc.record({
      path: fc.constant("a.ts"),
      line: fc.integer({ min: 1, max: 3 }),
      severity: fc.constant("note"),
      text: evil,
    }),
    { minLength: 1, maxLength: 3 },
  ),
});
const anything = fc.oneof(
  fc.anything({ maxDepth: 2 }),
  fc.constant({ event: "APPROVE", merge: true, url: "https://evil.example" }),
);

interface Case {
  readonly persona: "triager" | "code_reviewer" | "bug_fixer";
  readonly plan: unknown;
}

const cases: fc.Arbitrary<Case> = fc.oneof(
  fc.record({
    persona: fc.constant("triager" as const),
    plan: fc.oneof({ weight: 5, arbitrary: triage }, { weight: 1, arbitrary: anything }),
  }),
  fc.record({
    persona: fc.constant("code_reviewer" as const),
    plan: fc.oneof({ weight: 5, arbitrary: fc.oneof(review, remark) }, { weight: 1, arbitrary: anything }),
  }),
  fc.record({
    persona: fc.constant("bug_fixer" as const),
    plan: fc.oneof(
      { weight: 5, arbitrary: fc.oneof({ weight: 4, arbitrary: fix }, { weight: 1, arbitrary: standing }) },
      { weight: 1, arbitrary: anything },
    ),
  }),
);

function holds(hub: HubState): void {
  for (const { method, path: asked, body } of hub.requests) {
    if (method === "GET") continue;
    const call = `${method} ${asked}`;
    expect(
      listed.some((each) => each.test(call)),
      call,
    ).toBe(true);
    const sent = (body ?? {}) as Record<string, unknown>;
    if (asked.endsWith("/reviews")) expect(sent["event"]).toBe("COMMENT");
    if (asked.endsWith("/git/refs")) expect(sent["ref"]).toMatch(/^refs\/heads\/portcullis-bot\/\d+-[a-z0-9]+$/);
    if (asked.endsWith("/pulls")) expect(sent["draft"]).toBe(true);
    if (asked.endsWith("/labels"))
      expect((sent["labels"] as string[]).every((label) => ["bug", "documentation", "question"].includes(label))).toBe(
        true,
      );
    if (asked.endsWith("/git/trees"))
      for (const { path: changed } of sent["tree"] as { path: string }[])
        expect(changed).not.toMatch(/^\.github|^\/|\.\.|codeowners|lock/i);
    for (const text of textsOf(sent)) {
      expect(text).not.toMatch(/ghs_A{36}|evil\.example|\u202e|(^|[^\\])!\[|<img|@everyone|(^|[^\\])\[click/);
    }
  }
}

/** What people are shown: bodies, titles and remarks. A blob is a file's content, which is its own business. */
function textsOf(sent: Record<string, unknown>): readonly string[] {
  const remarks = (sent["comments"] as { body: string }[] | undefined) ?? [];
  return [sent["body"], sent["title"], ...remarks.map(({ body }) => body)].filter((text) => typeof text === "string");
}

describe(`random and hostile plans, seed ${seed}`, () => {
  it(
    "make no call that writes and is not listed, and publish nothing that leads, shows or calls anybody elsewhere",
    async () => {
      let plan: unknown;
      const mind: Mind = { isolation: "process", think: async () => ({ kind: "said", said: { by: "model", plan } }) };
      let bot = botFixture();
      const wrote = new Set<string>();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(cases, async (each) => {
          // A thread with a thousand comments would be what is measured.
          if (runs % 50 === 0) bot = fresh(mind);
          runs += 1;
          ({ plan } = each);
          bot.hub.requests.length = 0;
          bot.hub.tokens.clear();
          const trigger = each.persona === "bug_fixer" ? "command" : "opened";
          const number = each.persona === "code_reviewer" ? 2 : 1;
          const end = await bot.run(bot.job({ persona: each.persona, trigger, requestedBy: "writer", number }));
          expect(["DONE", "FAILED"]).toContain(end.status);
          holds(bot.hub);
          for (const { method, path: asked } of bot.hub.requests)
            if (method !== "GET") wrote.add(asked.replace(/\d+/g, "n"));
        }),
        { seed, numRuns: byFloor({ first: 60, later: countOf(10_000, 1_000) }) },
      );
      // The plans do get through where they are harmless: a list that lets nothing pass would prove nothing.
      expect([...wrote]).toEqual(
        expect.arrayContaining([
          "/repos/acme/widgets/issues/n/labels",
          "/repos/acme/widgets/pulls/n/reviews",
          "/repos/acme/widgets/git/refs",
          "/repos/acme/widgets/pulls",
        ]),
      );
    },
    byFloor({ first: 120_000, later: 1_800_000 }),
  );
});

function fresh(mind: Mind) {
  const bot = botFixture({
    mind,
    caps: { daily: "100000", perRepository: "100000" },
    files: {
      "src/a.ts": "one\ntwo\n",
      "src/b.ts": "a\na\n",
      CODEOWNERS: "one",
      ".github/workflows/ci.yml": "one\ntwo\n",
    },
  });
  addIssue(bot.hub, bot.repository);
  addPull(bot.hub, bot.repository, { files: [{ filename: "a.ts", patch: "@@ -1,1 +1,3 @@\n one\n+two\n+three" }] });
  return bot;
}
