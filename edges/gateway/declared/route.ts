// Routes that are declared with their procedures. A route is forwarded: what was asked becomes the message, the service answers, and what the HTTP
// answer has of it is declared as well. A route with behaviour of its own takes its place, schemas and message from the same declaration.
import type { DeclaredRoute } from "../../../contracts/src/declared.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { type DeclaredRouteId, declaredRoutes } from "../../../contracts/src/generated/routes.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../../ports/http.ts";
import type { Outcome } from "../../../ports/identity.ts";
import { denied } from "../answers.ts";
import { brokenChain } from "../ask-audit.ts";
import { conflictTagged, namedVersion, withVersionTag } from "../if-match.ts";
import type { GatewayParts } from "../parts.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";
import { fieldAnswer, jsonMember, jsonMessage, messageAnswer } from "./answers.ts";
import { messageOf, requestSchemas } from "./requests.ts";

/** Below the listener's bound on a route, so that the caller learns which service was late. */
const timeoutMsDefault = 10_000;

type Parts = Pick<GatewayParts, "services">;

export function declarationOf(id: DeclaredRouteId): DeclaredRoute {
  return declaredRoutes[id];
}

/** Name, place, words and authority. */
export function declaredPlace(id: DeclaredRouteId): Omit<Route, "handle" | "answers" | "params" | "query" | "body"> {
  const { method, path, listener, sentence, operation, attemptsPerMinuteMax, deprecated } = declarationOf(id);
  const attempts = attemptsPerMinuteMax === undefined ? {} : { attemptsPerMinuteMax };
  const leaving = deprecated === undefined ? {} : { deprecated };
  return { id, method, path, listeners: [listener], sentence, operation, ...attempts, ...leaving };
}

export function declaredAnswers(id: DeclaredRouteId): Route["answers"] {
  const { status, form, reported, answer } = declarationOf(id);
  if (form !== "json") return { [status]: form };
  return { [status]: reported === undefined ? messageAnswer(answer) : fieldAnswer(answer, reported) };
}

/** All of a route but what it does and answers. */
export function declaredRequest(id: DeclaredRouteId): Omit<Route, "handle" | "answers"> {
  return { ...declaredPlace(id), ...requestSchemas(declarationOf(id)) };
}

/** All of a route but what it does. */
export function declared(id: DeclaredRouteId): Omit<Route, "handle"> {
  return { ...declaredRequest(id), answers: declaredAnswers(id) };
}

/** The message that the declaration makes of what was asked. */
export function declaredMessage<Message extends object>(id: DeclaredRouteId, request: HttpRequest): Message {
  return messageOf(declarationOf(id), request);
}

/** The body of the HTTP answer, made of the procedure's answer as the declaration says. */
export function declaredBody(id: DeclaredRouteId, answer: object): object {
  const { answer: message, reported } = declarationOf(id);
  return reported === undefined ? jsonMessage(message, answer) : jsonMember(message, reported, answer);
}

/** Asks the procedure with the caller's token and the request's id. */
export async function askDeclared<Answer extends object>(
  id: DeclaredRouteId,
  parts: Parts,
  request: Pick<HttpRequest, "bearer" | "requestId" | "idempotency">,
  message: object,
): Promise<Outcome<Answer>> {
  const { service, procedure, timeoutMs } = declarationOf(id);
  const outcome = await parts.services.call(service, procedure, message, {
    bearer: request.bearer(),
    requestId: request.requestId,
    idempotency: request.idempotency,
    timeoutMs: timeoutMs ?? timeoutMsDefault,
  });
  // A procedure's answer is the message that the protos name for it.
  return outcome as Outcome<Answer>;
}

/** A route that only forwards. */
export function forwarded(id: DeclaredRouteId, parts: Parts): Route {
  return { ...declared(id), handle: (request) => withBrokenChain(() => forward(id, parts, request)) };
}

async function forward(id: DeclaredRouteId, parts: Parts, request: HttpRequest): Promise<HttpAnswer> {
  const { status, pageAfter, ifMatchConflict } = declarationOf(id);
  const message = declaredMessage(id, request);
  if (pageAfter !== undefined) return forwardPage(id, parts, request, message, pageAfter);
  if (ifMatchConflict !== undefined) return forwardUnderIfMatch(id, parts, request, message, ifMatchConflict);
  const outcome = await askDeclared(id, parts, request, message);
  return outcome.ok ? withVersionTag({ status, body: declaredBody(id, outcome.value) }) : denied(outcome);
}

/** With If-Match the change is made only on top of the version that it names; without, on top of what the request says itself. */
async function forwardUnderIfMatch(
  id: DeclaredRouteId,
  parts: Parts,
  request: HttpRequest,
  message: object,
  conflictCode: string,
): Promise<HttpAnswer> {
  const named = namedVersion(request);
  const asked = named === undefined ? message : { ...message, expected_version: named };
  const outcome = await askDeclared(id, parts, request, asked);
  const { status } = declarationOf(id);
  const answer = outcome.ok ? { status, body: declaredBody(id, outcome.value) } : denied(outcome);
  return conflictTagged(named, conflictCode, answer);
}

/** One page of a list; the next one is in the Link header. */
async function forwardPage(
  id: DeclaredRouteId,
  parts: Parts,
  request: HttpRequest,
  message: object,
  after: string,
): Promise<HttpAnswer> {
  // A list that says so itself has pages of another size when nobody names one.
  const { count_max: usual = 0 } = message as { readonly count_max?: number };
  const asked = request.query as { readonly count_max?: number };
  const query = usual > 0 ? { ...asked, count_max: usual } : asked;
  const outcome = await askDeclared(id, parts, request, { ...message, count_max: fetchedCount(query) });
  if (!outcome.ok) return denied(outcome);
  const { status, path, pageRows } = declarationOf(id);
  const answer = declaredBody(id, outcome.value);
  const fetched = (pageRows === undefined ? answer : memberOf(answer, pageRows)) as readonly object[];
  const { rows, more } = pageOf(placeOf(path, request), query, fetched, (row) => memberAt(row, after));
  return { status, body: pageRows === undefined ? rows : { ...answer, [pageRows]: rows }, ...more };
}

/** The path with what was asked in place of its parameters. */
function placeOf(path: string, { params }: Pick<HttpRequest, "params">): string {
  const given = params as Readonly<Record<string, unknown>>;
  return path.replaceAll(/:([a-z_]+)\*?/g, (_whole, name: string) => encodeURIComponent(String(given[name])));
}

function memberOf(row: unknown, name: string): unknown {
  return (row as Readonly<Record<string, unknown>> | undefined)?.[name];
}

/** Several members stand with a slash between them. */
function memberAt(row: object, paths: string): string {
  return paths
    .split(",")
    .map((path) => {
      const found = path.split(".").reduce<unknown>(memberOf, row);
      return typeof found === "string" || typeof found === "number" ? String(found) : "";
    })
    .join("/");
}

/** A broken audit chain is answered with the place and the two values that differ, because an operator needs them first. */
async function withBrokenChain(answer: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  try {
    return await answer();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "CHAIN_INTEGRITY") return brokenChain(thrown);
    throw thrown;
  }
}
