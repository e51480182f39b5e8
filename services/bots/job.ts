// What a run of the repository bot is handed and what it answers: the seam between the worker, which keeps runs and budgets, and whoever does the work.
import type { BotCommand, BotRunner, BotTrigger } from "../../contracts/src/records/githubbot.ts";

export interface Job {
  readonly runId: string;
  readonly deliveryId: string;
  readonly installationId: number;
  /** By which our own comments are known. */
  readonly appId: number;
  readonly appSlug: string;
  /** `organisation/name`. */
  readonly repository: string;
  /** Of the issue or pull request. */
  readonly number: number;
  readonly persona: BotRunner;
  readonly trigger: BotTrigger;
  readonly command: BotCommand | undefined;
  /** The name at GitHub of whoever opened, commanded or labelled. */
  readonly requestedBy: string;
  readonly commentId: number | undefined;
  /** Of the event's pull request. */
  readonly headSha: string | undefined;
  /** 1 the first time. After that the last one may have written anything up to its last intent: look before it is repeated. */
  readonly attempt: number;
  /** Whether whoever asked may write, as an earlier attempt found it. */
  readonly byWriter: boolean | undefined;
  readonly intents: readonly Intent[];
}

/** A write that is about to be made, stored before it is; `result` once GitHub answered. */
export interface Intent {
  readonly name: string;
  readonly marker: string;
  readonly result: string | undefined;
}

/** Each is durable when it resolves. */
export interface RunStore {
  /** Gives the one that is stored where there is one of that name. */
  intend(name: string, marker: string): Promise<Intent>;
  done(name: string, result: string): Promise<void>;
  /** The one comment of the thread; undefined where we never wrote one, `isGone` once a person deleted it. */
  sticky(): Promise<Sticky | undefined>;
  keepSticky(sticky: Sticky): Promise<void>;
  /** Asked before every write. */
  mayWrite(): Promise<true | Stopped>;
  /** `pause` and `resume` of a thread, by somebody who may. */
  pauseThread(isPaused: boolean): Promise<void>;
  /** True once in a thread: that it is skipped for want of budget may be said. */
  skipNoticeOnce(): Promise<boolean>;
}

export interface Sticky {
  readonly commentId: number;
  readonly isGone: boolean;
}

export interface Stopped {
  readonly code: "BOT_PAUSED";
  readonly reason: string;
}

/** Amounts are billionths of a dollar. */
export interface Budget {
  reserve(ask: { readonly byWriter: boolean; readonly nano: bigint }): Promise<Reserved | BudgetRefusal>;
  /** Once a run, also with nothing; what is never settled counts in full. */
  settle(spent: { readonly nano: bigint }): Promise<void>;
}

interface Reserved {
  readonly kind: "reserved";
}

interface BudgetRefusal {
  readonly kind: "refused";
  readonly code: "BOT_BUDGET_USED_UP";
  readonly reason: string;
  /** A person's runs of a day are skipped without a word. */
  readonly which: "day" | "repository" | "strangers" | "person";
}

/** LATER is tried again: what it needs is away. */
export type JobStatus = "DONE" | "SKIPPED" | "FAILED" | "LATER";

export interface JobEnd {
  readonly status: JobStatus;
  readonly code: string | undefined;
  /** Also why it did not act. */
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
  readonly byWriter: boolean | undefined;
  readonly model: string | undefined;
  readonly promptSha256: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly costNano: bigint;
  readonly isolation: string | undefined;
  /** JSON, without anything secret. */
  readonly plan: unknown;
  readonly calls: readonly JobCall[];
}

/** One that was made to GitHub. */
interface JobCall {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** What the worker hands to whoever does a run, beside what that needs of the world. */
export interface JobPorts {
  readonly runs: RunStore;
  readonly budget: Budget;
  /** Aborts when the process ends, or is no longer the one that holds the run. */
  readonly signal: AbortSignal;
}

export type RunJob = (job: Job, ports: JobPorts) => Promise<JobEnd>;
