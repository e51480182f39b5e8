// Which connections a listener holds and which of them are in the middle of a request. Draining needs to know: one that waits
// for nothing is cut at once, one whose request is being answered may finish, is told that it was the last, and is then closed.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Cuts every connection without a request in hand, half-sent headers included; the others end with their answers. */
  beginDrain(): void;
  /** The connection is somebody else's from now on, who ends it. */
  handOver(socket: Socket): void;
  /** Cuts every connection. */
  cutAll(): void;
}

/** With TLS those count whose handshake is done: before that nobody asks anything. */
export function trackConnections(server: Server, isSecure: boolean): Connections {
  const answering = new Map<Socket, Set<ServerResponse>>();
  let draining = false;
  server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
    answering.set(socket, new Set());
    socket.once("close", () => answering.delete(socket));
  });
  // First of all listeners, so that no answer is on its way before its connection's end is decided.
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const socket = request.socket;
    if (draining) response.shouldKeepAlive = false;
    answering.get(socket)?.add(response);
    response.once("close", () => {
      const left = answering.get(socket);
      left?.delete(response);
      // An answer whose headers were gone before the drain began could not say that it was the last.
      if (draining && left?.size === 0) socket.destroySoon();
    });
  });
  return {
    beginDrain: () => {
      draining = true;
      for (const [socket, responses] of answering) {
        if (responses.size === 0) socket.destroy();
        // Node then writes "connection: close" into headers that are yet to be sent, whoever sends them.
        for (const response of responses) response.shouldKeepAlive = false;
      }
    },
    handOver: (socket) => void answering.delete(socket),
    cutAll: () => {
      for (const socket of answering.keys()) socket.destroy();
    },
  };
}
