// Turning a caller away at the door, before anything is read or looked up: the problem document, one log line that says who and
// where (never what they showed), and one count.
import type { FastifyReply, FastifyRequest } from "fastify";
import { faults } from "../../contracts/src/codes/faults.ts";
import type { FaultCode } from "../../contracts/src/codes.ts";
import type { Listener } from "../../ports/http.ts";
import type { WriteSampled } from "../log/sampled-lines.ts";
import { addressOf } from "./caller-address.ts";
import type { HttpPorts } from "./http-ports.ts";
import { problem } from "./problem.ts";
import { contextOf, sendProblem } from "./replies.ts";
import { loggedPath, routeLabel } from "./route-facts.ts";

export interface Refusal {
  readonly code: FaultCode;
  /** For the caller; absent where the public is told no reason. */
  readonly detail?: string;
  /** Who it was, as far as is known. */
  readonly actor?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Refuse = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => FastifyReply;

export function refusals(listener: Listener, ports: Pick<HttpPorts, "metrics">, write: WriteSampled): Refuse {
  const count = ports.metrics.counter(
    "portcullis_http_refused_total",
    "Requests that were turned away before their route was asked: no proof, no authority, a foreign page, too many attempts.",
    ["listener", "route", "code"],
  );
  return (request, reply, { code, detail, actor, headers }) => {
    count.add(1, { listener, route: routeLabel(request), code });
    const fields = {
      request_id: request.id,
      listener,
      method: request.method,
      path: loggedPath(request),
      remote_address: addressOf(request),
      code,
      ...(actor === undefined ? {} : { actor }),
    };
    // Strangers come every day; somebody known who tries what they may not, or too often, is worth a second look.
    write(code === "UNAUTHENTICATED" ? "info" : "warn", "HTTP request refused", fields);
    const reported = problem(faults[code].http, code, detail, contextOf(request, listener));
    return sendProblem(reply.headers({ ...headers }), reported);
  };
}
