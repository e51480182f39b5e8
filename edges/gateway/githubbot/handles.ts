// /v1/githubbot: installing the repository bot and taking it away, pausing it, and seeing what it did, why it did not act, and what it spent.
import { z } from "zod";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { lineText } from "../../../contracts/src/records/fields.ts";
import {
  botDeliveryStatus,
  botRunner,
  botRunStatus,
  botTrigger,
  everyRepository,
  repositoryText,
} from "../../../contracts/src/records/githubbot.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import type { BotDelivery, BotInstallation, BotRun } from "../../../ports/bot-records.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { wholeAsked } from "../schemas/asked-numbers.ts";
import { reasonLine, timeText } from "../schemas/fields.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";
import { proofText } from "../schemas/second-factor.ts";

type Parts = Pick<GatewayParts, "githubbot">;

const reason = typed(lineText(500).min(1)).meta({ description: "Why, in your words; it stands in the record." });
const orgText = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/, "expected an organisation at GitHub")
  .meta({ examples: ["my-org"] });

const installBody = z.strictObject({
  org: orgText,
  app_id: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  private_key: asItIs(z.string().min(100).max(20_000), "a key in PEM, byte for byte").meta({
    description: "The App's private key in PEM. It is kept in the secrets store and shown to nobody.",
  }),
  webhook_secret: asItIs(z.string().min(16).max(256), "a secret, byte for byte")
    .optional()
    .meta({ description: "Of the App's webhook; one is made when it is absent." }),
  reason,
  step_up_proof: proofText.optional(),
});

const installationAnswer = z.object({
  org: z.string(),
  app_id: z.int(),
  app_slug: z.string(),
  installation_id: z.int(),
  webhook_url: z.string(),
  permissions: z.record(z.string(), z.string()),
  missing: z.array(z.string()).meta({ description: "What is no reason not to install, and should be set at GitHub." }),
  isolation: z.string().nullable().meta({ description: "namespaces or process; null before the first run." }),
  installed_at: timeText,
});

export function githubbotInstall(parts: Parts): Route {
  return defineRoute({
    id: "installGithubbot",
    method: "POST",
    path: "/v1/githubbot/install",
    listeners: ["operator"],
    sentence: "Install the repository bot with an App of your own, or give it another key and webhook secret.",
    operation: "InstallGithubbot",
    body: installBody,
    answers: { 201: installationAnswer },
    handle: async (request) => {
      const {
        org,
        app_id: appId,
        private_key: privateKey,
        webhook_secret: webhookSecret,
        reason: why,
        step_up_proof: proof,
      } = request.body;
      const asked = { org, appId, privateKey, webhookSecret, reason: why };
      return answerTo(await parts.githubbot.install(callerOf(request), asked, proof), 201, (made) =>
        installationJson(made, undefined),
      );
    },
  });
}

export function githubbotUninstall(parts: Parts): Route {
  return defineRoute({
    id: "uninstallGithubbot",
    method: "POST",
    path: "/v1/githubbot/uninstall",
    listeners: ["operator"],
    sentence:
      "Take the repository bot away: its process ends, its key and secrets are written over, and the webhook gets a secret that nobody knows.",
    operation: "UninstallGithubbot",
    body: z.strictObject({ reason, step_up_proof: proofText.optional() }),
    answers: { 200: installationAnswer },
    handle: async (request) => {
      const { reason: why, step_up_proof: proof } = request.body;
      return answerTo(await parts.githubbot.uninstall(callerOf(request), why, proof), 200, (gone) =>
        installationJson(gone, undefined),
      );
    },
  });
}

const pauseBody = z.strictObject({
  repository: repositoryText.optional().meta({ description: "Only there; everywhere when absent." }),
  reason: reasonLine,
});
const pauseAnswer = z.object({ repository: z.string(), paused: z.boolean() });

const pausing = (parts: Parts, isPaused: boolean) => async (request: Parameters<Route["handle"]>[0]) => {
  const { repository = everyRepository, reason: why = "" } = request.body as z.infer<typeof pauseBody>;
  await parts.githubbot.pause(callerOf(request), { repository, isPaused, reason: why });
  return { status: 200, body: { repository, paused: isPaused } };
};

export function githubbotPause(parts: Parts): Route {
  return defineRoute({
    id: "pauseGithubbot",
    method: "POST",
    path: "/v1/githubbot/pause",
    listeners: ["operator"],
    sentence: "Keep the repository bot from writing: a run that is under way stops before its next write.",
    operation: "PauseGithubbot",
    body: pauseBody,
    answers: { 200: pauseAnswer },
    handle: pausing(parts, true),
  });
}

export function githubbotResume(parts: Parts): Route {
  return defineRoute({
    id: "resumeGithubbot",
    method: "POST",
    path: "/v1/githubbot/resume",
    listeners: ["operator"],
    sentence: "Let the repository bot write again.",
    operation: "ResumeGithubbot",
    body: pauseBody,
    answers: { 200: pauseAnswer },
    handle: pausing(parts, false),
  });
}

const statusAnswer = z.object({
  installed: z.boolean(),
  installation: installationAnswer.nullable(),
  running: z.boolean().meta({ description: "Whether its process holds a lease." }),
  isolation: z.string().nullable(),
  paused: z.array(z.object({ repository: z.string(), by: z.string(), reason: z.string(), at: timeText })),
  notes: z.array(z.string()),
});

export function githubbotStatus(parts: Parts): Route {
  return defineRoute({
    id: "getGithubbotStatus",
    method: "GET",
    path: "/v1/githubbot/status",
    listeners: ["operator"],
    sentence:
      "How the repository bot stands: where it is installed, whether it runs, where it is paused, and what is missing.",
    operation: "ReadGithubbot",
    answers: { 200: statusAnswer },
    handle: async () => {
      const { installation, isRunning, isolation, pauses, notes } = await parts.githubbot.status();
      const paused = pauses.map(({ repository, by, reason: why, at }) => ({
        repository,
        by,
        reason: why,
        at: format(at),
      }));
      return {
        status: 200,
        body: {
          installed: installation !== undefined,
          installation: installation === undefined ? null : installationJson(installation, isolation),
          running: isRunning,
          isolation: isolation ?? null,
          paused,
          notes,
        },
      };
    },
  });
}

const runId = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "expected the id of a run");
const page = {
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 100 when absent; the next page is in the Link header." }),
};

const runAnswer = z.object({
  run_id: runId,
  delivery_id: z.string(),
  repository: z.string(),
  number: z.int(),
  persona: botRunner,
  trigger: botTrigger,
  requested_by: z.string().meta({ description: "By the name at GitHub." }),
  status: botRunStatus,
  code: z.string().nullable(),
  reason: z.string().nullable().meta({ description: "What it did, or why it did not act." }),
  model: z.string().nullable(),
  prompt_sha256: z.string().nullable(),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cost_usd: z.string(),
  isolation: z.string().nullable(),
  attempts: z.int(),
  created_at: timeText,
  ended_at: timeText.nullable(),
  plan: z.unknown(),
  calls: z.array(z.object({ method: z.string(), path: z.string(), status: z.int() })),
});

const runsPath = "/v1/githubbot/runs";

export function githubbotRuns(parts: Parts): Route {
  return defineRoute({
    id: "listGithubbotRuns",
    method: "GET",
    path: runsPath,
    listeners: ["operator"],
    sentence: "The runs of the repository bot, newest first, those included that did not act.",
    operation: "ReadGithubbot",
    query: z.strictObject({
      ...page,
      after: runId.optional().meta({ description: "Continue after this id, towards older ones." }),
      repository: repositoryText.optional(),
      status: botRunStatus.optional(),
    }),
    answers: { 200: z.array(runAnswer) },
    handle: async ({ query }) => {
      const { repository, status, after } = query;
      const fetched = await parts.githubbot.runs({ countMax: fetchedCount(query), repository, status, after });
      const { rows, more } = pageOf(runsPath, query, fetched.map(runJson), ({ run_id }) => run_id);
      return { status: 200, body: rows, ...more };
    },
  });
}

export function githubbotRun(parts: Parts): Route {
  return defineRoute({
    id: "getGithubbotRun",
    method: "GET",
    path: "/v1/githubbot/runs/:run_id",
    listeners: ["operator"],
    sentence: "One run of the repository bot: its plan, every call that it made at GitHub, and what it cost.",
    operation: "ReadGithubbot",
    params: z.strictObject({ run_id: runId }),
    answers: { 200: runAnswer },
    handle: async ({ params }) => {
      const run = await parts.githubbot.run(params.run_id);
      if (run !== undefined) return { status: 200, body: runJson(run) };
      throw new Fault("NOT_FOUND", `There is no run ${params.run_id}.`, { retry: "never" });
    },
  });
}

const deliveryAnswer = z.object({
  delivery_id: z.string(),
  event: z.string(),
  repository: z.string(),
  status: botDeliveryStatus,
  received_at: timeText,
  ended_at: timeText.nullable(),
});

const deliveriesPath = "/v1/githubbot/deliveries";

export function githubbotDeliveries(parts: Parts): Route {
  return defineRoute({
    id: "listGithubbotDeliveries",
    method: "GET",
    path: deliveriesPath,
    listeners: ["operator"],
    sentence: "What GitHub delivered under a good signature in the last 30 days, newest first.",
    operation: "ReadGithubbot",
    query: z.strictObject({
      ...page,
      after: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/, "expected the id of a delivery")
        .optional()
        .meta({ description: "Continue after this id, towards older ones." }),
    }),
    answers: { 200: z.array(deliveryAnswer) },
    handle: async ({ query }) => {
      const fetched = await parts.githubbot.deliveries({ countMax: fetchedCount(query), after: query.after });
      const { rows, more } = pageOf(deliveriesPath, query, fetched.map(deliveryJson), ({ delivery_id }) => delivery_id);
      return { status: 200, body: rows, ...more };
    },
  });
}

const budgetAnswer = z.object({
  day: z.string().meta({ description: "In UTC." }),
  resets_at: timeText,
  daily_usd: z.string(),
  used_usd: z.string().meta({ description: "What was spent, and what is reserved for runs that are under way." }),
  repositories: z.array(z.object({ repository: z.string(), cap_usd: z.string(), used_usd: z.string() })),
});

export function githubbotBudget(parts: Parts): Route {
  return defineRoute({
    id: "getGithubbotBudget",
    method: "GET",
    path: "/v1/githubbot/budget",
    listeners: ["operator"],
    sentence: "What the repository bot may spend today and has spent, in all and in each repository.",
    operation: "ReadGithubbot",
    answers: { 200: budgetAnswer },
    handle: async () => {
      const { day, resetsAt, dailyUsd, usedUsd, repositories } = await parts.githubbot.budget();
      const rows = repositories.map(({ repository, capUsd, usedUsd: used }) => ({
        repository,
        cap_usd: capUsd,
        used_usd: used,
      }));
      return {
        status: 200,
        body: { day, resets_at: format(resetsAt), daily_usd: dailyUsd, used_usd: usedUsd, repositories: rows },
      };
    },
  });
}

function installationJson(made: BotInstallation, isolation: string | undefined) {
  return {
    org: made.org,
    app_id: made.appId,
    app_slug: made.appSlug,
    installation_id: made.installationId,
    webhook_url: made.webhookUrl,
    permissions: { ...made.permissions },
    missing: [...made.missing],
    isolation: isolation ?? null,
    installed_at: format(made.at),
  };
}

const nanoDigits = 9;

/** Billionths of a dollar as dollars. */
function usdText(nano: string): string {
  const digits = nano.padStart(nanoDigits + 1, "0");
  let fraction = digits.slice(-nanoDigits);
  while (fraction.endsWith("0")) fraction = fraction.slice(0, -1);
  return `${digits.slice(0, -nanoDigits)}${fraction === "" ? "" : `.${fraction}`}`;
}

function runJson(run: BotRun) {
  return {
    run_id: run.runId,
    delivery_id: run.deliveryId,
    repository: run.repository,
    number: run.number,
    persona: run.persona,
    trigger: run.trigger,
    requested_by: run.requestedBy,
    status: run.status,
    code: run.code ?? null,
    reason: run.reason ?? null,
    model: run.model ?? null,
    prompt_sha256: run.promptSha256 ?? null,
    input_tokens: run.inputTokens ?? null,
    output_tokens: run.outputTokens ?? null,
    cost_usd: usdText(run.costNano ?? "0"),
    isolation: run.isolation ?? null,
    attempts: run.attempts,
    created_at: format(run.createdAt),
    ended_at: run.endedAt === undefined ? null : format(run.endedAt),
    plan: run.plan ?? null,
    calls: [...(run.calls ?? [])],
  };
}

function deliveryJson(delivery: BotDelivery) {
  return {
    delivery_id: delivery.deliveryId,
    event: delivery.event,
    repository: delivery.repository,
    status: delivery.status,
    received_at: format(delivery.receivedAt),
    ended_at: delivery.endedAt === undefined ? null : format(delivery.endedAt),
  };
}
