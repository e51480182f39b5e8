// The adapter as the App and in a repository, against a GitHub of our own over HTTP; where it keeps GitHub's pace it also takes GitHub's time, which is for the second floor.
import { afterEach, describe, expect, it } from "vitest";
import { byFloor } from "../../testkit/full-count.ts";
import { type GithubServer, startGithubServer } from "../../testkit/github/github-server.ts";
import { addIssue, addRepository, createHub } from "../../testkit/github/github-state.ts";
import { systemClock } from "../system/clock.ts";
import { openGithub } from "./open-github.ts";

let server: GithubServer | undefined;
afterEach(async () => server?.close());

async function opened(isPaced: boolean) {
  const hub = createHub();
  const repository = addRepository(hub, "acme/widgets");
  addIssue(hub, repository);
  server = await startGithubServer(hub);
  const { id: appId, privateKey } = hub.app;
  const forge = openGithub({ apiUrl: server.url, appId, privateKey, clock: systemClock(), isPaced });
  return { hub, forge };
}

const writing = { metadata: "read", issues: "write" } as const;

describe("GitHub as the App", () => {
  it("is read, and takes the address of the webhook as a value: nothing else is asked for it", async () => {
    const { hub, forge } = await opened(false);
    expect(await forge.app()).toMatchObject({ id: 4_711, slug: "portcullis-test" });
    expect(await forge.installation("acme")).toMatchObject({ id: 99, suspendedAt: undefined });
    await forge.setHook({ url: "https://hooks.example/githubbot/webhook", secret: "s" });
    expect(hub.hook).toEqual({
      url: "https://hooks.example/githubbot/webhook",
      content_type: "json",
      insecure_ssl: "0",
      secret: "s",
    });
    expect(hub.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /app",
      "GET /orgs/acme/installation",
      "PATCH /app/hook/config",
    ]);
    await expect(forge.installation("others")).rejects.toMatchObject({
      code: "GITHUB_REFUSED",
      facts: { status: 404 },
    });
  });

  it("gives deliveries in pages, and asks for one again", async () => {
    const { hub, forge } = await opened(false);
    for (let id = 1; id <= 130; id += 1) {
      hub.deliveries.push({
        id,
        guid: `g${id}`,
        event: "issues",
        delivered_at: "2026-11-19T00:00:00Z",
        redelivery: false,
        status_code: 502,
      });
    }
    const first = await forge.deliveries(undefined);
    const second = await forge.deliveries(first.next);
    expect([first.rows.length, second.rows.length, second.next]).toEqual([100, 30, undefined]);
    await forge.redeliver(7);
    await expect(forge.redeliver(999)).rejects.toMatchObject({ code: "GITHUB_REFUSED" });
  });

  it("a token is narrow, and one that asks for more than the installation has is refused", async () => {
    const { hub, forge } = await opened(false);
    hub.installation.permissions = { metadata: "read", issues: "read" };
    await expect(forge.repository(99, "acme/widgets", writing)).rejects.toMatchObject({
      code: "GITHUB_REFUSED",
      facts: { status: 422 },
    });
    await expect(forge.repository(99, "acme/widgets", { administration: "write" })).rejects.toMatchObject({
      code: "GITHUB_REFUSED",
    });
    expect(hub.requests).toHaveLength(1);
  });
});

describe("a bad day", () => {
  it("a server that is gone is away, and no fault holds a key or a token", async () => {
    const { forge, hub } = await opened(false);
    await server?.close();
    const thrown = await forge.app().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "GITHUB_UNAVAILABLE", retry: "later" });
    expect(JSON.stringify([thrown, String(thrown), (thrown as Error).stack, (thrown as Error).cause])).not.toContain(
      hub.app.privateKey.slice(40, 80),
    );
  });

  it.runIf(byFloor({ first: false, later: true }))(
    "at GitHub's pace a read is tried again, a write is sent once, and a long wait is handed on",
    async () => {
      const { forge, hub } = await opened(true);
      const repository = await forge.repository(99, "acme/widgets", writing);
      hub.faults.push({ when: ({ path }) => path.endsWith("/issues/1"), fault: 500 });
      expect((await repository.issue(1)).number).toBe(1);
      const isComment = ({ method }: { method: string }): boolean => method === "POST";
      for (const fault of ["lost", 500] as const) {
        hub.faults.push({ when: isComment, fault });
        hub.requests.length = 0;
        await expect(repository.createComment(1, "x")).rejects.toMatchObject({
          code: "GITHUB_UNAVAILABLE",
          retry: "later",
        });
        expect(hub.requests).toHaveLength(1);
      }
      hub.faults.push({ when: isComment, fault: "secondary" });
      await expect(repository.createComment(1, "x")).rejects.toMatchObject({ facts: { retryAfterMs: 120_000 } });
    },
    120_000,
  );
});
