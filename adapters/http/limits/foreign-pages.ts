// Requests that a web page of somebody else makes an operator's browser send. They carry no token of ours, but they come from the
// operator's own address, so they are turned away before they are counted or looked at. Browsers say where a request comes from in
// one header or another, and no page can change what they say; programs say nothing and pass.
import { TLSSocket } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Refuse } from "../refusals.ts";

export type PageGate = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

export function foreignPageGate(refuse: Refuse, baseUrl: () => string): PageGate {
  return (request, reply) => {
    if (request.method === "GET" || request.method === "HEAD" || isOurs(request, baseUrl())) return undefined;
    return refuse(request, reply, {
      code: "PERMISSION_DENIED",
      detail: "The request comes from a web page that is not ours.",
      // The body stays unread.
      headers: { connection: "close" },
    });
  };
}

const ownSites: readonly unknown[] = [undefined, "same-origin", "none"];

function isOurs({ headers, raw }: FastifyRequest, baseUrl: string): boolean {
  if (!ownSites.includes(headers["sec-fetch-site"])) return false;
  const { origin } = headers;
  if (origin === undefined || origin === new URL(baseUrl).origin) return true;
  // Not the Host header: whoever makes a name of theirs point at us chooses that.
  const { localAddress = "", localPort } = raw.socket;
  const scheme = raw.socket instanceof TLSSocket ? "https" : "http";
  return hostsAt(localAddress.replace(/^::ffff:/i, "")).some((host) => origin === originAt(scheme, host, localPort));
}

/** Under which names a page of ours can have been reached at this address of the machine. */
function hostsAt(address: string): readonly string[] {
  const host = address.includes(":") ? `[${address}]` : address;
  return address === "::1" || address.startsWith("127.") ? [host, "localhost"] : [host];
}

/** Browsers leave the usual port out. */
function originAt(scheme: "http" | "https", host: string, port: number | undefined): string {
  return port === (scheme === "http" ? 80 : 443) ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
