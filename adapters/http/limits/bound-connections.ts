// The bound on an HTTP listener's connections: a connection proves itself with the headers of its first request.
import type { IncomingMessage, Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import type { Listener } from "../../../ports/http.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { connectionRoom } from "../../listener/connection-limit.ts";
import { refuseRaw } from "../raw-refusal.ts";
import type { HttpLimits } from "./limits.ts";

export interface BoundOptions {
  readonly listener: Listener;
  readonly limits: HttpLimits;
  readonly timers: Timers;
  readonly random: Random;
  readonly trustedProxies?: readonly string[];
}

export function boundConnections(server: Server, options: BoundOptions): void {
  const { listener, limits, timers, random, trustedProxies = [] } = options;
  const room = connectionRoom({
    connectionsMax: limits.connectionsMax,
    firstMsMax: limits.firstRequestMsMax,
    timers,
    isShared: rangesOf(trustedProxies),
    onLate: (socket) => {
      // Whoever has said nothing is not waiting for an answer.
      if (socket.bytesRead === 0) socket.destroy();
      else refuseRaw(new LateError(), socket, listener, random);
    },
  });
  const prove = ({ socket }: IncomingMessage): void => room.prove(socket);
  server.on("connection", (socket: Socket) => void room.admit(socket));
  server.prependListener("request", prove);
  server.prependListener("checkExpectation", prove);
  // Only where somebody takes them: a listener for upgrades keeps such requests from the router.
  if (server.listenerCount("upgrade") > 0) server.prependListener("upgrade", prove);
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
