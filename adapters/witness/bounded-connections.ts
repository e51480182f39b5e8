// Keeps slow callers from shutting others out: a connection has a short time to say what it wants, and when there are too many, one that has not said
// it yet makes room for the new one. Nobody is refused because of who waits already: an honest caller says everything at once.
//
//  1. At most so many connections of one address, and so many in all; beyond that the oldest that is still silent is cut off, of the address that
//     has the most.
//  2. A connection whose request was read whole is never cut off here: its answer is under way.
import type { Socket } from "node:net";

interface BoundsOnConnections {
  readonly perAddressMax: number;
  readonly allMax: number;
  /** From the connection to the last byte of its request. */
  readonly requestMsMax: number;
}

interface BoundedConnections {
  /** To be told of every new connection. */
  opened(socket: Socket): void;
  /** The connection's request was read whole. */
  heard(socket: Socket): void;
}

interface Waiting {
  readonly socket: Socket;
  readonly address: string;
  readonly timer: NodeJS.Timeout;
  isHeard: boolean;
}

export function boundConnections({ perAddressMax, allMax, requestMsMax }: BoundsOnConnections): BoundedConnections {
  /** In the order in which they came. */
  const open = new Map<Socket, Waiting>();
  const counts = new Map<string, number>();

  function forget(socket: Socket): void {
    const waiting = open.get(socket);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    open.delete(socket);
    const left = (counts.get(waiting.address) ?? 1) - 1;
    if (left === 0) counts.delete(waiting.address);
    else counts.set(waiting.address, left);
  }

  function cut(socket: Socket): void {
    forget(socket);
    socket.destroy();
  }

  /** The oldest that has not said what it wants; when all of that address have, the newest goes. */
  function makeRoom(address: string, newest: Socket): void {
    const silent = [...open.values()].find(
      (each) => each.address === address && !each.isHeard && each.socket !== newest,
    );
    cut(silent?.socket ?? newest);
  }

  function crowded(): string {
    let [most, count] = ["", 0];
    for (const [address, each] of counts) if (each > count) [most, count] = [address, each];
    return most;
  }

  return {
    opened(socket) {
      const address = socket.remoteAddress ?? "";
      const timer = setTimeout(() => cut(socket), requestMsMax);
      open.set(socket, { socket, address, timer, isHeard: false });
      counts.set(address, (counts.get(address) ?? 0) + 1);
      socket.once("close", () => forget(socket));
      if ((counts.get(address) ?? 0) > perAddressMax) makeRoom(address, socket);
      if (open.size > allMax) makeRoom(crowded(), socket);
    },
    heard(socket) {
      const waiting = open.get(socket);
      if (waiting === undefined) return;
      waiting.isHeard = true;
      clearTimeout(waiting.timer);
    },
  };
}
