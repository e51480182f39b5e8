// What a GitHub of our own holds: an App with its installation and hook, repositories with people, issues, pull requests and git objects, tokens, and every
// request that was made.
import { createHash, generateKeyPairSync } from "node:crypto";

export interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string;
  readonly body: unknown;
}

export interface HubAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What goes wrong with the next request that fits: `lost` is done and not answered. */
export type HubFault = "lost" | "down" | 500 | 502 | 503 | "secondary" | "primary" | 401 | 403 | 404;

export interface HubComment {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string; readonly type: string };
  readonly app: number | undefined;
  readonly issue: number;
}

export interface HubIssue {
  readonly number: number;
  title: string;
  body: string;
  readonly user: { readonly login: string; readonly type: string };
  state: "open" | "closed";
  labels: string[];
  isPull: boolean;
}

export interface HubPull {
  readonly number: number;
  readonly headBranch: string;
  headSha: string;
  readonly headRepository: string;
  readonly draft: boolean;
  files: { readonly filename: string; readonly patch?: string }[];
  reviews: { readonly id: number; readonly body: string; readonly event: string; readonly comments: unknown }[];
}

export interface HubRepository {
  readonly name: string;
  defaultBranch: string;
  isProtected: boolean;
  rules: string[];
  labels: string[];
  readonly people: Map<string, string>;
  readonly issues: Map<number, HubIssue>;
  readonly pulls: Map<number, HubPull>;
  readonly comments: Map<number, HubComment>;
  readonly refs: Map<string, string>;
  readonly commits: Map<
    string,
    { readonly tree: string; readonly message: string; readonly parents: readonly string[] }
  >;
  readonly trees: Map<
    string,
    ReadonlyMap<string, { readonly mode: string; readonly sha: string; readonly type: string }>
  >;
  readonly blobs: Map<string, Buffer>;
}

export interface HubToken {
  readonly repository: string;
  readonly permissions: Readonly<Record<string, string>>;
  isEnded: boolean;
}

export interface HubDelivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly delivered_at: string;
  redelivery: boolean;
  status_code: number;
}

export interface HubState {
  readonly app: {
    id: number;
    slug: string;
    permissions: Record<string, string>;
    events: string[];
    readonly privateKey: string;
    readonly publicKey: string;
  };
  readonly installation: {
    id: number;
    org: string;
    permissions: Record<string, string>;
    events: string[];
    suspendedAt: string | null;
  };
  hook: Record<string, unknown>;
  readonly deliveries: HubDelivery[];
  readonly repositories: Map<string, HubRepository>;
  readonly tokens: Map<string, HubToken>;
  readonly requests: (HubRequest & { status: number })[];
  /** Each is used up by one request that its condition takes. */
  readonly faults: { readonly when: (request: HubRequest) => boolean; readonly fault: HubFault }[];
  nextId: number;
}

/** One pair for all tests of a process: making it takes longer than a test. */
let pair: { readonly privateKey: string; readonly publicKey: string } | undefined;

export function appKey(): { readonly privateKey: string; readonly publicKey: string } {
  pair ??= generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  return pair;
}

export const appPermissions = {
  metadata: "read",
  members: "read",
  repository_advisories: "read",
  contents: "write",
  issues: "write",
  pull_requests: "write",
};
export const appEvents = ["issues", "issue_comment", "pull_request", "release", "repository_advisory"];

export function createHub(): HubState {
  return {
    app: {
      id: 4_711,
      slug: "portcullis-test",
      permissions: { ...appPermissions },
      events: [...appEvents],
      ...appKey(),
    },
    installation: {
      id: 99,
      org: "acme",
      permissions: { ...appPermissions },
      events: [...appEvents],
      suspendedAt: null,
    },
    hook: {},
    deliveries: [],
    repositories: new Map(),
    tokens: new Map(),
    requests: [],
    faults: [],
    nextId: 1_000,
  };
}

export function addRepository(
  hub: HubState,
  name: string,
  files: Readonly<Record<string, string>> = {},
): HubRepository {
  const repository: HubRepository = {
    name,
    defaultBranch: "main",
    isProtected: true,
    rules: [],
    labels: ["bug", "documentation", "question", "release"],
    people: new Map([
      ["owner", "admin"],
      ["writer", "write"],
      ["reader", "read"],
    ]),
    issues: new Map(),
    pulls: new Map(),
    comments: new Map(),
    refs: new Map(),
    commits: new Map(),
    trees: new Map(),
    blobs: new Map(),
  };
  const entries = Object.entries(files).map(
    ([path, content]) =>
      [path, { mode: "100644", type: "blob", sha: putBlob(repository, Buffer.from(content)) }] as const,
  );
  const commit = putCommit(repository, putTree(repository, new Map(entries)), "first", []);
  repository.refs.set("heads/main", commit);
  hub.repositories.set(name, repository);
  return repository;
}

export function addIssue(hub: HubState, repository: HubRepository, issue: Partial<HubIssue> = {}): HubIssue {
  const number = issue.number ?? repository.issues.size + 1;
  const made: HubIssue = {
    number,
    title: "It crashes",
    body: "",
    user: { login: "stranger", type: "User" },
    state: "open",
    labels: [],
    isPull: false,
    ...issue,
  };
  repository.issues.set(number, made);
  hub.nextId += 1;
  return made;
}

export function addPull(
  hub: HubState,
  repository: HubRepository,
  pull: Partial<HubPull> = {},
  issue: Partial<HubIssue> = {},
): HubPull {
  const { number } = addIssue(hub, repository, { ...issue, isPull: true });
  const made: HubPull = {
    number,
    headBranch: "topic",
    headSha: "a".repeat(40),
    headRepository: repository.name,
    draft: false,
    files: [],
    reviews: [],
    ...pull,
  };
  repository.pulls.set(number, made);
  return made;
}

export function addComment(
  hub: HubState,
  repository: HubRepository,
  issue: number,
  body: string,
  login = "writer",
  app?: number,
): HubComment {
  hub.nextId += 1;
  const comment = { id: hub.nextId, body, user: { login, type: app === undefined ? "User" : "Bot" }, app, issue };
  repository.comments.set(comment.id, comment);
  return comment;
}

export function putBlob(repository: HubRepository, content: Buffer): string {
  const sha = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
  repository.blobs.set(sha, content);
  return sha;
}

export function putTree(
  repository: HubRepository,
  entries: ReadonlyMap<string, { readonly mode: string; readonly sha: string; readonly type: string }>,
): string {
  const sha = createHash("sha1")
    .update(JSON.stringify([...entries].sort()))
    .digest("hex");
  repository.trees.set(sha, entries);
  return sha;
}

/** Two equal commits are apart, as they are at another second. */
export function putCommit(
  repository: HubRepository,
  tree: string,
  message: string,
  parents: readonly string[],
): string {
  const sha = createHash("sha1")
    .update(JSON.stringify([tree, message, parents, repository.commits.size]))
    .digest("hex");
  repository.commits.set(sha, { tree, message, parents });
  return sha;
}

export function contentAt(repository: HubRepository, branch: string, path: string): string | undefined {
  const commit = repository.commits.get(repository.refs.get(`heads/${branch}`) ?? "");
  const entry = repository.trees.get(commit?.tree ?? "")?.get(path);
  return repository.blobs.get(entry?.sha ?? "")?.toString("utf8");
}
