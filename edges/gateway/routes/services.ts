// POST /v1/platform/restart: starts the five services anew, in place. Answered when each of them can do its work again.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { restartAnswer, restartBody } from "../schemas/halts.ts";

/** Below the listener's bound on a route. A caller who is told that not all are healthy asks /v1/healthz. */
const healthyMsMax = 25_000;
const lookEveryMs = 200;

type Parts = Pick<GatewayParts, "log" | "restarts" | "directory" | "expectedServices" | "timers">;
type Restarted = Awaited<ReturnType<GatewayParts["restarts"]["restart"]>>["parts"][number];

/** What is known of it so far: a caller who waits too long is told that much. */
interface Progress {
  auditId?: string;
  parts?: readonly Restarted[];
}

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
      const progress: Progress = {};
      const late = parts.timers.sleep(healthyMsMax, patience.signal);
      const restarted = restart(parts, progress, actor, request.body.reason ?? "", patience.signal);
      try {
        await Promise.race([restarted, late]);
      } finally {
        patience.abort();
      }
      // What comes of it after the answer only whoever reads the log can see.
      restarted.catch((thrown: unknown) =>
        parts.log.error("a restart of the services failed", { error: messageOf(thrown) }),
      );
      return answerOf(parts, progress);
    },
  });
}

async function restart(
  parts: Parts,
  progress: Progress,
  actor: string,
  reason: string,
  signal: AbortSignal,
): Promise<void> {
  const done = await parts.restarts.restart(actor, reason, (auditId) => {
    progress.auditId = auditId;
  });
  progress.parts = done.parts;
  while (!signal.aborted && !(await areHealthy(parts))) await parts.timers.sleep(lookEveryMs, signal);
}

async function areHealthy({ directory, expectedServices }: Parts): Promise<boolean> {
  const all = await directory.all();
  return expectedServices.every((name) => all[name]?.status === "ok");
}

/** Each with how it is at this moment, also when the restart has not come to its end. */
async function answerOf({ directory, expectedServices }: Parts, { auditId, parts }: Progress): Promise<HttpAnswer> {
  const all = await directory.all();
  const services = expectedServices.map((name) => {
    const health = all[name];
    const done = parts?.find((part) => part.name === name);
    const complaint = health === undefined ? "it does not report" : health.complaint;
    return {
      service: name,
      healthy: health?.status === "ok",
      ...(health?.status !== "ok" && { complaint: complaint ?? "it does not say why" }),
      ...(done !== undefined && { pid: done.pid, took_ms: Math.round(done.tookMs) }),
    };
  });
  const reported = auditId === undefined ? {} : { audit_id: auditId };
  return { status: 200, body: { services, restarted: parts !== undefined, ...reported } };
}
