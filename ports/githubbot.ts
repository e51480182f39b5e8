// What the gateway's routes are handed of the repository bot: the secrets that sign deliveries, installing it and taking it away, and what it remembers. A key or a
// secret is in no answer, row, log or event.
import type { Instant } from "../contracts/src/instant.ts";
import type { BotRunStatus } from "../contracts/src/records/githubbot.ts";
import type { BotDelivery, BotInstallation, BotPause, BotRun } from "./bot-records.ts";
import type { Identity, Outcome } from "./identity.ts";

/** As the App and its installation say themselves. */
export interface AppAtGithub {
  readonly id: number;
  readonly slug: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
}

export interface InstallationAtGithub {
  readonly id: number;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  readonly suspendedAt: string | undefined;
}

/** Asked with the App's own key. */
export interface GithubApp {
  app(): Promise<AppAtGithub>;
  /** Rejects with NOT_FOUND where the App is not installed in that organisation. */
  installation(org: string): Promise<InstallationAtGithub>;
  setHook(hook: { readonly url: string; readonly secret: string }): Promise<void>;
}

export interface InstallAsked {
  readonly org: string;
  readonly appId: number;
  readonly privateKey: string;
  /** One is made when it is absent. */
  readonly webhookSecret: string | undefined;
  readonly reason: string;
}

interface BotBudget {
  readonly day: string;
  readonly resetsAt: Instant;
  readonly dailyUsd: string;
  readonly usedUsd: string;
  readonly repositories: readonly { readonly repository: string; readonly capUsd: string; readonly usedUsd: string }[];
}

export interface BotStatus {
  readonly installation: BotInstallation | undefined;
  readonly pauses: readonly BotPause[];
  /** Whether its process holds a lease. */
  readonly isRunning: boolean;
  readonly isolation: string | undefined;
  readonly notes: readonly string[];
}

export interface Githubbot {
  /** Those under which a delivery may be signed now; none before an install. */
  signingSecrets(): Promise<readonly string[]>;
  /** False when its id or its body was seen. */
  keepDelivery(delivery: BotDelivery): Promise<boolean>;
  /** Of the organisation that it is installed in; undefined where it is not. */
  installation(): Promise<BotInstallation | undefined>;
  install(caller: Identity, asked: InstallAsked, proof: string | undefined): Promise<Outcome<BotInstallation>>;
  uninstall(caller: Identity, reason: string, proof: string | undefined): Promise<Outcome<BotInstallation>>;
  pause(
    caller: Identity,
    asked: { readonly repository: string; readonly isPaused: boolean; readonly reason: string },
  ): Promise<void>;
  status(): Promise<BotStatus>;
  runs(asked: {
    readonly countMax: number;
    readonly repository?: string | undefined;
    readonly status?: BotRunStatus | undefined;
    readonly after?: string | undefined;
  }): Promise<readonly BotRun[]>;
  run(runId: string): Promise<BotRun | undefined>;
  deliveries(asked: {
    readonly countMax: number;
    readonly after?: string | undefined;
  }): Promise<readonly BotDelivery[]>;
  budget(): Promise<BotBudget>;
  /** What health says of it, which is never that the platform cannot work. */
  notes(): readonly string[];
}
