// The platform's health in one answer: ok exactly when every expected service and the gateway itself can do their work. An
// operator is told which part is not and why; the public learns only that it is not.
import { format } from "../../../contracts/src/instant.ts";
import type { Health } from "../../../ports/health.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { anyQuery, healthAnswer, operatorHealthAnswer } from "../schemas/platform.ts";

type HealthParts = Pick<GatewayParts, "directory" | "expectedServices" | "ownHealth" | "isInsecure" | "clearText"> & {
  readonly githubbot: Pick<GatewayParts["githubbot"], "notes">;
};

const path = "/v1/healthz";

export function operatorHealthz(parts: HealthParts): Route {
  return defineRoute({
    id: "getHealth",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "Whether every part of the platform can do its work, and which cannot.",
    operation: "ReadHealth",
    query: anyQuery,
    answers: { 200: operatorHealthAnswer },
    handle: async () => {
      const { complaints, notes } = await partsOf(parts);
      if (complaints.length > 0) return unavailable(parts, `${complaints.join("; ")}.`);
      return ok(parts, [...parts.clearText.map(clearTextSentence), ...notes, ...parts.githubbot.notes()]);
    },
  });
}

export function publicHealthz(parts: HealthParts & Pick<GatewayParts, "clock">): Route {
  return defineRoute({
    id: "getPublicHealth",
    method: "GET",
    path,
    listeners: ["public"],
    sentence: "Whether every part of the platform can do its work.",
    operation: "ReadHealth",
    query: anyQuery,
    answers: { 200: healthAnswer },
    handle: async () => {
      const answer = (await partsOf(parts)).complaints.length === 0 ? ok(parts) : unavailable(parts);
      return { ...answer, headers: { ...answer.headers, "portcullis-as-of": format(parts.clock.now()) } };
    },
  });
}

function ok({ isInsecure, clearText }: HealthParts, notes: readonly string[] = []): HttpAnswer {
  const isOpen = isInsecure || clearText.length > 0;
  const extra = { ...(notes.length === 0 ? {} : { notes }), ...(isOpen ? { insecure: true } : {}) };
  return { status: 200, body: { status: "ok", ...extra } };
}

const clearTextSentence = (key: string): string =>
  `another machine is spoken to in clear text, or without it proving itself (${key}: true)`;

const insecureSentence = "It may be reached from other machines without TLS (insecure: true).";

function unavailable({ isInsecure, clearText }: HealthParts, why?: string): HttpAnswer {
  // Which connections they are is for operators, as the reason is.
  const open = why === undefined ? [] : clearText.map((key) => `${clearTextSentence(key)}.`);
  const sentences = [...(why === undefined ? [] : [why]), ...(isInsecure ? [insecureSentence] : []), ...open];
  const detail = sentences.length === 0 ? {} : { detail: sentences.join(" ") };
  return { status: 503, body: { code: "SERVICE_UNAVAILABLE", ...detail }, headers: { "retry-after": "1" } };
}

interface Reported {
  /** Which parts cannot do their work, and why. */
  readonly complaints: readonly string[];
  /** What those say that can. */
  readonly notes: readonly string[];
}

async function partsOf(parts: HealthParts): Promise<Reported> {
  const services = await parts.directory.all();
  const silent: Health = { status: "failing", complaint: "it does not report" };
  const all: readonly (readonly [string, Health])[] = [
    ["gateway", parts.ownHealth()],
    ...parts.expectedServices.map((name) => [name, services[name] ?? silent] as const),
  ];
  return {
    complaints: all.flatMap(([name, health]) => (health.status === "ok" ? [] : [complaintOf(name, health)])),
    notes: all.flatMap(([name, { status, complaint }]) =>
      status === "ok" && complaint !== undefined ? [`${name}: ${complaint}`] : [],
    ),
  };
}

function complaintOf(name: string, health: Health): string {
  const why = health.complaint?.replace(/\.$/, "");
  return why === undefined ? `${name} is ${health.status}` : `${name} is ${health.status}: ${why}`;
}
