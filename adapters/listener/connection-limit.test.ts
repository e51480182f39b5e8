// Who keeps a place and who makes way, with sockets from addresses that this machine does not have. The numbers are those of the
// module's header.
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { connectionRoom, type RoomOptions, type Standing, standingOf } from "./connection-limit.ts";

function room(connectionsMax: number, more: Partial<RoomOptions> = {}) {
  const timers = seenTimers();
  let nowMs = 1_000_000;
  const crowded: Standing[] = [];
  const made = connectionRoom({
    connectionsMax,
    firstMsMax: 60_000,
    idleMsMax: 60_000,
    clock: { now: () => fromUnixMs(nowMs) },
    timers,
    onCrowded: (standing) => crowded.push(standing),
    ...more,
  });
  const come = (remoteAddress: string | undefined = "127.0.0.1") => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false, destroy: () => socket });
    socket.destroy = () => {
      if (!socket.destroyed) setImmediate(() => socket.emit("close"));
      socket.destroyed = true;
      return socket;
    };
    const place = socket as unknown as Socket;
    const admitted = made.admit(place);
    return {
      socket,
      admitted,
      isHere: () => !socket.destroyed,
      prove: () => made.prove(place),
      begin: () => made.begin(place),
      end: () => made.end(place),
      know: (standing: "holder" | "own") => made.know(place, standing),
    };
  };
  /** One after the other, each known before the next one comes. */
  const manyKnown = (count: number, standing: "holder" | "own") =>
    Array.from({ length: count }, () => {
      const guest = come();
      guest.know(standing);
      return guest;
    });
  const many = (count: number, address?: string) => Array.from({ length: count }, () => come(address));
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { made, come, many, manyKnown, timers, crowded, pass };
}

const here = (guests: readonly { isHere(): boolean }[]): readonly boolean[] => guests.map((guest) => guest.isHere());

describe("strangers", () => {
  it("make way for anybody new, the oldest first, also when they speak our language (2)", () => {
    const { many, come, crowded } = room(3);
    const guests = many(3);
    for (const guest of guests) guest.prove();
    expect(come().admitted).toBe(true);
    expect(here(guests)).toEqual([false, true, true]);
    expect(crowded).toEqual(["stranger"]);
  });

  it("make way where most of them come from, so that somebody alone is not sent away for a crowd (2)", () => {
    const { many, come } = room(8);
    const alone = come("192.0.2.1");
    const crowd = [...many(2, "127.0.0.2"), ...many(5, "127.0.0.3")];
    const later = [come("127.0.0.4"), come("127.0.0.5")];
    expect([alone.isHere(), ...here(later)]).toEqual([true, true, true]);
    expect(here(crowd)).toEqual([false, true, false, false, false, false, true]);
  });

  it("with a call in hand are the last to go, and go all the same (2)", () => {
    const { many, come } = room(3);
    const guests = many(3);
    guests[0]?.begin();
    const late = come();
    expect(here(guests)).toEqual([true, false, true]);
    guests[2]?.begin();
    late.begin();
    expect(come().admitted).toBe(true);
    // Whoever ended a call is among those without one again.
    expect(here(guests)).toEqual([false, false, true]);
  });

  it("are cut after a time without a call, and not while one is in hand (2)", () => {
    const { many, timers } = room(8, { idleMsMax: 50 });
    const [silent, spoke, streams, asked, known] = many(5);
    spoke?.prove();
    streams?.begin();
    asked?.begin();
    asked?.end();
    known?.begin();
    known?.know("holder");
    known?.end();
    timers.fire(50);
    expect(here([spoke, asked].flatMap((guest) => guest ?? []))).toEqual([false, false]);
    expect(here([silent, streams, known].flatMap((guest) => guest ?? []))).toEqual([true, true, true]);
  });

  it("that bring more calls than they may are cut, and who showed a token is not (6)", async () => {
    const { come, pass } = room(20, { strangerCalls: { atOnceMax: 5, perSecondMax: 10 } });
    const [flooding, steady, known] = [come(), come(), come()];
    known.know("holder");
    const bring = (guest: ReturnType<typeof come>, count: number): void => {
      for (let n = 0; n < count; n += 1) {
        guest.begin();
        guest.end();
      }
    };
    bring(steady, 5);
    pass(300);
    bring(steady, 3);
    bring(known, 100);
    bring(flooding, 5);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(here([flooding, steady, known])).toEqual([true, true, true]);
    bring(flooding, 1);
    await expect.poll(() => flooding.isHere()).toBe(false);
    expect(here([steady, known])).toEqual([true, true]);
  });

  it("leave the places of others free (3)", () => {
    const { many, come } = room(32);
    const strangers = many(32);
    expect(strangers.filter((guest) => guest.isHere())).toHaveLength(32 - 4 - 8);
    const known = many(8);
    for (const guest of known) guest.know("holder");
    expect(here(known)).toEqual(known.map(() => true));
    many(64);
    expect(here(known)).toEqual(known.map(() => true));
    expect(come().admitted).toBe(true);
  });

  it("have all the places where nobody needs a token", () => {
    const { many } = room(32, { isReserved: false });
    expect(here(many(32))).toEqual(Array.from({ length: 32 }, () => true));
  });
});

describe("callers with a token", () => {
  it("keep their places whatever comes, and leave some for our own processes (3, 5)", () => {
    const { many, manyKnown, made, crowded } = room(32);
    const holders = manyKnown(40, "holder");
    // 32 places, of which 4 are our own processes' and 2 are at the door.
    expect(here(holders.slice(0, 26))).toEqual(Array.from({ length: 26 }, () => true));
    expect(made.health().status).toBe("failing");
    expect(crowded).toContain("holder");
    const own = manyKnown(4, "own");
    expect(here(own)).toEqual([true, true, true, true]);
    many(100);
    expect(here([...own, ...holders.slice(0, 26)])).not.toContain(false);
  });

  it("that found no place are what health tells of, for half a minute, and strangers are not (5)", () => {
    const { many, manyKnown, made, pass } = room(16);
    many(64);
    expect(made.health()).toEqual({ status: "ok" });
    manyKnown(16, "holder");
    expect(made.health()).toEqual({ status: "failing", complaint: expect.stringContaining("16 connections") });
    pass(31_000);
    expect(made.health()).toEqual({ status: "ok" });
  });

  it("are our own processes when the platform's key says so", () => {
    expect(standingOf({ kind: "service", tokenId: "platform:oms" })).toBe("own");
    expect(standingOf({ kind: "service", tokenId: "k1" })).toBe("holder");
    expect(standingOf({ kind: "operator", tokenId: "platform:oms" })).toBe("holder");
  });

  it("do not give up a better standing for a lesser one", () => {
    const { come, many, made } = room(16);
    const own = come();
    own.know("own");
    own.know("holder");
    const holder = come();
    holder.know("holder");
    holder.know("own");
    many(40);
    expect(here([own, holder])).toEqual([true, true]);
    expect(made.health()).toEqual({ status: "ok" });
  });
});

describe("one address", () => {
  it.each([
    ["an IPv4 address", "192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["an IPv4 address in IPv6 clothes", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["a /64", "2001:db8:1:2::1", "2001:db8:1:2:a:b:c:d", "2001:db8:1:3::1"],
    ["a /64 with zeros", "2001:db8::1", "2001:db8:0:0:1::", "2001:db8:0:1::1"],
  ])("gets a tenth of the places (4): %s", (_name, address, same, other) => {
    const { come } = room(20);
    const mine = [come(address), come(same)];
    for (const guest of mine) guest.know("holder");
    expect(come(same).admitted).toBe(false);
    expect(come(other).admitted).toBe(true);
    mine[0]?.socket.emit("close");
    expect(come(same).admitted).toBe(true);
  });

  it("makes way for itself and for nobody else's sake (4)", () => {
    const { come } = room(30);
    const other = come("192.0.2.2");
    const mine = [come("192.0.2.1"), come("192.0.2.1"), come("192.0.2.1")];
    expect(come("192.0.2.1").admitted).toBe(true);
    expect(here([other, ...mine])).toEqual([true, false, true, true]);
  });

  it.each([
    ["this machine", "127.0.0.1"],
    ["this machine", "::1"],
    ["this machine", "::ffff:127.0.0.1"],
    ["a unix socket", undefined],
    ["a proxy", "10.0.0.1"],
  ])("that many share is not held to that (4): %s", (_name, address) => {
    const { made } = room(20, { isShared: (given) => given === "10.0.0.1" });
    const sockets = [1, 2, 3, 4].map(() => Object.assign(new EventEmitter(), { remoteAddress: address }));
    expect(sockets.map((socket) => made.admit(socket as unknown as Socket))).toEqual([true, true, true, true]);
    for (const socket of sockets) socket.emit("close");
  });
});

it("leaves no timer behind when its guests have gone or are known (1)", async () => {
  const { come, timers } = room(2);
  const guests = [come(), come(), come()];
  guests[1]?.know("holder");
  guests[2]?.prove();
  guests[2]?.socket.destroy();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(timers.pendingCount()).toBe(0);
});
