// Routes that are declared as data, mounted: their schemas read the request, their handler answers it, their schemas vouch for the
// answer. A path's other methods are refused by name.
import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { isGatewayOperation } from "../../contracts/src/authority.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { replayHeader } from "../../contracts/src/idempotency.ts";
import type { HttpAnswer, HttpRequest, Listener, Route } from "../../ports/http.ts";
import { attemptSubject } from "../listener/attempt-subject.ts";
import { shownBy } from "./bearer.ts";
import { bodyBytesMaxOf, boundOf } from "./body/bound.ts";
import { mountByteIntake } from "./body/byte-intake.ts";
import { mountIntake, sendIntakeRefusal } from "./body/intake.ts";
import { beyondError } from "./body/refuse-beyond.ts";
import { judgeTypedText } from "./body/typed-text.ts";
import { addressOf } from "./caller-address.ts";
import { askedUnder, handleOnce, readKey } from "./conditions/keyed-requests.ts";
import { isNotModified } from "./conditions/not-modified.ts";
import { isPreflight, sendPreflight } from "./cross-origin.ts";
import { deprecationHeaders } from "./deprecation.ts";
import { detailOf, fieldErrors } from "./field-errors.ts";
import type { HttpPorts } from "./http-ports.ts";
import { accessToNothing, type IdentityGuard, isForAnyone } from "./identity-guard.ts";
import type { MakeAttemptLimit } from "./limits/attempt-limits.ts";
import type { HttpLimits } from "./limits/limits.ts";
import { inputProblem, transportProblem } from "./problem.ts";
import { encodingRefusal, hasBody, type Input, readInput } from "./read-input.ts";
import { contextOf, sendAnswer, sendProblem, sendThrown } from "./replies.ts";
import { loggedPath, type RouteFacts, type TurnOf } from "./route-facts.ts";
import { isStream, sendStream } from "./send-stream.ts";

interface RouteParts {
  readonly listener: Listener;
  readonly ports: HttpPorts;
  readonly guard: IdentityGuard;
  readonly makeLimit: MakeAttemptLimit;
  readonly limits: Pick<HttpLimits, "bodyBytesMax">;
  /** Aborts when the listener begins to drain. */
  readonly draining: AbortSignal;
  readonly turnOf: TurnOf;
}

/** Every method that Node parses, so that each is refused by us and none by the router's silence. */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    // CONNECT never reaches a router: Node closes such a connection.
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

export function mountRoutes(app: FastifyInstance, routes: readonly Route[], parts: RouteParts): void {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
    mountRoute(app, route, parts);
  }
  for (const [path, siblings] of byPath) refuseOtherMethods(app, path, siblings, parts.listener);
}

function mountRoute(app: FastifyInstance, route: Route, parts: RouteParts): void {
  if (route.path.includes(":") && route.params === undefined) {
    throw new Defect(`The route ${route.id} has parameters in its path and no schema for them.`);
  }
  const attempts = attemptsOf(route, parts);
  const leaving = deprecationHeaders(route);
  const refuseBody = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (hasBody(request.headers)) {
      const reported = inputProblem([{ field: "body", expected: "none" }], contextOf(request, parts.listener));
      return sendProblem(reply, reported);
    }
    // Some clients name the type of the body that they do not send, and the library would then look for one.
    delete request.raw.headers["content-type"];
    return undefined;
  };
  const refuseEncoded = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const detail = encodingRefusal(request.headers);
    if (detail === undefined) return undefined;
    reply.header("accept-encoding", "identity");
    return sendProblem(reply, transportProblem(415, contextOf(request, parts.listener), detail));
  };
  const body = route.body === undefined ? undefined : boundOf(route.body, `The body of ${route.id}`);
  const bodyFacts = body === undefined ? {} : { body };
  const mounted: RouteOptions = {
    method: route.method,
    url: patternOf(route.path),
    config: { facts: { access: route.operation, ...attempts, ...costOf(route, parts.listener), ...bodyFacts } },
    ...(body === undefined ? {} : { bodyLimit: Math.min(bodyBytesMaxOf(body), parts.limits.bodyBytesMax) }),
    onRequest: body === undefined ? refuseBody : refuseEncoded,
    errorHandler: (error, request, reply) => {
      if (beyondError(error) !== undefined) refusalReporter(route, request, parts)("INVALID_ARGUMENT", error.message);
      sendThrown(error, request, reply, parts.listener, parts.ports);
    },
    handler: (request, reply) => answer(route, request, reply.headers(leaving), parts),
  };
  if (route.byteIntake !== undefined) mountByteIntake(app, route.byteIntake, mounted, parts);
  else if (route.intake === undefined) app.route(mounted);
  else mountIntake(app, route.intake, mounted, parts);
}

function costOf({ publicCost }: Pick<Route, "publicCost">, listener: Listener): Pick<RouteFacts, "publicCost"> {
  return listener === "public" && publicCost !== undefined ? { publicCost } : {};
}

const restParameter = /:(\w+)\*$/;

/** The router calls what takes the rest of a path a star, and gives it no name. */
function patternOf(path: string): string {
  return path.replace(restParameter, "*");
}

function paramsOf(path: string, params: unknown): unknown {
  const name = restParameter.exec(path)?.[1];
  if (name === undefined) return params;
  const { "*": rest, ...others } = params as Readonly<Record<string, unknown>>;
  return { ...others, [name]: rest };
}

/** Where a login is asked for, people are counted and not addresses, so that nobody can use up another's attempts. */
function attemptsOf(route: Route, { makeLimit, guard }: RouteParts): Pick<RouteFacts, "attempts" | "personAttempts"> {
  const { attemptsPerMinuteMax, operation } = route;
  if (attemptsPerMinuteMax === undefined) return {};
  if (isForAnyone(operation)) return { attempts: makeLimit(attemptsPerMinuteMax) };
  return { personAttempts: makeLimit(attemptsPerMinuteMax, (request) => guard.identityOf(request)?.subject) };
}

export function refuseOtherMethods(
  app: FastifyInstance,
  path: string,
  siblings: readonly Pick<Route, "method" | "operation" | "publicCost">[],
  listener: Listener,
): void {
  const methods = new Set(siblings.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])));
  const allow = [...methods].sort().join(", ");
  // Refused before the body is read, so that a wrong method is reported as such whatever it sent.
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (listener === "public" && methods.has("GET") && isPreflight(request)) return sendPreflight(reply);
    return sendProblem(reply.header("allow", allow), transportProblem(405, contextOf(request, listener)));
  };
  const [cost = {}] = siblings.map((route) => costOf(route, listener));
  const open = siblings.some(({ operation }) => isForAnyone(operation));
  app.route({
    method: app.supportedMethods.filter((method) => !methods.has(method)),
    url: patternOf(path),
    config: { facts: { access: open ? accessToNothing(listener) : "anyone with a token", ...cost } },
    onRequest: refuse,
    handler: refuse,
  });
}

async function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { listener, ports, guard, draining, turnOf }: RouteParts,
): Promise<FastifyReply> {
  const context = contextOf(request, listener);
  const tell = refusalReporter(route, request, { ports, guard });
  const { sent, errors } = judgeTypedText(route, guard.identityOf(request), request);
  const read =
    errors.length > 0
      ? { ok: false as const, errors }
      : readInput(route, { ...sent, params: paramsOf(route.path, request.params) });
  if (!read.ok) {
    const detail = detailOf(read.errors);
    tell("INVALID_ARGUMENT", detail);
    if (route.intake !== undefined) {
      return sendIntakeRefusal(route.intake, { status: 400, detail }, request, reply, listener);
    }
    return sendProblem(reply, inputProblem(read.errors, context));
  }
  const keyed = readKey(route, listener, request.headers);
  if ("errors" in keyed) return sendProblem(reply, inputProblem(keyed.errors, context));
  const replayed = (): void => void reply.header(replayHeader, "true");
  const key = keyed.key === undefined ? undefined : askedUnder(keyed.key, route, read.input.params, replayed);
  const fields = { listener, method: route.method, route: route.path, request_id: request.id };
  const given = await ports.tracer.span(`${route.method} ${route.path}`, fields, () =>
    tellingRefusals(route, tell, () =>
      handleOnce(route, asked(request, inputOf(route, read.input, request), guard, key), ports),
    ),
  );
  // An answer may be as long as the work for it.
  await turnOf(request);
  if (reply.sent) {
    if (isStream(given.body)) given.body.close();
    return reply;
  }
  const promised = vouched(route, given);
  if (isStream(promised.body)) return sendStream(reply, promised, promised.body, { draining, log: ports.log });
  // What was changed is answered as itself: that it is as the caller has it would say that nothing was done.
  if (route.method === "GET" && isNotModified(promised, request.headers["if-none-match"])) {
    return reply
      .code(304)
      .headers({ ...promised.headers })
      .send();
  }
  return sendAnswer(reply, promised, context);
}

/** Bytes are handed on as the reader that saw them. */
function inputOf({ byteIntake }: Route, input: Input, { body }: FastifyRequest): Input {
  return byteIntake === undefined ? input : { ...input, body };
}

type TellRefused = (code: string, reason: string) => void;

function refusalReporter(
  { operation }: Route,
  request: FastifyRequest,
  { ports, guard }: Pick<RouteParts, "ports" | "guard">,
): TellRefused {
  return (code, reason) => {
    const identity = guard.identityOf(request);
    if (identity?.kind !== "operator") return;
    const about = attemptSubject(request.params) ?? attemptSubject(request.body);
    ports.tellRefusal?.({ identity, operation, target: loggedPath(request), about, code, reason });
  };
}

/** Services tell of what they refuse; what the gateway refuses by itself is reported here. */
async function tellingRefusals(
  route: Route,
  tell: TellRefused,
  run: () => HttpAnswer | Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  if (!isGatewayOperation(route.operation)) return run();
  try {
    const given = await run();
    const { code, detail } = (given.status >= 400 ? given.body : {}) as {
      readonly code?: string;
      readonly detail?: string;
    };
    if (code !== undefined) tell(code, detail ?? "");
    return given;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.retry === "never") tell(thrown.code, thrown.message);
    throw thrown;
  }
}

function asked(
  request: FastifyRequest,
  input: Input,
  guard: IdentityGuard,
  idempotency: HttpRequest["idempotency"],
): HttpRequest {
  // The proof has been read; whoever passes it on has to ask for it by name, so that no copy of the headers leaks it.
  const { authorization: _, ...headers } = request.headers;
  const identity = guard.identityOf(request);
  return {
    ...input,
    requestId: request.id,
    identity,
    bearer: () => (identity === undefined ? undefined : tokenShownBy(request)),
    remoteAddress: addressOf(request),
    headers,
    idempotency,
  };
}

function tokenShownBy(request: FastifyRequest): string | undefined {
  const shown = shownBy(request.raw);
  return shown.kind === "token" ? shown.token : undefined;
}

/** An answer is what its route promises or it is not sent: fields that nobody declared stay inside, and OpenAPI stays true. */
function vouched(route: Route, given: HttpAnswer): HttpAnswer {
  if (given.status >= 400) return given;
  const promised = route.answers[given.status];
  const complain = (what: string): Error =>
    new Error(`The route ${route.id} answered ${given.status} with what it does not promise: ${what}`);
  if (promised === undefined) throw complain("that status is not declared");
  if (route.follows === true && isStream(given.body)) return given;
  if (route.document === true && given.body instanceof Uint8Array) return given;
  if (promised === "text" || promised === "html" || promised === "css") {
    if (typeof given.body === "string") return given;
    throw complain("expected text");
  }
  if (promised === "events") {
    if (isStream(given.body)) return given;
    throw complain("expected a stream");
  }
  if (promised === "bytes") {
    if (given.body instanceof Uint8Array) return given;
    throw complain("expected bytes");
  }
  const result = promised.safeParse(given.body);
  if (!result.success) throw complain(detailOf(fieldErrors("answer", result.error.issues, given.body)));
  return { ...given, body: result.data as object };
}
