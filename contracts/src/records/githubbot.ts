// The words of the repository bot: its personas, how a run and a delivery stand, what is asked of a thread, and the events that tell of it.
import { z } from "zod";
import {
  countNumber,
  hashText,
  idText,
  instantText,
  lineText,
  nameText,
  nonNegativeDecimalText,
  reasonText,
} from "./fields.ts";

export const botPersonas = ["triager", "code_reviewer", "bug_fixer"] as const;
export type BotPersona = (typeof botPersonas)[number];

/** keeper answers `pause`, `resume` and `help`, which are no persona's. */
export const botRunners = [...botPersonas, "keeper"] as const;
export const botRunner = z.enum(botRunners);
export type BotRunner = (typeof botRunners)[number];

/** What stands alone on a line of a comment, after the bot's name; none takes arguments. */
export const botCommands = ["triage", "review", "fix", "pause", "resume", "help"] as const;
export type BotCommand = (typeof botCommands)[number];

/** What made a run: an issue or pull request was opened, a draft made ready, a label set, a command written. */
const botTriggers = ["opened", "ready", "labelled", "command"] as const;
export const botTrigger = z.enum(botTriggers);
export type BotTrigger = (typeof botTriggers)[number];

const botRunStatuses = ["QUEUED", "RUNNING", "DONE", "SKIPPED", "FAILED"] as const;
export const botRunStatus = z.enum(botRunStatuses);
export type BotRunStatus = (typeof botRunStatuses)[number];

/** IGNORED is about nothing that the bot does; HANDLED has become its runs and events. */
const botDeliveryStatuses = ["ACCEPTED", "IGNORED", "HANDLED"] as const;
export const botDeliveryStatus = z.enum(botDeliveryStatuses);
export type BotDeliveryStatus = (typeof botDeliveryStatuses)[number];

/** `organisation/name`, as GitHub has them. */
export const repositoryText = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/[A-Za-z0-9._-]{1,100}$/, "expected organisation/name");

/** Where the bot's events that are about all of it stand. */
export const everyRepository = "*";

const installed = {
  org: nameText,
  app_id: countNumber,
  app_slug: nameText,
  installation_id: countNumber,
  requested_by: nameText,
  reason: reasonText,
  at: instantText,
};

export const githubbotInstalled = z.object({ ...installed, webhook_url: lineText(2_000) });

export const githubbotUninstalled = z.object(installed);

/** `repository` is a star for all of them. */
export const githubbotPaused = z.object({
  repository: z.string().max(200),
  requested_by: nameText,
  reason: reasonText,
  at: instantText,
});

export const botRunEnded = z.object({
  run_id: idText,
  delivery_id: lineText(100),
  repository: repositoryText,
  number: countNumber,
  persona: botRunner,
  trigger: botTrigger,
  /** Whoever opened, commanded or labelled, by the name at GitHub. */
  requested_by: nameText,
  status: botRunStatus,
  code: z.string().optional(),
  reason: reasonText,
  model: lineText(200).optional(),
  prompt_sha256: hashText.optional(),
  cost_usd: nonNegativeDecimalText,
  at: instantText,
});

/** A budget of one UTC day. `repository` is a star for the whole. */
export const botBudgetReached = z.object({
  day: z.iso.date(),
  repository: z.string().max(200),
  percent: z.union([z.literal(50), z.literal(75), z.literal(90), z.literal(100)]),
  cap_usd: nonNegativeDecimalText,
  used_usd: nonNegativeDecimalText,
  at: instantText,
});
export type BotBudgetReached = z.infer<typeof botBudgetReached>;

export const botReleasePublished = z.object({
  repository: repositoryText,
  tag: lineText(300),
  name: lineText(300),
  url: lineText(2_000),
  prerelease: z.boolean(),
  published_by: lineText(100),
  at: instantText,
});

export const botAdvisoryPublished = z.object({
  repository: repositoryText,
  ghsa_id: lineText(100),
  summary: lineText(1_100),
  severity: lineText(20),
  url: lineText(2_000),
  at: instantText,
});
