// Which connections a listener holds and which of them are in the middle of a request. Draining needs to know: one that waits
// for nothing is cut at once, one whose request is being answered may finish.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Cuts every connection without a request in hand, half-sent headers included. */
  cutIdle(): void;
  /** Cuts every connection. */
  cutAll(): void;
}

export function trackConnections(server: Server): Connections {
  const requestCounts = new Map<Socket, number>();
  const settle = (socket: Socket, change: number): void => {
    const count = requestCounts.get(socket);
    if (count !== undefined) requestCounts.set(socket, count + change);
  };
  server.on("connection", (socket: Socket) => {
    requestCounts.set(socket, 0);
    socket.once("close", () => requestCounts.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const socket = request.socket;
    settle(socket, 1);
    response.once("close", () => settle(socket, -1));
  });
  return {
    cutIdle: () => {
      for (const [socket, count] of requestCounts) if (count === 0) socket.destroy();
    },
    cutAll: () => {
      for (const socket of requestCounts.keys()) socket.destroy();
    },
  };
}
