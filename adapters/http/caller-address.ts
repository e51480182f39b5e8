// The address a request came from. Without trusted proxies it is the socket's; a proxy that the configuration names is believed when
// it says for whom it asks, from the right, so that what a caller writes there itself counts for nothing. It is found once, when
// the request begins, and kept beside the request where nothing that is sent can reach it: handlers rewrite headers.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";

const found = new WeakMap<IncomingMessage, string>();

export function noteCallerAddress(request: FastifyRequest): void {
  const { ip, raw } = request;
  // A proxy may hand on words that are no address; then the proxy is all that is known.
  found.set(raw, plain(isIP(ip) === 0 ? (raw.socket.remoteAddress ?? "") : ip));
}

/** Undefined for a request that no listener of ours has begun. */
export function callerAddressOf(request: IncomingMessage): string | undefined {
  return found.get(request);
}

export function addressOf(request: FastifyRequest): string {
  return found.get(request.raw) ?? plain(request.ip ?? "");
}

/** Whether the connection is the caller's own, and not that of a proxy that is believed. */
export function isDirect(request: FastifyRequest): boolean {
  return addressOf(request) === plain(request.raw.socket.remoteAddress ?? "");
}

/** An IPv4 caller of a listener for both families is given by its IPv4 address. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
