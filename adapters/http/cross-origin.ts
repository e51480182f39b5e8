// Web pages of anybody may read the public listener: no answer there depends on who asks. The operators' listener says nothing of the kind, and
// browsers keep foreign pages from it.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Listener } from "../../ports/http.ts";
import { securityHeaders } from "./security-headers.ts";

const exposed = "ETag, Link, RateLimit, Retry-After, Portcullis-As-Of, Portcullis-Stale";

const openHeaders: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposed,
  "cross-origin-resource-policy": "cross-origin",
};

/** What every answer of this listener carries beside its own headers. */
export function headersOn(listener: Listener): Readonly<Record<string, string>> {
  return listener === "public" ? { ...securityHeaders, ...openHeaders } : securityHeaders;
}

/** In place of what answers are given everywhere. */
export function openToPages(reply: FastifyReply): void {
  reply.headers(openHeaders);
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && "access-control-request-method" in headers;
}

export function sendPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .headers({
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": "*",
      "access-control-max-age": "86400",
    })
    .send();
}
