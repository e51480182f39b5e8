// Who keeps a place and who makes way, with sockets from addresses that this machine does not have. The numbers are those of the
// module's header.
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { systemTimers } from "../system/timers.ts";
import { connectionRoom } from "./connection-limit.ts";

function room(connectionsMax: number, isShared: (address: string) => boolean = () => false) {
  const timers = systemTimers();
  const made = connectionRoom({ connectionsMax, firstMsMax: 60_000, timers, isShared });
  const come = (remoteAddress: string | undefined) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false, destroy: () => socket });
    socket.destroy = () => {
      if (!socket.destroyed) setImmediate(() => socket.emit("close"));
      socket.destroyed = true;
      return socket;
    };
    const admitted = made.admit(socket as unknown as Socket);
    return { socket, admitted, prove: () => made.prove(socket as unknown as Socket) };
  };
  return { come, timers };
}

describe("a full room", () => {
  it("sends the oldest away that has proved nothing, and the new one when all have (2)", () => {
    const { come } = room(3);
    const guests = ["127.0.0.1", "127.0.0.1", "127.0.0.1"].map(come);
    guests[0]?.prove();
    const late = come("127.0.0.1");
    expect(guests.map(({ socket }) => socket.destroyed)).toEqual([false, true, false]);
    guests[2]?.prove();
    late.prove();
    const refused = come("127.0.0.1");
    expect([refused.admitted, refused.socket.destroyed]).toEqual([false, true]);
    guests[0]?.socket.emit("close");
    expect(come("127.0.0.1").admitted).toBe(true);
  });
});

describe("one address", () => {
  it.each([
    ["an IPv4 address", "192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["an IPv4 address in IPv6 clothes", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["a /64", "2001:db8:1:2::1", "2001:db8:1:2:a:b:c:d", "2001:db8:1:3::1"],
    ["a /64 with zeros", "2001:db8::1", "2001:db8:0:0:1::", "2001:db8:0:1::1"],
  ])("gets half the places (3): %s", (_name, address, same, other) => {
    const { come } = room(4);
    const mine = [come(address), come(same)];
    for (const { prove } of mine) prove();
    expect(come(same).admitted).toBe(false);
    expect(come(other).admitted).toBe(true);
    mine[0]?.socket.emit("close");
    expect(come(same).admitted).toBe(true);
  });

  it("makes way for itself and for nobody else's sake (3)", () => {
    const { come } = room(6);
    const other = come("192.0.2.2");
    const mine = [come("192.0.2.1"), come("192.0.2.1"), come("192.0.2.1")];
    expect(come("192.0.2.1").admitted).toBe(true);
    expect([other, ...mine].map(({ socket }) => socket.destroyed)).toEqual([false, true, false, false]);
  });

  it.each([
    ["this machine", "127.0.0.1"],
    ["this machine", "::1"],
    ["this machine", "::ffff:127.0.0.1"],
    ["a unix socket", undefined],
    ["a proxy", "10.0.0.1"],
  ])("that many share is not held to that (3): %s", (_name, address) => {
    const { come } = room(4, (given) => given === "10.0.0.1");
    const guests = [1, 2, 3, 4].map(() => come(address));
    for (const { prove } of guests) prove();
    expect(guests.map(({ admitted }) => admitted)).toEqual([true, true, true, true]);
  });
});

it("leaves no timer behind when its guests have gone or proved themselves (1)", async () => {
  const { come, timers } = room(2);
  const guests = [come("127.0.0.1"), come("127.0.0.1"), come("127.0.0.1")];
  guests[1]?.prove();
  guests[2]?.socket.destroy();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(timers.pendingCount()).toBe(0);
});
