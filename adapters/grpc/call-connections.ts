// Which connection a call came on, for what is bounded per connection. The library hands handlers and interceptors a call's metadata
// and never its connection, so the first gate, which sees both, notes it here.
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Metadata, ServerInterceptingCallInterface } from "@grpc/grpc-js";

export interface CallConnections {
  /** For the outermost interceptor: only the call that it is handed has a stream. */
  note(metadata: Metadata, call: ServerInterceptingCallInterface): void;
  /** Undefined when the call was gone before it was noted. */
  of(metadata: Metadata): ServerHttp2Session | undefined;
}

// On the metadata itself: a weak map with an entry per call is work for the garbage collector.
const session = Symbol("connection");

type Noted = Metadata & { [session]?: ServerHttp2Session | undefined };

export function callConnections(): CallConnections {
  return {
    note: (metadata, call) => {
      const { stream } = call as { readonly stream?: Pick<ServerHttp2Stream, "session"> };
      (metadata as Noted)[session] = stream?.session as ServerHttp2Session | undefined;
    },
    of: (metadata) => (metadata as Noted)[session],
  };
}
