// Every call that may leave for GitHub, as data. The list is held at the last moment, when a request with its method, address and body is handed to the network:
// whatever asked for it, a call that is not listed is not made.
import { parseJson } from "../../contracts/src/parse-json.ts";

interface Allowed {
  readonly method: string;
  /** `{}` is one segment; `{name}` one that GitHub may hand out. */
  readonly path: string;
  /** What its body must keep. */
  readonly body?: (body: Record<string, unknown>) => boolean;
}

const branchPrefix = "refs/heads/portcullis-bot/";
const known: ReadonlySet<string> = new Set([
  "metadata:read",
  "contents:read",
  "contents:write",
  "issues:read",
  "issues:write",
  "pull_requests:read",
  "pull_requests:write",
]);

const reads: readonly string[] = [
  "/app",
  "/orgs/{}/installation",
  "/app/hook/deliveries",
  "/repos/{}/{}",
  "/repos/{}/{}/issues",
  "/repos/{}/{}/issues/{}",
  "/repos/{}/{}/issues/{}/comments",
  "/repos/{}/{}/issues/comments/{}",
  "/repos/{}/{}/labels",
  "/repos/{}/{}/collaborators/{}/permission",
  "/repos/{}/{}/pulls",
  "/repos/{}/{}/pulls/{}",
  "/repos/{}/{}/pulls/{}/files",
  "/repos/{}/{}/pulls/{}/reviews",
  "/repos/{}/{}/branches/{}",
  "/repos/{}/{}/rules/branches/{}",
  "/repos/{}/{}/git/ref/heads/{}",
  "/repos/{}/{}/git/ref/heads/portcullis-bot/{}",
  "/repos/{}/{}/git/trees/{}",
  "/repos/{}/{}/git/blobs/{}",
];

/** All that changes anything at GitHub. */
const allowedWrites: readonly Allowed[] = [
  { method: "PATCH", path: "/app/hook/config", body: hasOnly("url", "content_type", "insecure_ssl", "secret") },
  { method: "POST", path: "/app/hook/deliveries/{}/attempts" },
  { method: "POST", path: "/app/installations/{}/access_tokens", body: isNarrow },
  { method: "DELETE", path: "/installation/token" },
  { method: "POST", path: "/repos/{}/{}/issues/{}/labels", body: hasOnly("labels") },
  { method: "POST", path: "/repos/{}/{}/issues/{}/comments", body: hasOnly("body") },
  { method: "PATCH", path: "/repos/{}/{}/issues/comments/{}", body: hasOnly("body") },
  {
    method: "POST",
    path: "/repos/{}/{}/pulls/{}/reviews",
    body: (body) => body["event"] === "COMMENT" && hasOnly("commit_id", "body", "event", "comments")(body),
  },
  { method: "POST", path: "/repos/{}/{}/git/blobs", body: hasOnly("content", "encoding") },
  { method: "POST", path: "/repos/{}/{}/git/trees", body: isOfPlainFiles },
  { method: "POST", path: "/repos/{}/{}/git/commits", body: hasOnly("message", "tree", "parents") },
  {
    method: "POST",
    path: "/repos/{}/{}/git/refs",
    body: (body) => isOwnBranch(body["ref"]) && hasOnly("ref", "sha")(body),
  },
  {
    method: "POST",
    path: "/repos/{}/{}/pulls",
    body: (body) => body["draft"] === true && hasOnly("title", "body", "head", "base", "draft")(body),
  },
  { method: "POST", path: "/repos/{}/{}/issues", body: hasOnly("title", "body", "labels") },
];

const allowed: readonly Allowed[] = [...reads.map((path) => ({ method: "GET", path })), ...allowedWrites];

/** Why a request is not made; undefined where it may be. `path` is encoded, without what stands before it in the API's address. */
export function whyNotAllowed(method: string, path: string, body: string | undefined): string | undefined {
  const rule = allowed.find((each) => each.method === method && matches(each.path, path));
  if (rule === undefined) return `${method} of this path is no call that the bot makes`;
  if (rule.body === undefined) return undefined;
  const read = bodyOf(body);
  return read !== undefined && rule.body(read)
    ? undefined
    : `${method} ${rule.path} has a body that the bot does not send`;
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (part === "{}" ? isSegment(given[at]) : part === given[at]))
  );
}

/** One segment stays one: nothing in it is decoded to another or leads up. */
function isSegment(part: string | undefined): boolean {
  return (
    part !== undefined &&
    part !== "" &&
    part !== "." &&
    part !== ".." &&
    /^[A-Za-z0-9._~%:@!$&'()*+,;=-]+$/.test(part) &&
    !/%(?:2e%2e|00|5c)/i.test(part)
  );
}

function bodyOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const value: unknown = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function hasOnly(...names: readonly string[]): (body: Record<string, unknown>) => boolean {
  return (body) => Object.keys(body).every((name) => names.includes(name));
}

/** One repository, and no permission beyond the personas'. */
function isNarrow(body: Record<string, unknown>): boolean {
  const { repositories, permissions } = body;
  if (!Array.isArray(repositories) || repositories.length !== 1) return false;
  if (typeof permissions !== "object" || permissions === null || Object.keys(permissions).length === 0) return false;
  return (
    hasOnly("repositories", "permissions")(body) &&
    Object.entries(permissions).every(([name, how]) => known.has(`${name}:${String(how)}`))
  );
}

function isOwnBranch(ref: unknown): boolean {
  return (
    typeof ref === "string" && ref.startsWith(branchPrefix) && /^[0-9]+-[a-z0-9]+$/.test(ref.slice(branchPrefix.length))
  );
}

/** On top of another tree, and no link or submodule. */
function isOfPlainFiles(body: Record<string, unknown>): boolean {
  const { base_tree: base, tree } = body;
  if (typeof base !== "string" || !Array.isArray(tree) || !hasOnly("base_tree", "tree")(body)) return false;
  return tree.every((entry: Record<string, unknown>) => {
    const { mode, type, sha } = entry;
    return (mode === "100644" || mode === "100755") && type === "blob" && typeof sha === "string";
  });
}
