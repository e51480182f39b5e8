// The gateway's half of the repository bot: installing it and taking it away, keeping what GitHub delivered, and answering what it remembers.
//
//  1. GitHub is asked before anything is written: an App that may too much, or an installation that may too little, leaves nothing behind.
//  2. The step-up is used up and the attempt recorded before the key is written; the installation and its event come last, when GitHub knows the secret.
//  3. Nothing secret is in a row, an event, a log or an answer.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { format, fromUnixMs, type Instant, toUnixMs } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type BudgetCaps, nanoOf, textOf } from "../../core/bots/budget.ts";
import type { BotInstallation, BotSpend } from "../../ports/bot-records.ts";
import type { Clock } from "../../ports/clock.ts";
import type { BotStatus, GithubApp, Githubbot, InstallAsked } from "../../ports/githubbot.ts";
import type { Identity, NamedAction, Outcome } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Store } from "../../ports/store.ts";
import { lacking, missing, surplus } from "./app-permissions.ts";
import type { HookSecrets } from "./hook-secrets.ts";

export interface GithubbotPorts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly secrets: HookSecrets;
  /** Talks to GitHub as the App. */
  openApp(key: { readonly appId: number; readonly privateKey: string }): GithubApp;
  /** `http.public_url`. */
  readonly publicUrl: string | undefined;
  readonly caps: { readonly dailyUsd: number; readonly perRepositoryUsd: number };
  /** Has the process started or ended. */
  keepProcess(wanted: boolean): Promise<void>;
  /** Why the process cannot run here. */
  readonly lack: string | undefined;
  /** Whether that is said before anybody installs it: an administrator has to make a login first. */
  readonly isLackReported: boolean;
}

const secretBytes = 32;
const webhookPath = "/githubbot/webhook";

export function githubbot(ports: GithubbotPorts): Githubbot & { begin(): Promise<void>; look(): Promise<boolean> } {
  const { store, clock, secrets } = ports;
  let noted: BotStatus | undefined;
  const installation = () => store.transact("githubbot.look", ({ bots }) => bots.installation());
  const standing = async (): Promise<BotInstallation | undefined> => {
    const newest = await installation();
    return newest?.isInstalled === true ? newest : undefined;
  };

  async function status(): Promise<BotStatus> {
    const read = await store.transact("githubbot.look", async ({ bots, instances }) => ({
      newest: await bots.installation(),
      pauses: await bots.pauses(),
      alive: (await instances.alive(clock.now())).some(({ service }) => service === "bots"),
      last: (await bots.runs({ countMax: 20 })).find(({ isolation }) => isolation !== undefined),
      failed: (await bots.failedDeliveries()).length,
    }));
    const found = read.newest?.isInstalled === true ? read.newest : undefined;
    const notes = [
      ...((found !== undefined || ports.isLackReported) && ports.lack !== undefined ? [ports.lack] : []),
      ...(found !== undefined && ports.lack === undefined && !read.alive
        ? ["its process does not run; it is started again"]
        : []),
      ...(read.failed > 0 ? [`${read.failed} deliveries failed at GitHub and were asked for again`] : []),
      ...(read.last?.isolation === "process"
        ? ["what reads hostile text has no namespaces of its own here (docs/githubbot.md)"]
        : []),
    ];
    noted = { installation: found, pauses: read.pauses, isRunning: read.alive, isolation: read.last?.isolation, notes };
    return noted;
  }

  return {
    signingSecrets: () => secrets.good(),
    keepDelivery: (delivery) => store.transact("githubbot.deliver", ({ bots }) => bots.insertDelivery(delivery)),
    installation: standing,
    install: (caller, asked, proof) => install(ports, caller, asked, proof),
    uninstall: (caller, reason, proof) => uninstall(ports, caller, reason, proof, standing),
    async pause(caller, { repository, isPaused, reason }) {
      const at = clock.now();
      await store.transact("githubbot.pause", async (unit) => {
        await unit.bots.addPause({ repository, isPaused, by: caller.actor, reason, at });
        const payload = { repository, requested_by: caller.actor, reason, at: format(at) };
        await unit.events.publish(isPaused ? subjects.githubbotPaused : subjects.githubbotResumed, payload);
      });
    },
    status,
    runs: (asked) => store.transact("githubbot.look", ({ bots }) => bots.runs(asked)),
    run: (runId) => store.transact("githubbot.look", ({ bots }) => bots.run(runId)),
    deliveries: (asked) => store.transact("githubbot.look", ({ bots }) => bots.deliveries(asked)),
    async budget() {
      const now = clock.now();
      const day = format(now).slice(0, 10);
      const spends = await store.transact("githubbot.look", ({ bots }) => bots.spends(day));
      const caps = { dailyNano: nanoOf(ports.caps.dailyUsd), perRepositoryNano: nanoOf(ports.caps.perRepositoryUsd) };
      return { day, resetsAt: nextDay(now), ...usedOf(spends, caps) };
    },
    notes: () => (noted?.notes ?? []).map((note) => `githubbot: ${note}`),
    async begin() {
      const found = await standing();
      if (found !== undefined && ports.lack === undefined) await ports.keepProcess(true);
    },
    look: async () => (await status()).installation !== undefined,
  };
}

const dayMs = 86_400_000;

function nextDay(now: Instant): Instant {
  return fromUnixMs((Math.floor(toUnixMs(now) / dayMs) + 1) * dayMs);
}

/** What was never settled counts in full. */
function nanoOfSpend({ reservedNano, settledNano }: BotSpend): bigint {
  return BigInt(settledNano ?? reservedNano);
}

function usedOf(spends: readonly BotSpend[], caps: BudgetCaps) {
  const byRepository = new Map<string, bigint>();
  for (const spend of spends) {
    byRepository.set(spend.repository, (byRepository.get(spend.repository) ?? 0n) + nanoOfSpend(spend));
  }
  const used = [...byRepository.values()].reduce((sum, nano) => sum + nano, 0n);
  return {
    dailyUsd: textOf(caps.dailyNano),
    usedUsd: textOf(used),
    repositories: [...byRepository].sort().map(([repository, nano]) => ({
      repository,
      capUsd: textOf(caps.perRepositoryNano),
      usedUsd: textOf(nano),
    })),
  };
}

async function install(
  ports: GithubbotPorts,
  caller: Identity,
  asked: InstallAsked,
  proof: string | undefined,
): Promise<Outcome<BotInstallation>> {
  const { clock, store, secrets, publicUrl, random } = ports;
  if (publicUrl === undefined) {
    const sentence =
      "GitHub must reach the public port: set http.public_url (PORTCULLIS_PUBLIC_URL=https://…) and start again.";
    throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
  }
  const named: NamedAction = { action: "InstallGithubbot", parameters: { org: asked.org, app_id: asked.appId } };
  const refused = await attempt(ports, caller, named, asked.org, asked.reason, proof);
  if (refused !== undefined) return { ok: false, denial: refused };
  const app = ports.openApp(asked);
  const [own, installed] = await Promise.all([app.app(), app.installation(asked.org)]);
  const tooMuch = surplus(own);
  if (tooMuch.length > 0)
    return denied(
      "GITHUB_APP_TOO_POWERFUL",
      `The App holds more than the bot may have: ${tooMuch.join(", ")}. Take it away in the App's settings.`,
    );
  const tooLittle = lacking(installed);
  if (tooLittle.length > 0)
    return denied(
      "GITHUB_APP_LACKS_PERMISSION",
      `The installation in ${asked.org} lacks ${tooLittle.join(", ")}. Give it in the App's settings, and accept it in the organisation.`,
    );
  const webhookUrl = `${publicUrl.replace(/\/$/, "")}${webhookPath}`;
  const secret = asked.webhookSecret ?? Buffer.from(random.bytes(secretBytes)).toString("base64url");
  // Ours first: what GitHub signs with the new one from then on is known.
  await secrets.put({ privateKey: asked.privateKey, webhookSecret: secret }, caller.actor);
  await app.setHook({ url: webhookUrl, secret });
  const at = clock.now();
  const row: BotInstallation = {
    isInstalled: true,
    org: asked.org,
    appId: asked.appId,
    appSlug: own.slug,
    installationId: installed.id,
    webhookUrl,
    permissions: installed.permissions,
    missing: missing(installed),
    by: caller.actor,
    at,
  };
  await store.transact("githubbot.install", async (unit) => {
    await unit.bots.addInstallation(row);
    await unit.events.publish(subjects.githubbotInstalled, {
      ...payloadOf(row, asked.reason),
      webhook_url: webhookUrl,
    });
  });
  if (ports.lack === undefined) await ports.keepProcess(true);
  return { ok: true, value: row };
}

async function uninstall(
  ports: GithubbotPorts,
  caller: Identity,
  reason: string,
  proof: string | undefined,
  standing: () => Promise<BotInstallation | undefined>,
): Promise<Outcome<BotInstallation>> {
  const { store, clock, secrets, log } = ports;
  const found = await standing();
  if (found === undefined) return denied("BOT_NOT_INSTALLED", "The repository bot is not installed.");
  const named: NamedAction = { action: "UninstallGithubbot", parameters: { org: found.org } };
  const refused = await attempt(ports, caller, named, found.org, reason, proof);
  if (refused !== undefined) return { ok: false, denial: refused };
  const row: BotInstallation = { ...found, isInstalled: false, by: caller.actor, at: clock.now() };
  const kept = await secrets.read();
  await store.transact("githubbot.uninstall", async (unit) => {
    await unit.bots.addInstallation(row);
    await unit.events.publish(subjects.githubbotUninstalled, payloadOf(row, reason));
  });
  await ports.keepProcess(false);
  await secrets.clear(caller.actor);
  if (kept !== undefined) {
    // Nobody knows it: what GitHub still delivers is refused.
    const secret = Buffer.from(ports.random.bytes(secretBytes)).toString("base64url");
    const app = ports.openApp({ appId: found.appId, privateKey: kept.privateKey });
    await app.setHook({ url: found.webhookUrl, secret }).catch((thrown: unknown) => {
      log.warn("GitHub could not be given another webhook secret; ours is deleted", { error: messageOf(thrown) });
    });
  }
  return { ok: true, value: row };
}

function payloadOf({ org, appId, appSlug, installationId, by, at }: BotInstallation, reason: string) {
  return {
    org,
    app_id: appId,
    app_slug: appSlug,
    installation_id: installationId,
    requested_by: by,
    reason,
    at: format(at),
  };
}

/** Uses the proof up and leaves the record, both or neither. */
function attempt(
  { store, clock }: GithubbotPorts,
  caller: Identity,
  named: NamedAction,
  target: string,
  reason: string,
  proof: string | undefined,
): Promise<Denial | undefined> {
  const at = clock.now();
  return store.transact("githubbot.attempt", async (unit) => {
    const denial = await unit.stepUps.redeem({ identity: caller, named, proof, at });
    await unit.events.publish(subjects.operatorAttempted, {
      operator: caller.actor,
      verb: named.action,
      target,
      allowed: denial === undefined,
      ...(denial === undefined ? {} : { code: denial.code }),
      reason: denial?.reason ?? reason,
      at: format(at),
    });
    return denial;
  });
}

function denied(code: Denial["code"], reason: string): { readonly ok: false; readonly denial: Denial } {
  return { ok: false, denial: { code, reason } };
}
