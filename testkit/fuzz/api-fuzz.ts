// Sends requests of every described operation and holds each answer against its description: no failure of ours but an honest 503, no answer that is not
// described, nothing accepted that the description refuses. The same seed asks the same.
import { setTimeout as sleep } from "node:timers/promises";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { type FuzzedOperation, operationsOf } from "./documents.ts";
import { type FuzzedRequest, rightRequest, wrongRequest } from "./requests.ts";
import { type Making, pick, type Random, Reported, seededRandom } from "./values.ts";

export interface FuzzOptions {
  readonly operatorUrl: string;
  readonly publicUrl: string;
  /** A new token of a development operator. */
  readonly logIn: (name: string) => Promise<string>;
  readonly requests: number;
  readonly seed: number;
  /** Asks what only reads, by nobody who may do more. */
  readonly readsOnly?: boolean;
  readonly say?: (line: string) => void;
}

export interface FuzzResult {
  readonly seed: number;
  readonly requests: number;
  readonly operations: number;
  /** Operations that got a right request and a wrong one, and answered both. */
  readonly operations_covered: number;
  readonly by_status: Readonly<Record<string, number>>;
  readonly violations: readonly FuzzViolation[];
}

export interface FuzzViolation {
  readonly operation: string;
  readonly request: string;
  readonly status: number;
  readonly why: string;
}

const inFlightMax = 8;
const violationsMax = 100;
const answerMsMax = 60_000;
/** From this many on there is time for a restart of every service; it takes seconds in which the answer is an honest 503. */
const restartFrom = 20_000;

/** What would end the run's own login or stop the services: sent with rights that do not suffice, and once in a long run with those that do. */
const disruptive = /^(?:operator )(?:restartServices|beginAuditAnew|cosignAuditAnew)$/;

export async function fuzzApi(options: FuzzOptions): Promise<FuzzResult> {
  const run = await begin(options);
  const workers = Array.from({ length: inFlightMax }, async () => {
    for (let plan = run.next(); plan !== undefined; plan = run.next()) await run.send(plan);
  });
  await Promise.all(workers);
  return run.result();
}

interface Plan {
  readonly operation: FuzzedOperation;
  readonly request: FuzzedRequest;
  readonly caller: "duty" | "viewer" | "nobody" | "forged";
}

async function begin(options: FuzzOptions) {
  const { operatorUrl, publicUrl, requests, seed, logIn, say, readsOnly = false } = options;
  const random = seededRandom(seed);
  const reported = new Reported();
  const all = [...(await operationsOf(operatorUrl, "operator")), ...(await operationsOf(publicUrl, "public"))];
  const operations = readsOnly ? all.filter(({ method }) => method === "GET") : all;
  const tokens = { duty: await logIn("duty"), viewer: await logIn("viewer") };
  const renewals = new Map<string, Promise<void>>();
  const covered = { right: new Set<string>(), wrong: new Set<string>() };
  const byStatus: Record<string, number> = {};
  const violations: FuzzViolation[] = [];
  let sent = 0;

  const next = (): Plan | undefined => {
    if (sent >= requests) return undefined;
    const round = Math.floor(sent / operations.length);
    const operation = operations[sent % operations.length] as FuzzedOperation;
    sent += 1;
    if (sent % 5_000 === 0) say?.(`${sent} of ${requests} sent, ${violations.length} violations`);
    const mayDisrupt = sent > restartFrom && sent <= restartFrom + operations.length;
    const plan = planned(operation, round, { random, schemas: operation.schemas, reported }, mayDisrupt);
    return readsOnly && plan.caller === "duty" ? { ...plan, caller: "viewer" } : plan;
  };
  const renew = (name: "duty" | "viewer"): Promise<void> => {
    const running = renewals.get(name) ?? logInAgain(name);
    renewals.set(name, running);
    return running;
  };
  const logInAgain = async (name: "duty" | "viewer"): Promise<void> => {
    tokens[name] = await logIn(name).catch(() => tokens[name]);
    renewals.delete(name);
  };
  const send = async (plan: Plan): Promise<void> => {
    const { operation, request, caller } = plan;
    const complain = (status: number, why: string): void => {
      if (violations.length >= violationsMax) return;
      const violation = { operation: operation.name, request: shown(request), status, why };
      violations.push(violation);
      // At once: a long run need not be waited for.
      say?.(JSON.stringify(violation));
    };
    const token = caller === "forged" ? "eyJhbGciOiJub25lIn0.e30." : caller === "nobody" ? undefined : tokens[caller];
    const answer = await asked(request, token, operation.isStream).catch((thrown: unknown) => String(thrown));
    if (typeof answer === "string") {
      complain(0, `no answer: ${answer}`);
      return;
    }
    byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1;
    (request.wrong === undefined ? covered.right : covered.wrong).add(operation.name);
    const why = complaintAbout(plan, answer);
    if (why !== undefined) complain(answer.status, why);
    if (answer.status === 401 && (caller === "duty" || caller === "viewer")) await renew(caller);
    if (answer.status < 300 && /json/.test(answer.type)) reported.hear(parsed(answer.text));
    // What is away for a moment is not asked eight times at once.
    if (answer.status === 503) await sleep(50);
  };
  const result = (): FuzzResult => ({
    seed,
    requests: sent,
    operations: operations.length,
    operations_covered: operations.filter(({ name }) => covered.right.has(name) && covered.wrong.has(name)).length,
    by_status: byStatus,
    violations,
  });
  return { next, send, result };
}

/** Right and wrong in turn, so that every operation gets both early. */
function planned(operation: FuzzedOperation, round: number, making: Making, mayDisrupt: boolean): Plan {
  const isRight = round === 0 || (round !== 1 && making.random() < 0.55);
  const request = isRight ? rightRequest(operation, making) : wrongRequest(operation, making);
  return { operation, request, caller: callerFor(operation, making.random, mayDisrupt) };
}

function callerFor(operation: FuzzedOperation, random: Random, mayDisrupt: boolean): Plan["caller"] {
  if (disruptive.test(operation.name) && !mayDisrupt) return "viewer";
  if (!operation.needsToken) return "nobody";
  return random() < 0.85 ? "duty" : pick(random, ["viewer", "nobody", "forged"] as const);
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function asked(request: FuzzedRequest, token: string | undefined, isStream: boolean): Promise<Answer> {
  const init = {
    method: request.method,
    headers: { ...request.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: AbortSignal.timeout(answerMsMax),
  };
  const response = await fetchOnNewConnection(request.url, init);
  const type = response.headers.get("content-type") ?? "";
  if ((isStream || type.startsWith("application/x-ndjson")) && response.status < 300) {
    await response.body?.cancel();
    return { status: response.status, type, text: "" };
  }
  return { status: response.status, type, text: await response.text() };
}

function complaintAbout({ operation, request, caller }: Plan, { status, type, text }: Answer): string | undefined {
  if (status >= 500 && status !== 503) return `a failure of ours: ${text.slice(0, 300)}`;
  if (
    operation.needsToken &&
    (caller === "nobody" || caller === "forged") &&
    request.method === operation.method &&
    status < 400
  ) {
    return "answered a caller who proved nothing";
  }
  // What was asked of another path or method is described there or nowhere; only its form is held to.
  const isSame = request.method === operation.method && request.wrong !== "a path that is nowhere";
  if (isSame && request.mustFail && status < 300 && !saysNo(text)) return `accepted ${request.wrong}`;
  if (isSame && status !== 404 && status !== 405) return operation.complaint(status, type, text);
  return status >= 400 && !type.startsWith("application/problem+json") ? `${status} came as ${type}` : undefined;
}

/** A test of an alert answers what would become of it, as data. */
function saysNo(text: string): boolean {
  return (parsed(text) as { readonly would_accept?: unknown } | null | undefined)?.would_accept === false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // It was held against its description already.
    return undefined;
  }
}

function shown({ method, url, body, wrong }: FuzzedRequest): string {
  return `${method} ${url.slice(0, 300)} ${body?.slice(0, 300) ?? ""}${wrong === undefined ? "" : ` (${wrong})`}`;
}
