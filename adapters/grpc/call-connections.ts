// Which connection a call came on, for what is bounded per connection, and what the room for connections learns of it. The library hands handlers
// and interceptors a call's metadata and never its connection, so the first gate, which sees both, notes it here.
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Metadata, ServerInterceptingCallInterface } from "@grpc/grpc-js";
import type { Identity } from "../../ports/identity.ts";
import { type ConnectionRoom, standingOf } from "../listener/connection-limit.ts";

export interface CallConnections {
  /** For the outermost interceptor: only the call that it is handed has a stream. The call is in hand from now on. */
  note(metadata: Metadata, call: ServerInterceptingCallInterface): void;
  /** The call is over. */
  end(metadata: Metadata): void;
  /** Its caller showed a good token. */
  know(metadata: Metadata, identity: Identity): void;
  /** Why a token of our own processes does not count on the call's connection; undefined when it does. */
  objectionToOwn(metadata: Metadata): string | undefined;
  /** Undefined when the call was gone before it was noted. */
  of(metadata: Metadata): ServerHttp2Session | undefined;
}

// On the metadata itself: a weak map with an entry per call is work for the garbage collector.
const session = Symbol("connection");
const socketOf = Symbol("socket");
const objection = Symbol("objection to tokens of our own");

type Noted = Metadata & { [session]?: Marked | undefined };
type Marked = ServerHttp2Session & { [socketOf]?: Socket | undefined };

/** A session hands its socket out behind a stand-in that passes properties on: this one leads back to the socket itself. */
export function markSocket(socket: Socket, objectionToOwn?: string): void {
  const marked = socket as Socket & { [socketOf]?: Socket; [objection]?: string | undefined };
  marked[socketOf] = socket;
  marked[objection] = objectionToOwn;
}

export function callConnections(room?: Pick<ConnectionRoom, "begin" | "end" | "know">): CallConnections {
  const placeOf = (metadata: Metadata): Socket | undefined => {
    const noted = (metadata as Noted)[session];
    return noted === undefined ? undefined : noted[socketOf];
  };
  return {
    note: (metadata, call) => {
      const { stream } = call as { readonly stream?: Pick<ServerHttp2Stream, "session"> };
      const noted = stream?.session as Marked | undefined;
      (metadata as Noted)[session] = noted;
      if (room === undefined || noted === undefined) return;
      if (noted[socketOf] === undefined && !noted.destroyed) {
        noted[socketOf] = (noted.socket as { [socketOf]?: Socket } | undefined)?.[socketOf];
      }
      const socket = noted[socketOf];
      if (socket !== undefined) room.begin(socket);
    },
    end: (metadata) => {
      const socket = placeOf(metadata);
      if (socket !== undefined) room?.end(socket);
    },
    know: (metadata, identity) => {
      const socket = placeOf(metadata);
      if (socket !== undefined) room?.know(socket, standingOf(identity));
    },
    objectionToOwn: (metadata) => {
      const socket = placeOf(metadata) as { [objection]?: string | undefined } | undefined;
      // Nobody is one of ours on a connection that is not known any more.
      return socket === undefined ? "The connection is gone." : socket[objection];
    },
    of: (metadata) => (metadata as Noted)[session],
  };
}
