// The bound on an HTTP listener's connections: a connection speaks with the headers of its first request, has a call in hand until the answer is
// out (for ever, once it is a WebSocket), and is somebody's when a token was verified on it.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock } from "../../../ports/clock.ts";
import type { Listener } from "../../../ports/http.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { type ConnectionRoom, connectionRoom, type RoomOptions } from "../../listener/connection-limit.ts";
import { takePlaces } from "../../tls/secure-server.ts";
import { refuseRaw } from "../raw-refusal.ts";
import type { HttpLimits } from "./limits.ts";

interface BoundOptions {
  readonly listener: Listener;
  readonly limits: HttpLimits;
  readonly isSecure: boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly onCrowded?: RoomOptions["onCrowded"];
  readonly trustedProxies?: readonly string[];
}

export function boundConnections(server: Server, options: BoundOptions): ConnectionRoom {
  const { listener, limits, isSecure, clock, timers, random, trustedProxies = [] } = options;
  const room = connectionRoom({
    connectionsMax: limits.connectionsMax,
    firstMsMax: limits.firstRequestMsMax,
    idleMsMax: limits.strangerIdleMsMax,
    // On the public listener nobody needs a token.
    isReserved: listener === "operator",
    clock,
    timers,
    onCrowded: options.onCrowded,
    isShared: rangesOf(trustedProxies),
    onLate: (socket) => {
      // Whoever has said nothing is not waiting for an answer, and in the middle of a handshake there is no way to give one.
      if (socket.bytesRead === 0 || (isSecure && !(socket instanceof TLSSocket))) socket.destroy();
      else refuseRaw(new LateError(), socket, listener, random);
    },
  });
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    room.begin(socket);
    response.once("close", () => room.end(socket));
  };
  if (isSecure) takePlaces(server, room);
  else server.on("connection", (socket: Socket) => void room.admit(socket));
  server.prependListener("request", begin);
  server.prependListener("checkExpectation", begin);
  // Only where somebody takes them: a listener for upgrades keeps such requests from the router.
  if (server.listenerCount("upgrade") > 0) {
    server.prependListener("upgrade", ({ socket }: IncomingMessage) => room.begin(socket));
  }
  return room;
}

class LateError extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}

function rangesOf(texts: readonly string[]): (address: string) => boolean {
  const ranges = new BlockList();
  for (const text of texts) {
    const [address = "", bits] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) ranges.addAddress(address, family);
    else ranges.addSubnet(address, Number(bits), family);
  }
  return (address) => ranges.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
