// An answer that is sent piece by piece for as long as somebody reads it. It leaves the library's hands, whose time limit is for answers that end.
//
//  1. A piece is asked for when the one before has been taken by the connection: a slow reader holds up only itself.
//  2. When the reader is gone, or the listener drains, the stream's signal aborts and it is closed, once.
//  3. A connection on which nothing moves is cut by the listener's rule on silence, as any other.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply } from "fastify";
import { messageOf } from "../../contracts/src/fault.ts";
import type { HttpAnswer, HttpStream } from "../../ports/http.ts";
import type { Log } from "../../ports/log.ts";

export function isStream(body: HttpAnswer["body"]): body is HttpStream {
  return typeof body === "object" && "pieces" in body && "close" in body;
}

interface StreamSurroundings {
  /** Aborts when the listener begins to drain. */
  readonly draining: AbortSignal;
  readonly log: Log;
}

export function sendStream(
  reply: FastifyReply,
  { status, contentType, headers }: Omit<HttpAnswer, "body">,
  stream: HttpStream,
  { draining, log }: StreamSurroundings,
): FastifyReply {
  const { raw, request } = reply;
  const over = new AbortController();
  const end = (): void => over.abort();
  raw.once("close", () => {
    draining.removeEventListener("abort", end);
    end();
    stream.close();
  });
  reply.hijack();
  raw.writeHead(status, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": contentType ?? "text/event-stream; charset=utf-8",
    // Proxies that collect an answer before they pass it on would hold every event back.
    "x-accel-buffering": "no",
    ...headers,
  });
  raw.flushHeaders();
  if (request.method === "HEAD" || draining.aborted || raw.destroyed) {
    raw.end();
    // A connection that was gone before has no further event to tell it.
    if (raw.destroyed) stream.close();
    return reply;
  }
  draining.addEventListener("abort", end, { once: true });
  pipeline(Readable.from(stream.pieces(over.signal)), raw).catch((thrown: unknown) => {
    // A reader that leaves in the middle is how these end.
    if (!over.signal.aborted) log.error("a stream failed", { request_id: request.id, error: messageOf(thrown) });
  });
  return reply;
}
