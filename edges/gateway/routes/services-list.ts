// GET /v1/platform/services: every part of the platform, whether it can do its work, and which process it is. What does not report is listed as failing.
import { version } from "../../../contracts/src/generated/version.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Health } from "../../../ports/health.ts";
import type { Route } from "../../../ports/http.ts";
import type { Instance } from "../../../ports/store.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { servicesAnswer } from "../schemas/platform.ts";

type Parts = Pick<GatewayParts, "directory" | "expectedServices" | "ownHealth" | "instances">;

const silent: Health = { status: "failing", complaint: "it does not report" };

export function servicesList(parts: Parts): Route {
  return defineRoute({
    id: "listServices",
    method: "GET",
    path: "/v1/platform/services",
    listeners: ["operator"],
    sentence: "Every part of the platform: how it is, which process it is, and since when.",
    operation: "ListServices",
    answers: { 200: servicesAnswer },
    handle: async () => {
      const [healths, instances] = await Promise.all([parts.directory.all(), parts.instances()]);
      const own: Readonly<Record<string, Health>> = { ...healths, gateway: parts.ownHealth() };
      const names = [...parts.expectedServices, "gateway"];
      return { status: 200, body: names.map((name) => row(name, own[name] ?? silent, newest(instances, name))) };
    },
  });
}

/** One that was replaced a moment ago may still hold its lease. */
function newest(instances: readonly Instance[], name: string): Instance | undefined {
  return instances.filter(({ service }) => service === name).at(-1);
}

function row(service: string, { status, complaint }: Health, instance: Instance | undefined): object {
  return {
    service,
    status,
    ...(complaint === undefined ? {} : { complaint }),
    ...(instance === undefined
      ? {}
      : { pid: instance.pid, host: instance.host, started_at: format(instance.startedAt) }),
    version,
  };
}
