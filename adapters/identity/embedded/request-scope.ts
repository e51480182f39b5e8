// What a request is to the provider: it was sent to the issuer and nowhere else, whatever its headers say, and it came from the
// address that the socket has. Everything that a request sets in motion can ask for that address.
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import { callerAddressOf } from "../../http/caller-address.ts";

export interface RequestScope {
  run<T>(remoteAddress: string, work: () => Promise<T>): Promise<T>;
  remoteAddress(): string | undefined;
  /** For the grant that the work saves: the library would keep none of it. */
  granting<T>(facts: GrantFacts, work: () => Promise<T>): Promise<T>;
  grantFacts(): GrantFacts | undefined;
}

/** In which session of a browser a grant is made, and for a device what asked for it where. */
export interface GrantFacts {
  readonly sessionUid: string;
  readonly program?: string;
  readonly address?: string;
}

interface Scope {
  readonly remoteAddress: string | undefined;
  readonly facts?: GrantFacts;
}

export function createRequestScope(): RequestScope {
  const storage = new AsyncLocalStorage<Scope>();
  const remoteAddress = () => storage.getStore()?.remoteAddress;
  return {
    run: (address, work) => storage.run({ remoteAddress: address }, work),
    remoteAddress,
    granting: (facts, work) => storage.run({ remoteAddress: remoteAddress(), facts }, work),
    grantFacts: () => storage.getStore()?.facts,
  };
}

/** An IPv4 caller of a listener for both families is given by its IPv4 address. */
export function remoteAddressOf(request: IncomingMessage): string {
  return (callerAddressOf(request) ?? request.socket.remoteAddress ?? "unknown").replace(/^::ffff:/, "");
}

/**
 * Runs the work with the request as the library wants it: without the issuer's path, and with headers that make every address
 * it builds the issuer's. It believes proxy headers, so those that came are taken away and one of our own is put in.
 */
export async function asSentTo(issuer: URL, request: IncomingMessage, work: () => Promise<void>): Promise<void> {
  const { headers, url = "/" } = request;
  for (const name of Object.keys(headers)) {
    if (name === "forwarded" || name.startsWith("x-forwarded-")) delete headers[name];
  }
  headers.host = issuer.host;
  headers["x-forwarded-proto"] = issuer.protocol.slice(0, -1);
  Object.assign(request, { originalUrl: url, url: url.slice(issuer.pathname.length) });
  try {
    await work();
  } finally {
    request.url = url;
  }
}

/** Whether a request's path lies under the issuer's. */
export function isUnder(issuer: URL, request: IncomingMessage): boolean {
  return (request.url ?? "").startsWith(`${issuer.pathname}/`);
}

/**
 * Whether a form was sent from a page of ours. Browsers say where a request comes from in one header or the other; a request
 * that says nothing is not from a form.
 */
export function isFromOurPage(issuer: URL, request: IncomingMessage): boolean {
  const site = request.headers["sec-fetch-site"];
  const origin = request.headers.origin;
  if (site !== undefined && site !== "same-origin") return false;
  if (origin !== undefined && origin !== issuer.origin) return false;
  return site !== undefined || origin !== undefined;
}
