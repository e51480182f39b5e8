// Answers for a GitHub of our own as GitHub does: it knows who asks, what their token may, and which of its routes is meant. What it does not know is a 404.
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { atRepository } from "./github-repository.ts";
import type { HubAnswer, HubFault, HubRequest, HubState } from "./github-state.ts";

/** Undefined where the answer is lost. */
export function handle(hub: HubState, request: HubRequest): HubAnswer | undefined {
  const found = hub.faults.findIndex(({ when }) => when(request));
  const fault = found < 0 ? undefined : hub.faults.splice(found, 1)[0]?.fault;
  const answer = fault === undefined || fault === "lost" ? routed(hub, request) : failed(fault);
  hub.requests.push({ ...request, status: answer?.status ?? 0 });
  return fault === "lost" ? undefined : answer;
}

function failed(fault: HubFault): HubAnswer | undefined {
  if (fault === "down") return undefined;
  if (fault === "secondary") {
    return {
      status: 403,
      body: { message: "You have exceeded a secondary rate limit." },
      headers: { "retry-after": "120" },
    };
  }
  if (fault === "primary") {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.floor(Date.now() / 1_000) + 600) };
    return { status: 403, body: { message: "API rate limit exceeded" }, headers };
  }
  return { status: Number(fault), body: { message: `failed ${String(fault)}` } };
}

function routed(hub: HubState, request: HubRequest): HubAnswer {
  const [, first] = request.path.split("/");
  if (first === "repos") return asRepository(hub, request);
  if (request.path === "/installation/token" && request.method === "DELETE") {
    const token = tokenOf(hub, request);
    if (token === undefined) return { status: 401, body: { message: "Bad credentials" } };
    token.isEnded = true;
    return { status: 204 };
  }
  if (!isApp(hub, request.authorization))
    return { status: 401, body: { message: "A JSON web token could not be decoded" } };
  return asApp(hub, request);
}

function asApp(hub: HubState, { method, path, query, body }: HubRequest): HubAnswer {
  const { app, installation } = hub;
  if (method === "GET" && path === "/app") {
    const { id, slug, permissions, events } = app;
    return { status: 200, body: { id, slug, permissions, events } };
  }
  if (method === "GET" && path === `/orgs/${installation.org}/installation`) {
    const { id, permissions, events, suspendedAt } = installation;
    return { status: 200, body: { id, permissions, events, suspended_at: suspendedAt } };
  }
  if (method === "PATCH" && path === "/app/hook/config") {
    hub.hook = { ...hub.hook, ...(body as object) };
    return { status: 200, body: { ...hub.hook, secret: "********" } };
  }
  if (method === "GET" && path === "/app/hook/deliveries") {
    const from = Number(query.get("cursor") ?? 0);
    const size = Number(query.get("per_page") ?? 30);
    const rows = hub.deliveries.slice(from, from + size);
    const next =
      from + size < hub.deliveries.length
        ? { link: `<http://hub/app/hook/deliveries?cursor=${from + size}>; rel="next"` }
        : {};
    return { status: 200, body: rows, headers: next };
  }
  const attempt = /^\/app\/hook\/deliveries\/(\d+)\/attempts$/.exec(path);
  if (method === "POST" && attempt !== null) {
    return hub.deliveries.some(({ id }) => id === Number(attempt[1]))
      ? { status: 202, body: {} }
      : { status: 404, body: {} };
  }
  if (method === "POST" && path === `/app/installations/${installation.id}/access_tokens`) return newToken(hub, body);
  return { status: 404, body: { message: "Not Found" } };
}

function newToken(hub: HubState, body: unknown): HubAnswer {
  if (hub.installation.suspendedAt !== null)
    return { status: 403, body: { message: "This installation has been suspended" } };
  const { repositories, permissions } = body as { repositories: string[]; permissions: Record<string, string> };
  const repository = `${hub.installation.org}/${repositories[0]}`;
  if (!hub.repositories.has(repository)) return { status: 422, body: { message: "no such repository" } };
  const may = (name: string, how: string): boolean =>
    hub.installation.permissions[name] === how || hub.installation.permissions[name] === "write";
  if (!Object.entries(permissions).every(([name, how]) => may(name, how)))
    return { status: 422, body: { message: "permissions" } };
  // The newer form: a signed token inside.
  const token = `ghs_${hub.app.id}_${randomBytes(380).toString("base64url")}`;
  hub.tokens.set(token, { repository, permissions, isEnded: false });
  return { status: 201, body: { token, expires_at: "2030-01-01T00:00:00Z", permissions } };
}

function asRepository(hub: HubState, request: HubRequest): HubAnswer {
  const token = tokenOf(hub, request);
  if (token === undefined || token.isEnded) return { status: 401, body: { message: "Bad credentials" } };
  const [, , owner, name, ...rest] = request.path.split("/").map(decodeURIComponent);
  const repository = hub.repositories.get(`${owner}/${name}`);
  if (repository === undefined || token.repository !== repository.name)
    return { status: 404, body: { message: "Not Found" } };
  return atRepository({ hub, repository, may: (what, how) => allows(token.permissions, what, how) }, request, rest);
}

function allows(permissions: Readonly<Record<string, string>>, what: string, how: "read" | "write"): boolean {
  return permissions[what] === "write" || permissions[what] === how;
}

function tokenOf(hub: HubState, { authorization }: HubRequest) {
  return hub.tokens.get(authorization.replace(/^(token|bearer) /i, ""));
}

function isApp(hub: HubState, authorization: string): boolean {
  const [head, claims, signature] = authorization.replace(/^bearer /i, "").split(".");
  if (head === undefined || claims === undefined || signature === undefined) return false;
  const isSigned = verify(
    "RSA-SHA256",
    Buffer.from(`${head}.${claims}`),
    createPublicKey(hub.app.publicKey),
    Buffer.from(signature, "base64url"),
  );
  const { iss, exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { iss: unknown; exp: number };
  return isSigned && String(iss) === String(hub.app.id) && exp * 1_000 > Date.now();
}
