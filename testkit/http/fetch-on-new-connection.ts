// As `fetch`, over a connection of its own that ends with the answer. The runtime's `fetch` keeps a connection for seconds, and a busy machine asks over it
// just when the server has ended it for standing idle: ECONNRESET, and the server did nothing wrong.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";

/** Answers that have no body, whatever they say. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export async function fetchOnNewConnection(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const asked = new Request(input, init);
  const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer());
  const incoming = await sent(asked, body);
  const status = incoming.statusCode ?? 0;
  if (status >= 300 && status < 400 && status !== 304 && asked.redirect !== "manual") {
    incoming.destroy();
    throw new Error(
      `${asked.url} answers ${status} to ${incoming.headers.location}: say redirect "manual", nothing is followed here`,
    );
  }
  return answerOf(incoming, status, asked.method);
}

function sent(asked: Request, body: Buffer | undefined): Promise<IncomingMessage> {
  const url = new URL(asked.url);
  const headers = { accept: "*/*", ...Object.fromEntries(asked.headers) };
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    // Without an agent nobody keeps the connection.
    const options = { method: asked.method, headers, agent: false as const, signal: asked.signal };
    const failed = (thrown: unknown): void =>
      reject(asked.signal.aborted ? asked.signal.reason : new TypeError("fetch failed", { cause: thrown }));
    request(url, options, resolve).on("error", failed).end(body);
  });
}

function answerOf(incoming: IncomingMessage, status: number, method: string): Response {
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  }
  const hasBody = method !== "HEAD" && !bodiless.has(status);
  if (!hasBody) incoming.resume();
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
  return new Response(body, { status, statusText: incoming.statusMessage ?? "", headers });
}
