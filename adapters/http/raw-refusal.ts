// Refusals below the router: what Node's parser rejects never becomes a request, so the problem document is written to the
// socket by hand, and the connection ends.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Listener } from "../../ports/http.ts";
import type { Random } from "../../ports/random.ts";
import { errnoOf } from "./listen.ts";
import { problemContentType, transportProblem } from "./problem.ts";
import { requestIdHeader } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

const statusOfError: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

export function refuseRaw(error: Error, socket: Socket, listener: Listener, random: Random): void {
  const errno = errnoOf(error);
  // A caller that has gone, or a connection on which an answer has begun, cannot be told anything.
  if (errno === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = statusOfError[errno ?? ""] ?? 400;
  const requestId = random.uuid();
  const body = JSON.stringify(transportProblem(status, { requestId, path: "", listener }));
  const headers = {
    ...securityHeaders,
    "content-type": problemContentType,
    "content-length": String(Buffer.byteLength(body)),
    [requestIdHeader]: requestId,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
}
