// Problem documents written by hand, where the router has no say: to the socket for what Node's parser rejects, which never
// becomes a request, and to the response of a request that was handed to somebody else.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Listener } from "../../ports/http.ts";
import type { Random } from "../../ports/random.ts";
import { isHandshakeError } from "../tls/secure-server.ts";
import { headersOn } from "./cross-origin.ts";
import { errnoOf } from "./listen.ts";
import { type Problem, problemContentType, transportProblem } from "./problem.ts";
import { requestIdHeader } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

const statusOfError: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** The status that was answered; undefined when the caller could not be told anything. */
export function refuseRaw(error: Error, socket: Socket, listener: Listener, random: Random): number | undefined {
  const errno = errnoOf(error);
  // A caller that has gone, one without a key for what we say, and one whose answer has begun, cannot be told anything.
  if (errno === "ECONNRESET" || isHandshakeError(error) || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return undefined;
  }
  const status = statusOfError[errno ?? ""] ?? 400;
  const requestId = random.uuid();
  const body = JSON.stringify(transportProblem(status, { requestId, path: "", listener }));
  const headers = {
    ...headersOn(listener),
    "content-type": problemContentType,
    "content-length": String(Buffer.byteLength(body)),
    [requestIdHeader]: requestId,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
  return status;
}

/** Replaces whatever the response was going to say. Its headers must not be on their way yet. */
export function endWithProblem(response: ServerResponse, reported: Problem): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusCode = reported.status;
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  response.setHeader(requestIdHeader, reported.request_id).setHeader("connection", "close");
  response.setHeader("content-type", problemContentType).end(JSON.stringify(reported));
}
