// POST /v1/platform/restart: starts the five services anew, in place. Answered when each of them can do its work again.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { restartAnswer, restartBody } from "../schemas/halts.ts";

/** Below the listener's bound on a route. Whoever is told of none asks /v1/healthz. */
const healthyMsMax = 25_000;
const lookEveryMs = 200;

type Parts = Pick<GatewayParts, "log" | "restarts" | "directory" | "expectedServices" | "timers">;

export function servicesRestart(parts: Parts): Route {
  return defineRoute({
    id: "restartServices",
    method: "POST",
    path: "/v1/platform/restart",
    listeners: ["operator"],
    sentence: "Restart the five services in place, one after the other, and wait until each is healthy.",
    operation: "RestartAll",
    body: restartBody,
    answers: { 200: restartAnswer },
    handle: async (request) => {
      const { actor } = callerOf(request);
      const patience = new AbortController();
      const late = parts.timers.sleep(healthyMsMax, patience.signal).then((): HttpAnswer => pending);
      const restarted = restart(parts, actor, request.body.reason ?? "", patience.signal);
      const answer = await Promise.race([restarted, late]);
      patience.abort();
      // What comes of it after the answer only whoever reads the log can see.
      restarted.catch((thrown: unknown) =>
        parts.log.error("a restart of the services failed", { error: messageOf(thrown) }),
      );
      return answer;
    },
  });
}

/** They are being restarted; no list says that they are not all healthy yet. */
const pending: HttpAnswer = { status: 200, body: { services: [] } };

async function restart(parts: Parts, actor: string, reason: string, signal: AbortSignal): Promise<HttpAnswer> {
  const { auditId, parts: done } = await parts.restarts.restart(actor, reason);
  while (!signal.aborted && !(await areHealthy(parts))) await parts.timers.sleep(lookEveryMs, signal);
  const services = done.map(({ name, pid, tookMs }) => ({ service: name, pid, took_ms: Math.round(tookMs) }));
  return { status: 200, body: { services, audit_id: auditId } };
}

async function areHealthy({ directory, expectedServices }: Parts): Promise<boolean> {
  const all = await directory.all();
  return expectedServices.every((name) => all[name]?.status === "ok");
}
