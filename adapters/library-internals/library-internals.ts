// Every reach behind a library's interface, in one folder and behind one switch (`library_internals`, PORTCULLIS_LIBRARY_INTERNALS). They were made for the
// pinned versions of grpc-js and pg. With the switch off the same work goes through the interfaces alone; what is lost then stands beside each of them.
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Server, ServerInterceptingCallInterface } from "@grpc/grpc-js";
import type pg from "pg";
import { awaitPreface, connectionInjector, hookLibrary } from "./library-hooks.ts";
import { type Call, sendByInterface, sendPrepared } from "./prepared-call.ts";

export interface LibraryInternals {
  readonly isOn: boolean;
  /** Called before the server gets its first connection. */
  hookServer(server: Server): void;
  /** Hands connections to the server; `prove` is called when one has shown that it speaks HTTP/2. */
  injector(server: Server): (socket: Socket, prove: () => void) => void;
  /** The HTTP/2 stream of a call. */
  streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream | undefined;
  /** Calls one of our SQL functions with a message that is ready for the wire; resolves with its one value when it is durable. */
  sendCall(client: pg.Client, call: Call, message: Uint8Array): Promise<string>;
}

/** One line for each: what it is for, and what happens without it. */
export const reaches = [
  {
    name: "paths that nobody registered",
    library: "@grpc/grpc-js",
    reason: "The library answers UNIMPLEMENTED before it is known who asks; with it strangers get UNAUTHENTICATED.",
    without: "A stranger can find out which procedures exist.",
  },
  {
    name: "several authorization headers",
    library: "@grpc/grpc-js",
    reason: "Node hands over the first and drops the rest; with it a call that has several is refused.",
    without: "The first one counts, also where a proxy checked another.",
  },
  {
    name: "the beginning of a connection",
    library: "@grpc/grpc-js",
    reason: "The library does not tell when the settings of a connection came, which ends the time it has for that.",
    without: "A connection counts as begun with its first 24 bytes.",
  },
  {
    name: "the stream of a call",
    library: "@grpc/grpc-js",
    reason: "The library cannot close a stream whose caller never does, nor tell a request that was too large.",
    without:
      "A stream whose caller never ends it stays until its connection ends, and requests that are too large are not counted.",
  },
  {
    name: "a call that is ready for the wire",
    library: "pg",
    reason: "The driver copies a batch several times and describes the answer anew with each commit.",
    without: "Each batch of decisions and of audit entries costs more of the process's time.",
  },
] as const;

export const internalsOn: LibraryInternals = {
  isOn: true,
  hookServer: hookLibrary,
  injector: connectionInjector,
  streamOf: (call) => (call as { readonly stream?: ServerHttp2Stream }).stream,
  sendCall: sendPrepared,
};

export const internalsOff: LibraryInternals = {
  isOn: false,
  hookServer: () => undefined,
  injector: awaitPreface,
  streamOf: () => undefined,
  sendCall: sendByInterface,
};
