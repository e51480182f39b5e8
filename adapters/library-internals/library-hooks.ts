// Three places where the gRPC library is reached behind its interface, because it offers no other way. All were made for the pinned
// version; self-check.ts refuses to start with one that has no such places, and tests see whether they still do what they should.
//  1. The library answers paths that nobody registered with UNIMPLEMENTED before any interceptor runs, so that a stranger could ask
//     which procedures exist. Here such a path gets a handler like any other, and the interceptors decide.
//  2. Of several `authorization` headers Node hands over the first and drops the rest without a word, so that whoever stands before
//     us may have checked another one than we do; and the library prints a header that is not ASCII to stderr, token or not. Here all
//     of them are put back from the raw headers, and an unprintable one as nothing.
//  3. The library takes a connection in without a word of what became of it. Here the HTTP/2 server that it makes tells.
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { type Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { Defect } from "../../contracts/src/fault.ts";
import { authorizationHeader } from "../grpc/bearer-token.ts";

type Bytes = (bytes: Buffer) => Buffer;

interface PathHandler {
  readonly type: "bidi";
  readonly path: string;
  readonly func: (call: ServerDuplexStream<Buffer, Buffer>) => void;
  readonly serialize: Bytes;
  readonly deserialize: Bytes;
}

type RetrieveHandler = (path: string) => PathHandler | null;
type StreamHandler = (
  interceptors: unknown,
  stream: unknown,
  headers: IncomingHttpHeaders,
  flags: unknown,
  rawHeaders: readonly string[],
) => void;

interface Behind {
  _retrieveHandler: RetrieveHandler;
  _streamHandler: StreamHandler;
  readonly http2Servers: ReadonlyMap<Http2Server, unknown>;
}

/** Must be called before the server gets its first connection; the library takes its functions along then. */
export function hookLibrary(server: Server): void {
  const behind = server as unknown as Behind;
  const retrieve = behind._retrieveHandler;
  const handleStream = behind._streamHandler;
  if (typeof retrieve !== "function" || typeof handleStream !== "function") throw otherInsides();
  behind._retrieveHandler = (path) => retrieve.call(server, path) ?? unregistered(path);
  behind._streamHandler = (interceptors, stream, headers, flags, rawHeaders) => {
    if (headers[authorizationHeader] !== undefined) putBackAuthorization(headers, rawHeaders);
    handleStream.call(server, interceptors, stream, headers, flags, rawHeaders);
  };
}

function otherInsides(): Defect {
  return new Defect("This version of the gRPC library has other insides than the one that this server was made for.");
}

/** Hands connections to the server; `prove` is called when the preface and the settings of one have come. */
export function connectionInjector(server: Server): (socket: Socket, prove: () => void) => void {
  const before = new Set((server as unknown as Behind).http2Servers.keys());
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const made = [...(server as unknown as Behind).http2Servers.keys()].find((http2Server) => !before.has(http2Server));
  if (made === undefined) throw otherInsides();
  return (socket, prove) => {
    // The event comes while the connection is handed over, so the next session is this connection's.
    const begin = (session: ServerHttp2Session): void => void session.once("remoteSettings", prove);
    made.once("session", begin);
    injector.injectConnection(socket);
    made.off("session", begin);
  };
}

/** What every client of HTTP/2 sends first. */
export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The same without a reach: a connection is handed over with its first bytes, and proves itself when these are the preface. */
export function awaitPreface(server: Server): (socket: Socket, prove: () => void) => void {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return (socket, prove) => {
    socket.once("data", (bytes: Buffer) => {
      socket.pause();
      socket.unshift(bytes);
      if (bytes.subarray(0, preface.length).equals(preface)) prove();
      injector.injectConnection(socket);
    });
  };
}

/** In both directions a stream, because such a call reaches its interceptors and handler with its headers alone. */
function unregistered(path: string): PathHandler {
  const asIs: Bytes = (bytes) => bytes;
  return { type: "bidi", path, func: neverReached, serialize: asIs, deserialize: asIs };
}

/** The identity gate lets nobody through to a path that it does not know. The library answers UNKNOWN for us. */
function neverReached(): never {
  throw new Defect("A call to a path that nobody registered passed the identity gate.");
}

const printable = /^[ -~]*$/;

function putBackAuthorization(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at] !== authorizationHeader) continue;
    const value = rawHeaders[at + 1] ?? "";
    values.push(printable.test(value) ? value : "");
  }
  // The library takes a list for this header, though Node's types know only one value.
  (headers as Record<string, string | string[]>)[authorizationHeader] = values;
}
