// The client of the public port: market data that anyone may read, without a token. `createPublicClient({ baseUrl })` has one method per route and `stream`,
// which follows the WebSocket of the same port.

import type { CallOptions } from "./call-options.ts";
import { methodsOf, pagesOf } from "./client.ts";
import { type ConnectionOptions, connectionOf } from "./connection.ts";
import { publicOperationTable } from "./generated/public-operations.ts";
import type { Arguments, OperationPlace } from "./operation.ts";
import { followStream, type StreamAsked, type WebSocketConstructor } from "./stream.ts";
import type { PublicClient } from "./types.ts";

export interface PublicClientOptions extends ConnectionOptions {
  /** Instead of the platform's own; Node has one from version 22 on. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

export function createPublicClient(options: PublicClientOptions): PublicClient {
  const connection = connectionOf(options);
  const table: Readonly<Record<string, OperationPlace>> = publicOperationTable;
  const made = {
    ...methodsOf(table, connection),
    pages: (id: string, given: Arguments = {}, call: CallOptions = {}) => pagesOf(table, id, given, call, connection),
    stream: (asked: StreamAsked, call: Pick<CallOptions, "signal"> = {}) =>
      followStream(asked, call, connection, options.WebSocket),
  };
  // The table and the types are generated from one document, so each method is what its type says.
  return made as unknown as PublicClient;
}
