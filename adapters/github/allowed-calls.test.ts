// The list of calls, held against those that must never be made and against bodies that say more than the call's name.
import { describe, expect, it } from "vitest";
import { whyNotAllowed } from "./allowed-calls.ts";
import { guardedFetch } from "./guarded-fetch.ts";

const body = (value: unknown): string => JSON.stringify(value);

describe("calls that the bot makes", () => {
  it.each([
    ["PATCH", "/app/hook/config", { url: "https://x", content_type: "json", insecure_ssl: "0", secret: "s" }],
    ["POST", "/app/installations/9/access_tokens", { repositories: ["a"], permissions: { issues: "write" } }],
    ["POST", "/repos/a/b/issues/1/labels", { labels: ["bug"] }],
    ["POST", "/repos/a/b/pulls/1/reviews", { event: "COMMENT", body: "x", commit_id: "y", comments: [] }],
    ["POST", "/repos/a/b/git/refs", { ref: "refs/heads/portcullis-bot/12-ab34", sha: "x" }],
    ["POST", "/repos/a/b/pulls", { draft: true, title: "x", body: "y", head: "h", base: "main" }],
  ])("%s %s", (method, path, sent) => expect(whyNotAllowed(method, path, body(sent))).toBeUndefined());
});

describe("calls that it never makes", () => {
  it.each([
    ["PUT", "/repos/a/b/pulls/1/merge", {}],
    ["PUT", "/repos/a/b/contents/x", {}],
    ["PATCH", "/repos/a/b/git/refs/heads/main", { force: true }],
    ["DELETE", "/repos/a/b/git/refs/heads/main", undefined],
    ["PATCH", "/repos/a/b/pulls/1", { state: "closed" }],
    ["POST", "/repos/a/b/pulls/1/reviews", { event: "APPROVE", body: "x" }],
    ["POST", "/repos/a/b/pulls/1/reviews", { body: "pending" }],
    ["POST", "/repos/a/b/git/refs", { ref: "refs/heads/main", sha: "x" }],
    ["POST", "/repos/a/b/git/refs", { ref: "refs/heads/portcullis-bot/../main", sha: "x" }],
    ["POST", "/repos/a/b/pulls", { draft: false, title: "x", head: "h", base: "main" }],
    ["POST", "/repos/a/b/pulls", { draft: true, maintainer_can_modify: true }],
    ["POST", "/repos/a/b/git/trees", { base_tree: "x", tree: [{ path: "l", mode: "120000", type: "blob", sha: "x" }] }],
    [
      "POST",
      "/repos/a/b/git/trees",
      { base_tree: "x", tree: [{ path: "m", mode: "160000", type: "commit", sha: "x" }] },
    ],
    [
      "POST",
      "/repos/a/b/git/trees",
      { base_tree: "x", tree: [{ path: "d", mode: "100644", type: "blob", sha: null }] },
    ],
    ["POST", "/app/installations/9/access_tokens", {}],
    ["POST", "/app/installations/9/access_tokens", { repositories: ["a"], permissions: { administration: "write" } }],
    ["POST", "/app/installations/9/access_tokens", { repositories: ["a", "b"], permissions: { issues: "write" } }],
    ["POST", "/repos/a/b/issues/1/comments", undefined],
    ["POST", "/graphql", { query: "mutation" }],
    ["GET", "/repos/a/../../user/keys", undefined],
    ["GET", "/repos/a/%2e%2e/issues", undefined],
    ["GET", "/user", undefined],
  ])("%s %s %j", (method, path, sent) =>
    expect(whyNotAllowed(method, path, sent === undefined ? undefined : body(sent))).toBeDefined(),
  );

  it("another host, another folder of the API's and a redirect are not followed", async () => {
    const asked: string[] = [];
    const fetch = guardedFetch(
      "https://ghe.test/api/v3",
      async (url, init) => {
        asked.push(`${url} ${init.redirect}`);
        return new Response("{}", { status: 200 });
      },
      () => undefined,
    );
    for (const url of [
      "https://evil.example/app",
      "http://ghe.test/api/v3/app",
      "https://ghe.test/app",
      "https://ghe.test/api/v3x/app",
    ]) {
      await expect(fetch(url, { method: "GET" })).rejects.toMatchObject({ code: "GITHUB_REFUSED", retry: "never" });
    }
    await fetch("https://ghe.test/api/v3/app", { method: "GET" });
    expect(asked).toEqual(["https://ghe.test/api/v3/app manual"]);
  });
});
