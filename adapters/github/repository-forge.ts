// One repository at GitHub: each method of the port is one or two calls of the list in docs/githubbot.md, and what comes back is read by a schema that knows
// only what is needed.
import { z } from "zod";
import { Fault } from "../../contracts/src/fault.ts";
import type { ForgeComment, ForgeIssue, RepositoryForge } from "../../ports/forge.ts";
import { isGone, withReadFaults } from "./github-fault.ts";

/** One request, and what it answered; faults are as the port says. Bodies travel as `data`, so that no member of theirs is taken for an option. */
export type Call = (route: string, parameters?: Parameters) => Promise<Answer>;
interface Parameters {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
}
interface Answer {
  readonly data: unknown;
  readonly link: string | undefined;
}

const user = z.object({ login: z.string(), type: z.string().optional() }).nullish();
const labelNames = z.array(z.union([z.string(), z.object({ name: z.string() })]));
const issueAnswer = z.object({
  number: z.number(),
  title: z.string(),
  body: z.string().nullish(),
  user,
  state: z.string(),
  locked: z.boolean().default(false),
  pull_request: z.unknown().optional(),
  labels: labelNames.default([]),
});
const commentAnswer = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user,
  performed_via_github_app: z.object({ id: z.number() }).nullish(),
});
const pullAnswer = z.object({
  number: z.number(),
  state: z.string(),
  draft: z.boolean().default(false),
  head: z.object({ sha: z.string(), ref: z.string(), repo: z.object({ full_name: z.string() }).nullish() }),
});
const permissionAnswer = z.object({ permission: z.string(), user });
const treeAnswer = z.object({
  tree: z.array(
    z.object({ path: z.string(), mode: z.string(), type: z.string(), sha: z.string(), size: z.number().default(0) }),
  ),
});
const withSha = z.object({ sha: z.string() });
const withId = z.object({ id: z.number() });
const withNumber = z.object({ number: z.number() });

const pagesMax = 3;
const pageSize = 100;

export function openRepository(repository: string, call: Call): RepositoryForge {
  const [owner = "", repo = ""] = repository.split("/");
  const here: Here = (route, more = {}) =>
    call(route.replace(" ", " /repos/{owner}/{repo}"), { ...more, path: { owner, repo, ...more.path } });
  const close = (): Promise<void> => closeBy(call);
  return withReadFaults({ ...threads(here), ...pulls(here, owner), ...objects(here), ...writes(here), close });
}

type Here = Call;

function threads(
  here: Here,
): Pick<RepositoryForge, "facts" | "issue" | "openIssues" | "comments" | "comment" | "labels" | "permission"> {
  return {
    async facts() {
      const { data } = await here("GET ");
      const { default_branch, html_url } = z.object({ default_branch: z.string(), html_url: z.string() }).parse(data);
      return { defaultBranch: default_branch, htmlUrl: html_url };
    },
    async issue(number) {
      return issueOf((await here("GET /issues/{number}", { path: { number } })).data);
    },
    async openIssues() {
      const query = { state: "open", sort: "created", direction: "desc", per_page: pageSize };
      const { data } = await here("GET /issues", { query });
      return z
        .array(z.unknown())
        .parse(data)
        .map(issueOf)
        .filter(({ isPull }) => !isPull);
    },
    async comments(number) {
      const all: ForgeComment[] = [];
      // Their order is oldest first; of a long thread the newest count, so its last pages are read.
      const first = await here("GET /issues/{number}/comments", {
        path: { number },
        query: { per_page: pageSize, page: 1 },
      });
      const last = Math.max(1, lastPage(first.link));
      for (let page = Math.max(1, last - pagesMax + 1); page <= last; page += 1) {
        const { data } =
          page === 1
            ? first
            : await here("GET /issues/{number}/comments", { path: { number }, query: { per_page: pageSize, page } });
        all.push(...z.array(z.unknown()).parse(data).map(commentOf));
      }
      return all;
    },
    async comment(id) {
      const answer = await orGone(here("GET /issues/comments/{id}", { path: { id } }));
      return answer === undefined ? undefined : commentOf(answer.data);
    },
    async labels() {
      const { data } = await here("GET /labels", { query: { per_page: pageSize } });
      return namesOf(labelNames.parse(data));
    },
    async permission(login) {
      const answer = await orGone(here("GET /collaborators/{login}/permission", { path: { login } }));
      if (answer === undefined) return "none";
      const { permission, user: found } = permissionAnswer.parse(answer.data);
      return found?.type === "User" || found?.type === undefined ? permission : "none";
    },
  };
}

function pulls(here: Here, owner: string): Pick<RepositoryForge, "pull" | "pullFiles" | "reviews" | "pullFrom"> {
  return {
    async pull(number) {
      const { data } = await here("GET /pulls/{number}", { path: { number } });
      const { state, draft, head } = pullAnswer.parse(data);
      const headRepository = head.repo?.full_name;
      return {
        number,
        isOpen: state === "open",
        isDraft: draft,
        headSha: head.sha,
        headBranch: head.ref,
        headRepository,
      };
    },
    async pullFiles(number) {
      const { data } = await here("GET /pulls/{number}/files", { path: { number }, query: { per_page: pageSize } });
      const files = z.array(z.object({ filename: z.string(), patch: z.string().optional() })).parse(data);
      return files.map(({ filename, patch }) => ({ path: filename, patch }));
    },
    async reviews(number) {
      const { data } = await here("GET /pulls/{number}/reviews", { path: { number }, query: { per_page: pageSize } });
      return z
        .array(z.object({ body: z.string().nullish() }))
        .parse(data)
        .map(({ body }) => body ?? "");
    },
    async pullFrom(branch) {
      const { data } = await here("GET /pulls", { query: { head: `${owner}:${branch}`, state: "all", per_page: 1 } });
      return z.array(withNumber).parse(data)[0];
    },
  };
}

function objects(here: Here): Pick<RepositoryForge, "isProtected" | "headOf" | "tree" | "blob"> {
  return {
    async isProtected(branch) {
      const { data } = await here("GET /branches/{branch}", { path: { branch } });
      if (z.object({ protected: z.boolean() }).parse(data).protected) return true;
      const rules = await here("GET /rules/branches/{branch}", { path: { branch } });
      const kinds = z.array(z.object({ type: z.string() })).parse(rules.data);
      return kinds.some(({ type }) => type === "pull_request" || type === "update");
    },
    async headOf(branch) {
      const route = branch.startsWith("portcullis-bot/")
        ? "GET /git/ref/heads/portcullis-bot/{name}"
        : "GET /git/ref/heads/{name}";
      const answer = await orGone(here(route, { path: { name: branch.replace(/^portcullis-bot\//, "") } }));
      return answer === undefined ? undefined : z.object({ object: withSha }).parse(answer.data).object.sha;
    },
    async tree(commit) {
      const { data } = await here("GET /git/trees/{commit}", { path: { commit }, query: { recursive: 1 } });
      return treeAnswer.parse(data).tree;
    },
    async blob(sha) {
      const { data } = await here("GET /git/blobs/{sha}", { path: { sha } });
      const { content } = z.object({ content: z.string(), encoding: z.literal("base64") }).parse(data);
      return textOf(Buffer.from(content, "base64"));
    },
  };
}

function writes(
  here: Here,
): Pick<
  RepositoryForge,
  "addLabels" | "createComment" | "updateComment" | "createReview" | "createCommit" | "createBranch" | "createDraft"
> {
  return {
    async addLabels(number, labels) {
      await here("POST /issues/{number}/labels", { path: { number }, body: { labels } });
    },
    async createComment(number, body) {
      return withId.parse((await here("POST /issues/{number}/comments", { path: { number }, body: { body } })).data);
    },
    async updateComment(id, body) {
      await here("PATCH /issues/comments/{id}", { path: { id }, body: { body } });
    },
    async createReview(number, { headSha, body, comments }) {
      const onLines = comments.map((each) => ({ ...each, side: "RIGHT" }));
      const review = { commit_id: headSha, body, event: "COMMENT", comments: onLines };
      return withId.parse((await here("POST /pulls/{number}/reviews", { path: { number }, body: review })).data);
    },
    async createCommit(base, files, message) {
      const tree: unknown[] = [];
      for (const { path, mode, content } of files) {
        const { sha } = withSha.parse((await here("POST /git/blobs", { body: { content, encoding: "utf-8" } })).data);
        tree.push({ path, mode, type: "blob", sha });
      }
      const made = withSha.parse((await here("POST /git/trees", { body: { base_tree: base, tree } })).data);
      const commit = { message, tree: made.sha, parents: [base] };
      return withSha.parse((await here("POST /git/commits", { body: commit })).data);
    },
    async createBranch(branch, sha) {
      await here("POST /git/refs", { body: { ref: `refs/heads/${branch}`, sha } });
    },
    async createDraft({ title, body, branch, base }) {
      const pull = { title, body, head: branch, base, draft: true };
      return withNumber.parse((await here("POST /pulls", { body: pull })).data);
    },
  };
}

/** The token ends by itself within an hour, so one that cannot be ended now is no reason to fail. */
async function closeBy(call: Call): Promise<void> {
  try {
    await call("DELETE /installation/token");
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
  }
}

async function orGone<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

function issueOf(data: unknown): ForgeIssue {
  const { number, title, body, user: author, state, locked, pull_request, labels } = issueAnswer.parse(data);
  return {
    number,
    title,
    body: body ?? "",
    author: author?.login ?? "",
    isOpen: state === "open",
    isLocked: locked,
    isPull: pull_request !== undefined && pull_request !== null,
    labels: namesOf(labels),
  };
}

function commentOf(data: unknown): ForgeComment {
  const { id, body, user: author, performed_via_github_app: app } = commentAnswer.parse(data);
  const isPerson = author?.type === "User" && !author.login.endsWith("[bot]") && (app === null || app === undefined);
  return { id, author: author?.login ?? "", isPerson, body: body ?? "", appId: app?.id };
}

function namesOf(labels: z.infer<typeof labelNames>): readonly string[] {
  return labels.map((label) => (typeof label === "string" ? label : label.name));
}

function lastPage(link: string | undefined): number {
  const last = link?.split(",").find((part) => part.includes('rel="last"'));
  return Number(/[?&]page=(\d{1,6})/.exec(last ?? "")?.[1] ?? 1);
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
