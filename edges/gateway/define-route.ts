// A route whose handler is typed by its own schemas: what the HTTP adapter validated is what the handler reads.
import { Fault } from "../../contracts/src/fault.ts";
import type { Schema } from "../../contracts/src/schema.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../ports/http.ts";
import type { Identity } from "../../ports/identity.ts";

interface TypedRoute<Params, Query, Body> extends Omit<Route, "params" | "query" | "body" | "handle"> {
  readonly params?: Schema<Params>;
  readonly query?: Schema<Query>;
  readonly body?: Schema<Body>;
  readonly handle: (request: HttpRequest<Params, Query, Body>) => Promise<HttpAnswer>;
}

export function defineRoute<Params = undefined, Query = undefined, Body = undefined>(
  route: TypedRoute<Params, Query, Body>,
): Route {
  const { handle, ...rest } = route;
  // The adapter hands over exactly what these schemas made, which is what the parameters of the type say.
  return { ...rest, handle: (request) => handle(request as HttpRequest<Params, Query, Body>) };
}

/** Who calls a route that the table of authority keeps from strangers. Should one get here all the same, it is not answered. */
export function callerOf(request: HttpRequest): Identity {
  if (request.identity !== undefined) return request.identity;
  throw new Fault("UNAUTHENTICATED", "This route is not for callers who have not logged in.", { retry: "never" });
}
