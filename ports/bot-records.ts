// What the repository bot remembers, in a unit of work. The gateway writes installations, pauses and deliveries, which it only ever adds; the rest is the
// bot's own.
//
// What every store promises (testkit/conformance/bot-records.ts):
//  1. Of two deliveries with one id, or with one body, the second is not kept, however many come at once.
//  2. Under one key there is one run, whoever enters it.
//  3. `updateRun` changes what nobody has changed since it was read, and answers undefined otherwise.
//  4. A unit that has locked a day sees every reservation of it, and nobody adds one until that unit ends.
import type { Instant } from "../contracts/src/instant.ts";
import type {
  BotCommand,
  BotDeliveryStatus,
  BotRunner,
  BotRunStatus,
  BotTrigger,
} from "../contracts/src/records/githubbot.ts";

/** The newest that was added counts. */
export interface BotInstallation {
  readonly isInstalled: boolean;
  readonly org: string;
  readonly appId: number;
  readonly appSlug: string;
  readonly installationId: number;
  readonly webhookUrl: string;
  readonly permissions: Readonly<Record<string, string>>;
  /** What was missing and is no reason not to install. */
  readonly missing: readonly string[];
  readonly by: string;
  readonly at: Instant;
}

/** The newest of a repository counts; a star is all of them. */
export interface BotPause {
  readonly repository: string;
  readonly isPaused: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: Instant;
}

export interface BotDelivery {
  readonly deliveryId: string;
  readonly bodySha256: string;
  readonly event: string;
  readonly repository: string;
  readonly receivedAt: Instant;
  readonly status: BotDeliveryStatus;
  /** The named fields of its body; empty when it is ignored. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly endedAt?: Instant;
}

export interface BotRun {
  readonly runId: string;
  /** What there is one run of. */
  readonly key: string;
  readonly deliveryId: string;
  readonly repository: string;
  readonly number: number;
  readonly persona: BotRunner;
  readonly trigger: BotTrigger;
  readonly command?: BotCommand;
  readonly requestedBy: string;
  readonly commentId?: number;
  readonly headSha?: string;
  readonly status: BotRunStatus;
  readonly attempts: number;
  readonly createdAt: Instant;
  /** Not before then. */
  readonly nextAt: Instant;
  /** Counts changes. */
  readonly version: number;
  /** The process that is at it, as the leases name it. */
  readonly holder?: string;
  readonly byWriter?: boolean;
  readonly code?: string;
  readonly reason?: string;
  readonly model?: string;
  readonly promptSha256?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Billionths of a dollar. */
  readonly costNano?: string;
  readonly isolation?: string;
  readonly plan?: unknown;
  readonly calls?: readonly { readonly method: string; readonly path: string; readonly status: number }[];
  readonly endedAt?: Instant;
}

/** A write that is about to be made. */
export interface BotIntent {
  readonly name: string;
  readonly marker: string;
  readonly result?: string;
}

export interface BotThread {
  readonly repository: string;
  readonly number: number;
  readonly commentId?: number;
  /** A person deleted it. */
  readonly isGone?: boolean;
  readonly isPaused?: boolean;
  /** It was said once that the budget is used up. */
  readonly isBudgetReported?: boolean;
}

/** What a run reserved, and what it came to; amounts are billionths of a dollar. */
export interface BotSpend {
  readonly runId: string;
  readonly day: string;
  readonly repository: string;
  readonly requestedBy: string;
  readonly byWriter: boolean;
  /** With what it carries. */
  readonly reservedNano: string;
  /** What earlier attempts spent, or may have spent. */
  readonly carriedNano?: string;
  readonly settledNano?: string;
}

/** A delivery that failed at GitHub, and how often it was asked for again. */
export interface BotRedelivery {
  readonly guid: string;
  readonly asked: number;
  readonly at: Instant;
}

export interface BotRecords {
  /** The newest, also one that took the bot away. */
  installation(): Promise<BotInstallation | undefined>;
  addInstallation(installation: BotInstallation): Promise<void>;
  /** Those that are in force. */
  pauses(): Promise<readonly BotPause[]>;
  addPause(pause: BotPause): Promise<void>;
  /** False when its id or its body is known. */
  insertDelivery(delivery: BotDelivery): Promise<boolean>;
  delivery(deliveryId: string): Promise<BotDelivery | undefined>;
  /** ACCEPTED, in the order in which they came. */
  openDeliveries(countMax: number): Promise<readonly BotDelivery[]>;
  updateDelivery(delivery: BotDelivery): Promise<void>;
  /** Newest first; those before the named one. */
  deliveries(asked: {
    readonly countMax: number;
    readonly after?: string | undefined;
  }): Promise<readonly BotDelivery[]>;
  /** Answers how many. */
  forgetDeliveries(before: Instant, countMax: number): Promise<number>;
  insertRun(run: BotRun): Promise<boolean>;
  updateRun(run: BotRun): Promise<BotRun | undefined>;
  run(runId: string): Promise<BotRun | undefined>;
  /** QUEUED and RUNNING, oldest first. */
  openRuns(countMax: number): Promise<readonly BotRun[]>;
  /** Newest first; those before the named one. */
  runs(asked: {
    readonly countMax: number;
    readonly repository?: string | undefined;
    readonly status?: BotRunStatus | undefined;
    readonly after?: string | undefined;
  }): Promise<readonly BotRun[]>;
  intents(runId: string): Promise<readonly BotIntent[]>;
  putIntent(runId: string, intent: BotIntent): Promise<void>;
  thread(repository: string, number: number): Promise<BotThread | undefined>;
  putThread(thread: BotThread): Promise<void>;
  lockDay(day: string): Promise<void>;
  spends(day: string): Promise<readonly BotSpend[]>;
  spend(runId: string): Promise<BotSpend | undefined>;
  putSpend(spend: BotSpend): Promise<void>;
  redelivery(guid: string): Promise<BotRedelivery | undefined>;
  putRedelivery(redelivery: BotRedelivery): Promise<void>;
  /** Those that were asked for and have not come. */
  failedDeliveries(): Promise<readonly BotRedelivery[]>;
  forgetRedeliveries(before: Instant): Promise<number>;
}
