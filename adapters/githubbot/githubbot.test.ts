// Installing the repository bot against a GitHub in memory: what the App may, what is kept and where, what is refused, changing the secret, and taking it away.
import { beforeEach, describe, expect, it } from "vitest";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { BotInstallation, BotPause } from "../../ports/bot-records.ts";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { Secrets } from "../../ports/secrets.ts";
import { githubFetch } from "../../testkit/github/github-server.ts";
import { createHub, type HubState } from "../../testkit/github/github-state.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { openGithub } from "../github/open-github.ts";
import { systemRandom } from "../system/random.ts";
import { type GithubbotPorts, githubbot } from "./githubbot.ts";
import { hookSecrets } from "./hook-secrets.ts";

const begin = parse("2026-11-19T12:00:00Z");
const admin = { kind: "operator", actor: "operator:duty", subject: "x|duty" } as unknown as Identity;

let hub: HubState;
let secrets: Secrets;
let published: { readonly subject: string; readonly payload: object }[];
let rows: BotInstallation[];
let pauses: BotPause[];
let kept: boolean[];
let named: NamedAction[];
let lines: string[];
let passedMs: number;

beforeEach(() => {
  hub = createHub();
  secrets = memorySecrets();
  [published, rows, pauses, kept, named, lines, passedMs] = [[], [], [], [], [], [], 0];
});

function opened(more: Partial<GithubbotPorts> = {}) {
  const clock = { now: () => plusMilliseconds(begin, passedMs) };
  const unit = {
    stepUps: {
      redeem: async (shown: { readonly named: NamedAction; readonly proof: string | undefined }) => {
        named.push(shown.named);
        return shown.proof === "good" ? undefined : { code: "STEP_UP_REQUIRED", reason: "A proof is needed." };
      },
    },
    events: {
      publish: async ({ name }: { readonly name: string }, payload: object) => {
        published.push({ subject: name, payload });
      },
    },
    instances: { alive: async () => [] },
    bots: {
      installation: async () => rows.at(-1),
      addInstallation: async (row: BotInstallation) => void rows.push(row),
      addPause: async (row: BotPause) => void pauses.push(row),
      pauses: async () => pauses,
      runs: async () => [],
      failedDeliveries: async () => [],
      spends: async () => [
        {
          runId: "1",
          day: "2026-11-19",
          repository: "acme/desk",
          requestedBy: "mia",
          byWriter: true,
          reservedNano: "200000000",
        },
        {
          runId: "2",
          day: "2026-11-19",
          repository: "acme/desk",
          requestedBy: "mia",
          byWriter: true,
          reservedNano: "200000000",
          settledNano: "50000001",
        },
      ],
    },
  };
  const store = { transact: (_name: string, work: (given: never) => unknown) => work(unit as never) } as never;
  const log = { warn: (line: string, facts: object) => void lines.push(`${line} ${JSON.stringify(facts)}`) } as never;
  const kit = hookSecrets({ secrets, clock, folder: "secret/portcullis" });
  const bot = githubbot({
    store,
    clock,
    random: systemRandom(),
    log,
    secrets: kit,
    openApp: (key) =>
      openGithub({ ...key, apiUrl: "https://github.test", clock, fetch: githubFetch(hub) as never, isPaced: false }),
    publicUrl: "https://hooks.example",
    caps: { dailyUsd: 5, perRepositoryUsd: 1 },
    keepProcess: async (wanted) => void kept.push(wanted),
    lack: undefined,
    isLackReported: true,
    ...more,
  });
  return { bot, kit };
}

const asked = (more: object = {}) => ({
  org: "acme",
  appId: hub.app.id,
  privateKey: hub.app.privateKey,
  webhookSecret: undefined,
  reason: "first",
  ...more,
});

describe("an install", () => {
  it("reads the App, keeps key and secret, sets the webhook, starts the process, and tells of it without either", async () => {
    const { bot, kit } = opened();
    const outcome = await bot.install(admin, asked(), "good");
    expect(outcome).toMatchObject({
      ok: true,
      value: {
        appSlug: hub.app.slug,
        installationId: 99,
        webhookUrl: "https://hooks.example/githubbot/webhook",
        missing: [],
      },
    });
    const [secret = ""] = await kit.good();
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(hub.hook).toMatchObject({ url: "https://hooks.example/githubbot/webhook", secret });
    expect((await secrets.get("secret/portcullis/githubbot/private_key"))?.value).toBe(hub.app.privateKey);
    expect(kept).toEqual([true]);
    expect(named).toEqual([{ action: "InstallGithubbot", parameters: { org: "acme", app_id: hub.app.id } }]);
    expect(published.map(({ subject }) => subject)).toEqual([
      "svc.v1.operations.operator.attempted",
      "svc.v1.bots.githubbot.installed",
    ]);
    const reported = JSON.stringify([published, rows, outcome, lines]);
    for (const hidden of [secret, hub.app.privateKey.slice(100, 160)]) expect(reported).not.toContain(hidden);
  });

  it("of an App that may more is refused by name, and leaves nothing behind", async () => {
    Object.assign(hub.app.permissions, { administration: "write", members: "write" });
    const { bot, kit } = opened();
    const outcome = await bot.install(admin, asked(), "good");
    expect(outcome).toMatchObject({ ok: false, denial: { code: "GITHUB_APP_TOO_POWERFUL" } });
    expect(JSON.stringify(outcome)).toContain("administration: write, members: write");
    expect([rows, kept, await kit.good(), hub.hook]).toEqual([[], [], [], {}]);
  });

  it("whose installation may less is refused by name; events and a suspension are only missing", async () => {
    hub.installation.permissions["contents"] = "read";
    const { bot } = opened();
    const outcome = await bot.install(admin, asked(), "good");
    expect(outcome).toMatchObject({
      ok: false,
      denial: { code: "GITHUB_APP_LACKS_PERMISSION", reason: expect.stringContaining("contents: write") },
    });
    hub.installation.permissions["contents"] = "write";
    hub.installation.events = ["issues"];
    hub.installation.suspendedAt = "2026-11-18T00:00:00Z";
    expect(await bot.install(admin, asked(), "good")).toMatchObject({
      ok: true,
      value: {
        missing: expect.arrayContaining(["event release", "the installation is suspended since 2026-11-18T00:00:00Z"]),
      },
    });
  });

  it("asks for a proof, an address, and an organisation that has it, before anything is kept", async () => {
    const { bot, kit } = opened();
    expect(await bot.install(admin, asked(), undefined)).toMatchObject({ ok: false });
    await expect(bot.install(admin, asked({ org: "others" }), "good")).rejects.toMatchObject({ retry: "never" });
    await expect(opened({ publicUrl: undefined }).bot.install(admin, asked(), "good")).rejects.toThrow(
      "PORTCULLIS_PUBLIC_URL",
    );
    expect([rows, await kit.good()]).toEqual([[], []]);
  });

  it("again changes the secret: the one before counts ten minutes longer", async () => {
    const { bot, kit } = opened();
    await bot.install(admin, asked({ webhookSecret: "the-first-secret" }), "good");
    await bot.install(admin, asked({ webhookSecret: "the-second-secret" }), "good");
    expect(await kit.good()).toEqual(["the-second-secret", "the-first-secret"]);
    passedMs = 10 * 60_000 + 1;
    expect(await kit.good()).toEqual(["the-second-secret"]);
  });
});

describe("taking it away", () => {
  it("ends the process, forgets key and secret, and gives the webhook one that nobody knows", async () => {
    const { bot, kit } = opened();
    await bot.install(admin, asked({ webhookSecret: "the-first-secret" }), "good");
    expect(await bot.uninstall(admin, "retired", undefined)).toMatchObject({ ok: false });
    expect(await bot.uninstall(admin, "retired", "good")).toMatchObject({ ok: true });
    expect([await kit.good(), await kit.read(), kept]).toEqual([[], undefined, [true, false]]);
    expect(hub.hook["secret"]).not.toBe("the-first-secret");
    expect(await bot.installation()).toBeUndefined();
    expect(await bot.uninstall(admin, "retired", "good")).toMatchObject({ denial: { code: "BOT_NOT_INSTALLED" } });
  });

  it("is done also when GitHub is away", async () => {
    const { bot, kit } = opened();
    await bot.install(admin, asked(), "good");
    hub.faults.push({ when: ({ method }) => method === "PATCH", fault: "down" });
    expect(await bot.uninstall(admin, "retired", "good")).toMatchObject({ ok: true });
    expect(await kit.good()).toEqual([]);
    expect(lines.join()).toContain("could not be given another webhook secret");
  });
});

it("what is not settled counts in full, and a pause is told", async () => {
  const { bot } = opened();
  expect(await bot.budget()).toEqual({
    day: "2026-11-19",
    resetsAt: parse("2026-11-20T00:00:00Z"),
    dailyUsd: "5",
    usedUsd: "0.250000001",
    repositories: [{ repository: "acme/desk", capUsd: "1", usedUsd: "0.250000001" }],
  });
  await bot.pause(admin, { repository: "*", isPaused: true, reason: "noise" });
  expect(published.at(-1)).toMatchObject({
    subject: "svc.v1.bots.githubbot.paused",
    payload: { repository: "*", requested_by: "operator:duty" },
  });
  expect((await bot.status()).pauses).toHaveLength(1);
});

it("without a database login of its own its process is not asked for, and the notes say what to set", async () => {
  const { bot } = opened({ lack: "the repository bot does not run: set PORTCULLIS_DATABASE_LOGINS_BOTS" });
  await bot.look();
  expect(bot.notes().join()).toContain("PORTCULLIS_DATABASE_LOGINS_BOTS");
  await bot.install(admin, asked(), "good");
  await bot.begin();
  await bot.look();
  expect(kept).toEqual([]);
  expect(bot.notes().join()).toContain("PORTCULLIS_DATABASE_LOGINS_BOTS");
});
