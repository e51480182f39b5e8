// Room for connections, shared by the HTTP and gRPC listeners: opening a connection costs its opener nothing, so a place is worth
// having only to somebody who then speaks.
//  1. A connection that has not proved within `firstMsMax` that it speaks our language is late, and is ended.
//  2. When all places are taken, the oldest connection without that proof makes way for the new one. Only when every place is
//     taken by one that has it is the new one turned away.
//  3. One remote address gets at most half the places, by the same rule. Addresses that many share do not count: this machine's own,
//     unix sockets, and proxies that we trust.
import type { Socket } from "node:net";
import type { CancelTimer, Timers } from "../../ports/timers.ts";

export interface RoomOptions {
  readonly connectionsMax: number;
  readonly firstMsMax: number;
  readonly timers: Timers;
  /** Whether many callers come from this address; this machine's own are known. */
  readonly isShared?: (address: string) => boolean;
  /** Ends a connection that is late; cuts it when absent. */
  readonly onLate?: (socket: Socket) => void;
}

export interface ConnectionRoom {
  /** False when there is no place; the connection has then been cut. */
  admit(socket: Socket): boolean;
  /** The connection speaks our language and keeps its place. */
  prove(socket: Socket): void;
  /** Cuts every connection without that proof: nobody waits for an answer there. */
  cutUnproven(): void;
}

interface Guest {
  /** Undefined for an address that many share. */
  readonly caller: string | undefined;
  readonly stopClock: CancelTimer;
}

export function connectionRoom(options: RoomOptions): ConnectionRoom {
  const { connectionsMax, firstMsMax, timers, onLate = (socket) => void socket.destroy() } = options;
  const perCallerMax = Math.max(1, Math.floor(connectionsMax / 2));
  const guests = new Map<Socket, Guest>();
  /** Those without proof, the oldest first. */
  const unproven = new Map<Socket, Guest>();
  const counts = new Map<string, number>();

  function forget(socket: Socket): void {
    const guest = guests.get(socket);
    if (guest === undefined) return;
    guest.stopClock();
    guests.delete(socket);
    unproven.delete(socket);
    if (guest.caller === undefined) return;
    const left = (counts.get(guest.caller) ?? 1) - 1;
    if (left === 0) counts.delete(guest.caller);
    else counts.set(guest.caller, left);
  }

  /** Makes one place, of this caller's when one is named; false when nobody is to be sent away. */
  function makePlace(caller?: string): boolean {
    for (const [socket, guest] of unproven) {
      if (caller !== undefined && guest.caller !== caller) continue;
      // At once, because the end of a connection is reported later than the next one comes.
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  function hasPlace(caller: string | undefined): boolean {
    if (caller !== undefined && (counts.get(caller) ?? 0) >= perCallerMax) return makePlace(caller);
    return guests.size < connectionsMax || makePlace();
  }

  return {
    admit: (socket) => {
      const caller = callerOf(socket.remoteAddress, options.isShared);
      if (!hasPlace(caller)) {
        socket.destroy();
        return false;
      }
      const guest: Guest = { caller, stopClock: timers.after(firstMsMax, () => onLate(socket)) };
      guests.set(socket, guest);
      unproven.set(socket, guest);
      if (caller !== undefined) counts.set(caller, (counts.get(caller) ?? 0) + 1);
      socket.once("close", () => forget(socket));
      return true;
    },
    prove: (socket) => {
      unproven.get(socket)?.stopClock();
      unproven.delete(socket);
    },
    cutUnproven: () => {
      for (const socket of unproven.keys()) socket.destroy();
    },
  };
}

/** Under which name an address is counted: an IPv4 address is one however it is written, and an IPv6 /64 is one. */
export function callerKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return plain.includes(":") ? subnetOf(plain) : plain;
}

/** Undefined for what many share. A whole IPv6 /64 is one caller, because every home has that many addresses. */
function callerOf(address: string | undefined, isShared?: (address: string) => boolean): string | undefined {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "");
  if (plain === undefined || plain === "::1" || plain.startsWith("127.") || isShared?.(plain)) return undefined;
  return plain.includes(":") ? subnetOf(plain) : plain;
}

function subnetOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  if (tail === undefined) return groups.slice(0, 4).join(":");
  const end = tail.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - end.length) }, () => "0");
  return [...groups, ...zeros, ...end].slice(0, 4).join(":");
}
