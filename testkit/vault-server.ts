// A small HashiCorp Vault for tests: the KV version 2 engine at `secret/`, AppRole and token authentication, as the public API
// documentation and the engine's own source describe them. Leases run out by the clock that is handed in. What a real
// server does when it is unwell (sealed, limited, silent, cut off after the work was done) can be asked for.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";

export interface VaultServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** What a login grants; 3600 when absent. */
  readonly leaseS?: number;
  /** A login's token cannot be renewed beyond this age; 0 (or absent) is no limit. */
  readonly leaseMaxS?: number;
  /** Whether a login's token can be renewed; true when absent. */
  readonly renewable?: boolean;
  /** When given, requests must carry it in X-Vault-Namespace. */
  readonly namespace?: string;
  readonly casRequired?: boolean;
}

/** A status answers with it; the words stand for what happens on the wire. */
export type Misbehaviour = number | "silent" | "cut off" | "cut off after the work" | "huge" | "not JSON" | "redirect";

export interface VaultRequest {
  readonly method: string;
  /** With the query, without `/v1/`. */
  readonly path: string;
  readonly token: string;
}

export interface VaultServer {
  readonly address: string;
  readonly rootToken: string;
  readonly roleId: string;
  readonly secretId: string;
  readonly requests: readonly VaultRequest[];
  issueToken(lease: { readonly leaseS: number; readonly renewable: boolean }): string;
  /** Ends every token but the root token. */
  revokeAll(): void;
  seal(): void;
  unseal(): void;
  /** The next `count` requests whose path contains `matching` are answered with 429. */
  limitRate(count: number, matching?: string): void;
  misbehave(how: Misbehaviour, count: number, matching?: string): void;
  /** Paths that begin so are forbidden to all but the root token. */
  forbid(pathPrefix: string): void;
  /** From now on a login refuses these credentials. */
  refuseLogins(): void;
  stop(): Promise<void>;
}

interface Token {
  readonly expiresAtUs: number | undefined;
  readonly issuedAtUs: number;
  readonly leaseS: number;
  readonly leaseMaxS: number;
  readonly renewable: boolean;
}

interface Version {
  readonly data: unknown;
  readonly createdTime: string;
  readonly deletionTime: string;
  readonly destroyed: boolean;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const versionsMax = 10;
const bodyBytesMax = 32 * 1024 * 1024;
const errors = (status: number, ...messages: string[]): Answer => ({ status, body: { errors: messages } });
const forbidden = errors(403, "1 error occurred:\n\t* permission denied\n\n");

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function envelope(part: { readonly data?: unknown; readonly auth?: unknown }): unknown {
  const lease = { lease_id: "", renewable: false, lease_duration: 0 };
  return { ...lease, data: null, wrap_info: null, warnings: null, auth: null, ...part };
}

/** The versioned engine: what lies under `secret/`. Keys are paths without the mount. */
function versionedEngine(now: () => string, casRequired: boolean) {
  const secrets = new Map<string, { current: number; versions: Map<number, Version> }>();

  function metadataOf(number: number, version: Version) {
    const { createdTime, deletionTime, destroyed } = version;
    return {
      version: number,
      created_time: createdTime,
      deletion_time: deletionTime,
      destroyed,
      custom_metadata: null,
    };
  }

  function read(key: string, wanted: number): Answer {
    const secret = secrets.get(key);
    const number = wanted > 0 ? wanted : (secret?.current ?? 0);
    const version = secret?.versions.get(number);
    if (version === undefined) return errors(404);
    const isGone = version.destroyed || version.deletionTime !== "";
    const data = { data: isGone ? null : version.data, metadata: metadataOf(number, version) };
    return { status: isGone ? 404 : 200, body: envelope({ data }) };
  }

  function write(key: string, body: unknown): Answer {
    const data = isRecord(body) ? body["data"] : undefined;
    if (!isRecord(data)) return errors(400, "no data provided");
    const secret = secrets.get(key) ?? { current: 0, versions: new Map<number, Version>() };
    const options = isRecord(body) && isRecord(body["options"]) ? body["options"] : {};
    if ("cas" in options) {
      if (options["cas"] !== secret.current) {
        return errors(400, "check-and-set parameter did not match the current version");
      }
    } else if (casRequired) return errors(400, "check-and-set parameter required for this call");
    secret.current += 1;
    const version: Version = { data, createdTime: now(), deletionTime: "", destroyed: false };
    secret.versions.set(secret.current, version);
    secret.versions.delete(secret.current - versionsMax);
    secrets.set(key, secret);
    return { status: 200, body: envelope({ data: metadataOf(secret.current, version) }) };
  }

  function change(key: string, numbers: readonly number[], make: (version: Version) => Version): Answer {
    const secret = secrets.get(key);
    for (const number of numbers) {
      const version = secret?.versions.get(number);
      if (version !== undefined) secret?.versions.set(number, make(version));
    }
    return { status: 204 };
  }

  function list(folder: string): Answer {
    const prefix = folder === "" ? "" : `${folder.replace(/\/$/, "")}/`;
    const keys = new Set<string>();
    for (const key of secrets.keys()) {
      if (!key.startsWith(prefix)) continue;
      const [first = "", ...rest] = key.slice(prefix.length).split("/");
      keys.add(rest.length > 0 ? `${first}/` : first);
    }
    return keys.size === 0 ? errors(404) : { status: 200, body: envelope({ data: { keys: [...keys].sort() } }) };
  }

  return function handle(method: string, path: string, query: URLSearchParams, body: unknown): Answer {
    const [, verb = "", key = ""] = /^([a-z]+)\/(.*)$/.exec(path) ?? [];
    if (key.endsWith(".")) return errors(404, "unsupported path");
    const isWrite = method === "POST" || method === "PUT";
    // Node's HTTP parser does not know the verb LIST; this is its documented synonym.
    const isList = method === "GET" && query.get("list") === "true";
    const named = isRecord(body) && Array.isArray(body["versions"]) ? body["versions"].map(Number) : [];
    if (verb === "data" && method === "GET") return read(key, Number(query.get("version") ?? "0"));
    if (verb === "data" && isWrite) return write(key, body);
    if (verb === "data" && method === "DELETE") {
      return change(key, [secrets.get(key)?.current ?? 0], (version) => ({ ...version, deletionTime: now() }));
    }
    if (verb === "undelete" && isWrite) return change(key, named, (version) => ({ ...version, deletionTime: "" }));
    if (verb === "destroy" && isWrite) {
      return change(key, named, (version) => ({ ...version, data: null, destroyed: true }));
    }
    if (verb === "metadata" && isList) return list(key);
    if (verb === "metadata" && method === "DELETE") {
      secrets.delete(key);
      return { status: 204 };
    }
    return errors(405, "unsupported operation");
  };
}

/** Tokens and their leases. */
function tokenStore(options: VaultServerOptions) {
  const tokens = new Map<string, Token>();
  const nowUs = () => options.clock.now();

  function issue(lease: { leaseS: number; renewable: boolean; leaseMaxS?: number } | undefined): string {
    const id = `hvs.${options.random.uuid()}`;
    const issuedAtUs = nowUs();
    const expiresAtUs = lease === undefined ? undefined : issuedAtUs + lease.leaseS * 1e6;
    const { leaseS = 0, leaseMaxS = 0, renewable = false } = lease ?? {};
    tokens.set(id, { expiresAtUs, issuedAtUs, leaseS, leaseMaxS, renewable });
    return id;
  }

  function find(id: string): Token | undefined {
    const token = tokens.get(id);
    if (token?.expiresAtUs !== undefined && token.expiresAtUs <= nowUs()) tokens.delete(id);
    return tokens.get(id);
  }

  function leftS(token: Token): number {
    return token.expiresAtUs === undefined ? 0 : Math.floor((token.expiresAtUs - nowUs()) / 1e6);
  }

  function authOf(id: string, token: Token): unknown {
    const auth = { client_token: id, policies: ["default", "portcullis"], metadata: null, renewable: token.renewable };
    return envelope({ auth: { ...auth, lease_duration: leftS(token) } });
  }

  function renew(id: string, token: Token): Answer {
    if (!token.renewable || token.expiresAtUs === undefined) return errors(400, "lease is not renewable");
    const wishedUs = nowUs() + token.leaseS * 1e6;
    const limitUs = token.leaseMaxS === 0 ? wishedUs : token.issuedAtUs + token.leaseMaxS * 1e6;
    const renewed = { ...token, expiresAtUs: Math.min(wishedUs, limitUs) };
    tokens.set(id, renewed);
    return { status: 200, body: authOf(id, renewed) };
  }

  return { tokens, issue, find, leftS, authOf, renew };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk as Buffer);
  }
  try {
    return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    // A body that is not JSON is answered like one that is missing.
    return undefined;
  }
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}

/** Behaves badly instead of answering. */
function spoil(response: ServerResponse, how: Misbehaviour): void {
  if (typeof how === "number") {
    const headers: Readonly<Record<string, string>> = how === 429 ? { "retry-after": "0" } : {};
    send(response, { ...errors(how, `asked to answer ${how}`), headers });
  } else if (how === "huge") {
    send(response, { status: 200, body: { data: { keys: ["x".repeat(8 * 1024 * 1024)] } } });
  } else if (how === "redirect") {
    send(response, { status: 307, headers: { location: "http://127.0.0.1:9/v1/" } });
  } else if (how === "not JSON") {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html>A proxy that says s3cret things</html>");
  } else if (how !== "silent") response.destroy();
}

/** What the test can change while the server runs. */
interface Mood {
  sealed: boolean;
  loginsRefused: boolean;
  readonly forbiddenPrefixes: string[];
  readonly spoilers: { how: Misbehaviour; left: number; matching: string }[];
}

interface Asked {
  readonly method: string;
  /** Without `/v1/` and the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string;
  readonly namespace: string;
  readonly body: unknown;
}

interface Credentials {
  readonly rootToken: string;
  readonly roleId: string;
  readonly secretId: string;
}

type Tokens = ReturnType<typeof tokenStore>;

/** The routes that this server knows. */
function router(options: VaultServerOptions, tokens: Tokens, credentials: Credentials, mood: Mood) {
  const { leaseS = 3600, leaseMaxS = 0, renewable = true } = options;
  const now = () => new Date(options.clock.now() / 1000).toISOString();
  const engine = versionedEngine(now, options.casRequired === true);

  function login(body: unknown): Answer {
    const { roleId, secretId } = credentials;
    const isRight = isRecord(body) && body["role_id"] === roleId && body["secret_id"] === secretId;
    if (!isRight || mood.loginsRefused) return errors(400, "invalid role or secret ID");
    const id = tokens.issue({ leaseS, leaseMaxS, renewable });
    const token = tokens.find(id);
    return token === undefined ? errors(500, "no token") : { status: 200, body: tokens.authOf(id, token) };
  }

  return function answer(asked: Asked): Answer {
    const { method, path } = asked;
    const noRoute = errors(404, `no handler for route "${path}". route entry not found.`);
    if (mood.sealed) return errors(503, "Vault is sealed");
    if (options.namespace !== undefined && asked.namespace !== options.namespace) return noRoute;
    if (path === "auth/approle/login" && method === "POST") return login(asked.body);
    const token = tokens.find(asked.token);
    if (token === undefined) return forbidden;
    if (path === "auth/token/lookup-self" && method === "GET") {
      const data = { id: asked.token, ttl: tokens.leftS(token), renewable: token.renewable, policies: ["portcullis"] };
      return { status: 200, body: envelope({ data }) };
    }
    if (path === "auth/token/renew-self" && method === "POST") return tokens.renew(asked.token, token);
    if (path === "auth/token/revoke-self" && method === "POST") {
      tokens.tokens.delete(asked.token);
      return { status: 204 };
    }
    const isRoot = asked.token === credentials.rootToken;
    if (!isRoot && mood.forbiddenPrefixes.some((prefix) => path.startsWith(prefix))) return forbidden;
    if (path.startsWith("secret/")) return engine(method, path.slice("secret/".length), asked.query, asked.body);
    return noRoute;
  };
}

export async function startVaultServer(options: VaultServerOptions): Promise<VaultServer> {
  const tokens = tokenStore(options);
  const credentials: Credentials = {
    rootToken: tokens.issue(undefined),
    roleId: options.random.uuid(),
    secretId: options.random.uuid(),
  };
  const mood: Mood = { sealed: false, loginsRefused: false, forbiddenPrefixes: [], spoilers: [] };
  const answer = router(options, tokens, credentials, mood);
  const requests: VaultRequest[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://vault");
    const path = url.pathname.replace(/^\/v1\//, "");
    const method = request.method ?? "";
    const token = String(request.headers["x-vault-token"] ?? "");
    const namespace = String(request.headers["x-vault-namespace"] ?? "");
    requests.push({ method, path: path + url.search, token });
    const body = await bodyOf(request);
    const spoiler = mood.spoilers.find((one) => one.left > 0 && path.includes(one.matching));
    if (spoiler !== undefined) spoiler.left -= 1;
    if (spoiler !== undefined && spoiler.how !== "cut off after the work") {
      spoil(response, spoiler.how);
      return;
    }
    const said = answer({ method, path, query: url.searchParams, token, namespace, body });
    if (spoiler === undefined) send(response, said);
    else response.destroy();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    ...credentials,
    requests,
    ...controls(tokens, credentials, mood),
    stop,
  };

  async function stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
}

type Controls = Omit<VaultServer, "address" | "requests" | "stop" | keyof Credentials>;

function controls(tokens: Tokens, credentials: Credentials, mood: Mood): Controls {
  const misbehave = (how: Misbehaviour, count: number, matching = "") => {
    mood.spoilers.push({ how, left: count, matching });
  };
  return {
    issueToken: (lease) => tokens.issue(lease),
    revokeAll() {
      for (const id of tokens.tokens.keys()) if (id !== credentials.rootToken) tokens.tokens.delete(id);
    },
    seal() {
      mood.sealed = true;
    },
    unseal() {
      mood.sealed = false;
    },
    limitRate: (count, matching) => misbehave(429, count, matching),
    misbehave,
    forbid(pathPrefix) {
      mood.forbiddenPrefixes.push(pathPrefix);
    },
    refuseLogins() {
      mood.loginsRefused = true;
    },
  };
}
