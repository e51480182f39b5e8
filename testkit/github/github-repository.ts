// The routes of one repository in a GitHub of our own. Beside what the bot may ask stand calls that it must never make: they work here as they do at GitHub,
// so that a test sees when one is made.
import {
  addComment,
  type HubAnswer,
  type HubIssue,
  type HubPull,
  type HubRepository,
  type HubRequest,
  type HubState,
  putBlob,
  putCommit,
  putTree,
} from "./github-state.ts";

interface At {
  readonly hub: HubState;
  readonly repository: HubRepository;
  may(what: string, how: "read" | "write"): boolean;
}

type Route = (at: At, parts: readonly string[], request: HubRequest) => HubAnswer;

const ok = (body: unknown, status = 200): HubAnswer => ({ status, body });
const notFound: HubAnswer = { status: 404, body: { message: "Not Found" } };
const forbidden: HubAnswer = { status: 403, body: { message: "Resource not accessible by integration" } };

/** Method and path behind the repository's name; a star is any segment. With it, what the token must have. */
const routes: readonly (readonly [string, string, string, "read" | "write", Route])[] = [
  [
    "GET",
    "",
    "metadata",
    "read",
    ({ repository }) =>
      ok({ default_branch: repository.defaultBranch, html_url: `https://github.com/${repository.name}` }),
  ],
  [
    "GET",
    "issues",
    "issues",
    "read",
    ({ repository }) =>
      ok(
        [...repository.issues.values()]
          .reverse()
          .filter(({ state }) => state === "open")
          .map(issueJson),
      ),
  ],
  [
    "GET",
    "issues/*",
    "issues",
    "read",
    ({ repository }, [, number]) => given(repository.issues.get(Number(number)), issueJson),
  ],
  ["GET", "issues/*/comments", "issues", "read", listComments],
  [
    "POST",
    "issues/*/comments",
    "issues",
    "write",
    ({ hub, repository }, [, number], { body }) => {
      const text = (body as { body: string }).body;
      return ok(
        commentJson(addComment(hub, repository, Number(number), text, `${hub.app.slug}[bot]`, hub.app.id)),
        201,
      );
    },
  ],
  [
    "GET",
    "issues/comments/*",
    "issues",
    "read",
    ({ repository }, [, , id]) => given(repository.comments.get(Number(id)), commentJson),
  ],
  [
    "PATCH",
    "issues/comments/*",
    "issues",
    "write",
    ({ repository }, [, , id], { body }) => {
      const comment = repository.comments.get(Number(id));
      if (comment !== undefined) comment.body = (body as { body: string }).body;
      return given(comment, commentJson);
    },
  ],
  [
    "POST",
    "issues/*/labels",
    "issues",
    "write",
    ({ repository }, [, number], { body }) => {
      const issue = repository.issues.get(Number(number));
      if (issue === undefined) return notFound;
      issue.labels = [...new Set([...issue.labels, ...(body as { labels: string[] }).labels])];
      return ok(issue.labels.map((name) => ({ name })));
    },
  ],
  ["POST", "issues", "issues", "write", () => ok({ number: 1 }, 201)],
  ["GET", "labels", "issues", "read", ({ repository }) => ok(repository.labels.map((name) => ({ name })))],
  [
    "GET",
    "collaborators/*/permission",
    "metadata",
    "read",
    ({ repository }, [, login]) => {
      const permission = repository.people.get(login ?? "");
      const type = login?.endsWith("[bot]") ? "Bot" : "User";
      return permission === undefined ? notFound : ok({ permission, user: { login, type } });
    },
  ],
  [
    "GET",
    "pulls",
    "pull_requests",
    "read",
    ({ repository }, _parts, { query }) => {
      const head = query.get("head")?.split(":")[1];
      return ok(
        [...repository.pulls.values()]
          .filter(({ headBranch }) => headBranch === head)
          .map((pull) => pullJson(repository, pull)),
      );
    },
  ],
  ["POST", "pulls", "pull_requests", "write", openPull],
  [
    "GET",
    "pulls/*",
    "pull_requests",
    "read",
    ({ repository }, [, number]) => given(repository.pulls.get(Number(number)), (pull) => pullJson(repository, pull)),
  ],
  ["PUT", "pulls/*/merge", "contents", "write", () => ok({ merged: true })],
  [
    "GET",
    "pulls/*/files",
    "pull_requests",
    "read",
    ({ repository }, [, number]) => given(repository.pulls.get(Number(number)), ({ files }) => files),
  ],
  [
    "GET",
    "pulls/*/reviews",
    "pull_requests",
    "read",
    ({ repository }, [, number]) => given(repository.pulls.get(Number(number)), ({ reviews }) => reviews),
  ],
  [
    "POST",
    "pulls/*/reviews",
    "pull_requests",
    "write",
    ({ hub, repository }, [, number], { body }) => {
      const pull = repository.pulls.get(Number(number));
      if (pull === undefined) return notFound;
      const { body: text, event, comments } = body as { body: string; event: string; comments: unknown };
      hub.nextId += 1;
      pull.reviews.push({ id: hub.nextId, body: text, event, comments });
      return ok({ id: hub.nextId });
    },
  ],
  ["GET", "branches/*", "contents", "read", ({ repository }) => ok({ protected: repository.isProtected })],
  ["GET", "rules/branches/*", "metadata", "read", ({ repository }) => ok(repository.rules.map((type) => ({ type })))],
  [
    "GET",
    "git/ref/heads/*",
    "contents",
    "read",
    ({ repository }, parts) => refOf(repository, parts.slice(2).join("/")),
  ],
  [
    "GET",
    "git/ref/heads/*/*",
    "contents",
    "read",
    ({ repository }, parts) => refOf(repository, parts.slice(2).join("/")),
  ],
  [
    "GET",
    "git/trees/*",
    "contents",
    "read",
    ({ repository }, [, , sha]) => {
      const tree = repository.trees.get(repository.commits.get(sha ?? "")?.tree ?? sha ?? "");
      return given(tree, (entries) => ({
        tree: [...entries].map(([path, entry]) => ({
          path,
          ...entry,
          size: repository.blobs.get(entry.sha)?.length ?? 0,
        })),
      }));
    },
  ],
  [
    "GET",
    "git/blobs/*",
    "contents",
    "read",
    ({ repository }, [, , sha]) =>
      given(repository.blobs.get(sha ?? ""), (content) => ({
        content: content.toString("base64"),
        encoding: "base64",
      })),
  ],
  [
    "POST",
    "git/blobs",
    "contents",
    "write",
    ({ repository }, _parts, { body }) =>
      ok({ sha: putBlob(repository, Buffer.from((body as { content: string }).content)) }, 201),
  ],
  ["POST", "git/trees", "contents", "write", newTree],
  [
    "POST",
    "git/commits",
    "contents",
    "write",
    ({ repository }, _parts, { body }) => {
      const { tree, message, parents } = body as { tree: string; message: string; parents: string[] };
      return ok({ sha: putCommit(repository, tree, message, parents) }, 201);
    },
  ],
  [
    "POST",
    "git/refs",
    "contents",
    "write",
    ({ repository }, _parts, { body }) => {
      const { ref, sha } = body as { ref: string; sha: string };
      const name = ref.replace(/^refs\//, "");
      if (repository.refs.has(name)) return { status: 422, body: { message: "Reference already exists" } };
      repository.refs.set(name, sha);
      return ok({ ref, object: { sha } }, 201);
    },
  ],
  ["PATCH", "git/refs/*", "contents", "write", () => ok({})],
  ["DELETE", "git/refs/*", "contents", "write", () => ({ status: 204 })],
  ["PUT", "contents/*", "contents", "write", () => ok({})],
];

export function atRepository(at: At, request: HubRequest, parts: readonly string[]): HubAnswer {
  const found = routes.find(([method, path]) => method === request.method && fits(path, parts));
  if (found === undefined) return notFound;
  const [, , what, how, route] = found;
  // GitHub lets either of the two read and comment on what is both.
  const either = what === "issues" ? ["issues", "pull_requests"] : [what];
  return either.some((one) => at.may(one, how)) ? route(at, parts, request) : forbidden;
}

function fits(path: string, parts: readonly string[]): boolean {
  const wanted = path === "" ? [] : path.split("/");
  return wanted.length === parts.length && wanted.every((part, index) => part === "*" || part === parts[index]);
}

function given<Value>(value: Value | undefined, json: (value: Value) => unknown): HubAnswer {
  return value === undefined ? notFound : ok(json(value));
}

function listComments({ repository }: At, [, number]: readonly string[], { query }: HubRequest): HubAnswer {
  const all = [...repository.comments.values()].filter(({ issue }) => issue === Number(number));
  const size = Number(query.get("per_page") ?? 30);
  const page = Number(query.get("page") ?? 1);
  const last = Math.ceil(all.length / size);
  const headers = last > 1 ? { link: `<http://hub/x?page=${last}>; rel="last"` } : {};
  return { status: 200, body: all.slice((page - 1) * size, page * size).map(commentJson), headers };
}

function openPull({ hub, repository }: At, _parts: readonly string[], { body }: HubRequest): HubAnswer {
  const { head, title, body: text, draft } = body as { head: string; title: string; body: string; draft: boolean };
  if ([...repository.pulls.values()].some(({ headBranch }) => headBranch === head)) {
    return { status: 422, body: { message: "A pull request already exists" } };
  }
  const number = Math.max(0, ...repository.issues.keys()) + 1;
  const user = { login: `${hub.app.slug}[bot]`, type: "Bot" };
  repository.issues.set(number, { number, title, body: text, user, state: "open", labels: [], isPull: true });
  const headSha = repository.refs.get(`heads/${head}`) ?? "";
  repository.pulls.set(number, {
    number,
    headBranch: head,
    headSha,
    headRepository: repository.name,
    draft,
    files: [],
    reviews: [],
  });
  return ok({ number }, 201);
}

function newTree({ repository }: At, _parts: readonly string[], { body }: HubRequest): HubAnswer {
  const { base_tree: base, tree } = body as {
    base_tree: string;
    tree: { path: string; mode: string; type: string; sha: string }[];
  };
  const below = repository.trees.get(repository.commits.get(base)?.tree ?? base);
  if (below === undefined) return notFound;
  const entries = new Map(below);
  for (const { path, mode, type, sha } of tree) entries.set(path, { mode, type, sha });
  return ok({ sha: putTree(repository, entries) }, 201);
}

function refOf(repository: HubRepository, name: string): HubAnswer {
  return given(repository.refs.get(name), (sha) => ({ object: { sha } }));
}

function issueJson({ number, title, body, user, state, labels, isPull }: HubIssue): unknown {
  const pull = isPull ? { pull_request: {} } : {};
  return { number, title, body, user, state, locked: false, labels: labels.map((name) => ({ name })), ...pull };
}

function commentJson({
  id,
  body,
  user,
  app,
}: {
  id: number;
  body: string;
  user: object;
  app: number | undefined;
}): unknown {
  return { id, body, user, performed_via_github_app: app === undefined ? null : { id: app } };
}

function pullJson(repository: HubRepository, { number, headBranch, headSha, headRepository, draft }: HubPull): unknown {
  const state = repository.issues.get(number)?.state ?? "open";
  return { number, state, draft, head: { sha: headSha, ref: headBranch, repo: { full_name: headRepository } } };
}
