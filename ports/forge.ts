// The forge that the repository bot works at: what it may read and write there, and nothing else. There is no merge, no approval and no write to a branch of
// somebody else's in this interface.
//
// What every adapter promises:
//  1. A call that was refused for good is the Fault GITHUB_REFUSED with its status; one that may work later is GITHUB_UNAVAILABLE and has, where the forge said so,
//     `retryAfterMs`.
//  2. A write is sent once. Whether it happened is unknown after a fault that may be tried later: look before it is repeated.
//  3. No fault, log line or heard call has a token, a key or a body.
export type Permissions = Readonly<Record<string, "read" | "write">>;

interface AppFacts {
  readonly id: number;
  readonly slug: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
}

interface InstallationFacts {
  readonly id: number;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  readonly suspendedAt: string | undefined;
}

export interface HookDelivery {
  readonly id: number;
  readonly guid: string;
  readonly deliveredAt: string;
  readonly redelivery: boolean;
  readonly event: string;
  readonly statusCode: number;
}

interface HookDeliveries {
  readonly rows: readonly HookDelivery[];
  readonly next: string | undefined;
}

/** One that was made: a path without its query. Status 0 is no answer. */
export interface ForgeCall {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

export interface ForgeApp {
  app(): Promise<AppFacts>;
  installation(org: string): Promise<InstallationFacts>;
  setHook(hook: { readonly url: string; readonly secret: string }): Promise<void>;
  deliveries(cursor: string | undefined): Promise<HookDeliveries>;
  redeliver(id: number): Promise<void>;
  /** Makes a token for this repository with these permissions; `close` ends it. */
  repository(
    installationId: number,
    repository: string,
    permissions: Permissions,
    heard?: (call: ForgeCall) => void,
  ): Promise<RepositoryForge>;
}

interface ForgeRepository {
  readonly defaultBranch: string;
  readonly htmlUrl: string;
}

export interface ForgeIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly isOpen: boolean;
  readonly isLocked: boolean;
  readonly isPull: boolean;
  readonly labels: readonly string[];
}

export interface ForgeComment {
  readonly id: number;
  readonly author: string;
  readonly isPerson: boolean;
  readonly body: string;
  /** The App that wrote it, in a person's name or its own. */
  readonly appId: number | undefined;
}

interface ForgePull {
  readonly number: number;
  readonly isOpen: boolean;
  readonly isDraft: boolean;
  readonly headSha: string;
  readonly headBranch: string;
  /** Undefined where it is gone. */
  readonly headRepository: string | undefined;
}

interface ForgePatch {
  readonly path: string;
  readonly patch: string | undefined;
}

export interface ForgeTreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size: number;
}

interface ForgeFile {
  readonly path: string;
  readonly mode: "100644" | "100755";
  readonly content: string;
}

interface ForgeReview {
  readonly headSha: string;
  readonly body: string;
  readonly comments: readonly { readonly path: string; readonly line: number; readonly body: string }[];
}

interface ForgeDraft {
  readonly title: string;
  readonly body: string;
  /** Of the bot's own. */
  readonly branch: string;
  readonly base: string;
}

export interface RepositoryForge {
  facts(): Promise<ForgeRepository>;
  issue(number: number): Promise<ForgeIssue>;
  /** The newest hundred that are open, without pull requests. */
  openIssues(): Promise<readonly ForgeIssue[]>;
  /** The newest three hundred, oldest first. */
  comments(number: number): Promise<readonly ForgeComment[]>;
  /** Undefined where it is gone. */
  comment(id: number): Promise<ForgeComment | undefined>;
  labels(): Promise<readonly string[]>;
  /** `admin`, `write`, `read` or `none`; only of people. */
  permission(user: string): Promise<string>;
  pull(number: number): Promise<ForgePull>;
  pullFiles(number: number): Promise<readonly ForgePatch[]>;
  /** The bodies of a pull request's reviews. */
  reviews(number: number): Promise<readonly string[]>;
  isProtected(branch: string): Promise<boolean>;
  headOf(branch: string): Promise<string | undefined>;
  tree(commit: string): Promise<readonly ForgeTreeEntry[]>;
  /** Undefined where it is no UTF-8 text. */
  blob(sha: string): Promise<string | undefined>;
  /** The pull request from this branch of the repository, open or not. */
  pullFrom(branch: string): Promise<{ readonly number: number } | undefined>;

  addLabels(number: number, labels: readonly string[]): Promise<void>;
  createComment(number: number, body: string): Promise<{ readonly id: number }>;
  updateComment(id: number, body: string): Promise<void>;
  createReview(number: number, review: ForgeReview): Promise<{ readonly id: number }>;
  /** A commit with these files on top of another; it is on no branch yet. */
  createCommit(base: string, files: readonly ForgeFile[], message: string): Promise<{ readonly sha: string }>;
  createBranch(branch: string, sha: string): Promise<void>;
  createDraft(draft: ForgeDraft): Promise<{ readonly number: number }>;
  /** Ends the token; it fails silently, because the token ends by itself. */
  close(): Promise<void>;
}
