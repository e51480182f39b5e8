// The repository bot from outside, on a running platform against a GitHub of our own: before the install nothing of it runs; then a delivery that is signed
// becomes a run, one that is not becomes nothing; and it comes back after a kill.
import { createHmac, randomUUID } from "node:crypto";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import type { Client } from "../edges/client/src/types.ts";
import { type GithubServer, startGithubServer } from "../testkit/github/github-server.ts";
import {
  addIssue,
  addRepository,
  createHub,
  type HubRepository,
  type HubState,
} from "../testkit/github/github-state.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";

const secret = "a-secret-that-github-and-we-know";
const patienceMs = 120_000;
let platform: Platform;
let github: GithubServer;
let hub: HubState;
let client: Client;
let repository: HubRepository;

beforeAll(async () => {
  hub = createHub();
  repository = addRepository(hub, "acme/desk");
  for (const number of [1, 2]) addIssue(hub, repository, { number, body: "It crashes at once" });
  github = await startGithubServer(hub);
  platform = startPlatform({
    environment: { PORTCULLIS_PUBLIC_URL: "https://hooks.example", PORTCULLIS_GITHUB_API_URL: github.url },
  });
  await platform.ready();
  const { access_token: token } = await logInAs(platform, "duty");
  client = createClient({ baseUrl: operatorUrl(platform), token: () => token });
}, 300_000);
afterAll(async () => {
  await platform?.end();
  await github?.close();
});

async function proofFor(
  action: "InstallGithubbot" | "UninstallGithubbot",
  parameters: Record<string, unknown>,
  earlierMs: number,
) {
  const totp = new TOTP({ secret: developmentOperator(platform.dataFolder, "duty").totp_secret });
  const code = totp.generate({ timestamp: Date.now() - earlierMs });
  return (await client.stepUp({ action, parameters, totp: code })).proof;
}

const opened = (number: number, more: object = {}) =>
  JSON.stringify({
    action: "opened",
    issue: { number, user: { login: "stranger", type: "User" } },
    repository: { full_name: "acme/desk" },
    sender: { login: "stranger", type: "User" },
    ...more,
  });
const sign = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;

async function deliver(body: string, headers: Record<string, string>) {
  const address =
    platform.runFile().urls["gateway.public"] ?? `http://${platform.runFile().addresses["gateway.public"]}`;
  const answer = await fetchOnNewConnection(`${address}/githubbot/webhook`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const comments = (issue: number) => [...repository.comments.values()].filter((one) => one.issue === issue);

test("before the install no process runs, nothing is delivered, and health says nothing of it", async () => {
  expect(platform.runFile().processes).not.toHaveProperty("bots");
  expect(JSON.stringify(await client.getHealth())).not.toContain("githubbot");
  const body = opened(1);
  expect(await deliver(body, { signature: sign(body) })).toMatchObject({
    status: 401,
    body: { code: "WEBHOOK_SIGNATURE" },
  });
  expect(await client.getGithubbotStatus()).toMatchObject({ installed: false, running: false, notes: [] });
});

test("installed, a delivery under `signature` alone becomes one run; others are answered and become nothing", async () => {
  const asked = {
    org: "acme",
    appId: hub.app.id,
    privateKey: hub.app.privateKey,
    webhookSecret: secret,
    reason: "a test",
  };
  const stepUpProof = await proofFor("InstallGithubbot", { org: "acme", app_id: hub.app.id }, 30_000);
  expect(await client.installGithubbot({ ...asked, stepUpProof })).toMatchObject({
    app_slug: hub.app.slug,
    installation_id: hub.installation.id,
    webhook_url: "https://hooks.example/githubbot/webhook",
    missing: [],
  });
  expect(hub.hook).toMatchObject({ url: "https://hooks.example/githubbot/webhook", secret });
  await eventually("its process runs", async () => (await client.getGithubbotStatus()).running, patienceMs);
  await eventually("run.json names it", async () => "bots" in platform.runFile().processes, patienceMs);

  const body = opened(1);
  const first = await deliver(body, { signature: sign(body) });
  expect(first).toMatchObject({ status: 202, body: { event: "issues", status: "accepted" } });
  const ended = ["DONE", "SKIPPED", "FAILED"];
  const hasEnded = async () => ended.includes((await client.listGithubbotRuns({}))[0]?.status ?? "");
  await eventually("its run ended", hasEnded, patienceMs);
  // The sweep asks by itself what failed.
  const made = () => hub.requests.filter(({ path }) => path !== "/app/hook/deliveries").length;
  const calls = made();
  for (const [sent, headers, status] of [
    [body, { signature: sign(body, "forged") }, 401],
    [body.slice(0, -1), { signature: sign(body) }, 401],
    [JSON.stringify(JSON.parse(body), null, 2), { signature: sign(body) }, 401],
    [body, {}, 401],
    [" ".repeat(1_048_577), { signature: sign(body) }, 413],
    [body, { signature: sign(body) }, 200],
    [body, { signature: sign(body), "x-github-delivery": randomUUID() }, 200],
  ] as const) {
    expect((await deliver(sent, headers)).status).toBe(status);
  }
  const runs = await client.listGithubbotRuns({});
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ persona: "triager", trigger: "opened", requested_by: "stranger", number: 1 });
  expect(runs[0]).toMatchObject({ status: "DONE", cost_usd: "0" });
  expect(["namespaces", "process"]).toContain(runs[0]?.isolation);
  expect(comments(1)).toHaveLength(1);
  expect(made()).toBe(calls);
});

test("killed with a delivery in hand it comes back and the delivery is not lost", async () => {
  const { bots = 0 } = platform.runFile().processes;
  process.kill(bots, "SIGKILL");
  const body = opened(2);
  expect((await deliver(body, { signature: sign(body) })).status).toBe(202);
  await eventually(
    "the run of the second delivery ended",
    async () => (await client.listGithubbotRuns({})).some(({ number, ended_at: at }) => number === 2 && at !== null),
    patienceMs,
  );
  expect(platform.runFile().processes["bots"]).not.toBe(bots);
  expect(comments(2)).toHaveLength(1);
});

const rounds = process.env["PORTCULLIS_TEST_LONG"] === "1" ? 12 : 3;

test("killed at any moment, the bot, the gateway or the database: no delivery is lost, and each issue has one comment", async () => {
  const first = 10;
  for (let round = 0; round < rounds; round += 1) {
    const number = first + round;
    addIssue(hub, repository, { number, body: "It crashes at once" });
    const { processes, database } = platform.runFile();
    const victim = [processes["bots"], processes["gateway"], database.pid][round % 3] ?? 0;
    const body = opened(number);
    const killing = round % 2 === 0;
    if (killing) process.kill(victim, "SIGKILL");
    // GitHub asks for nothing again by itself; whoever asks for it is the sweep, or here the sender.
    await eventually(
      `delivery ${number} is answered`,
      async () => {
        const { status } = await deliver(body, { signature: sign(body) }).catch(() => ({ status: 0 }));
        return status === 200 || status === 202;
      },
      patienceMs,
    );
    if (!killing) process.kill(victim, "SIGKILL");
  }
  await eventually("every run ended", async () => (await endedRuns(first)) === rounds, patienceMs * 3);
  for (let round = 0; round < rounds; round += 1)
    expect(comments(first + round), `issue ${first + round}`).toHaveLength(1);
  expect((await client.listGithubbotDeliveries({})).filter(({ status }) => status === "ACCEPTED")).toEqual([]);
}, 900_000);

async function endedRuns(from: number): Promise<number> {
  const runs = await client.listGithubbotRuns({ countMax: 100 }).catch(() => []);
  return runs.filter(({ number, status }) => number >= from && status === "DONE").length;
}

test("an App that may more is refused, and leaves nothing behind", async () => {
  hub.app.permissions["administration"] = "write";
  const asked = { org: "acme", appId: hub.app.id, privateKey: hub.app.privateKey, reason: "a test" };
  const stepUpProof = await proofFor("InstallGithubbot", { org: "acme", app_id: hub.app.id }, 0);
  await expect(client.installGithubbot({ ...asked, stepUpProof })).rejects.toMatchObject({
    code: "GITHUB_APP_TOO_POWERFUL",
  });
  delete hub.app.permissions["administration"];
  expect(hub.hook).toMatchObject({ secret });
});
