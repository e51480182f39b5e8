// Places for connections, shared by the HTTP and gRPC listeners. Opening a connection costs its opener nothing, and neither does speaking our
// language: only a token that was verified is proof, and only those who have one keep a place.
//  1. A connection that has not shown within `firstMsMax` that it speaks our language is late, and is ended.
//  2. Whoever has shown no token makes way for anybody new: those without a call in hand before those with one, of the address that has most connections
//     the oldest first, so that somebody who has just come is not sent away for a crowd. One that
//     has no call in hand for `idleMsMax` is ended. A stream that somebody subscribed to is a call.
//  3. An eighth of the places is kept for our own processes and a quarter for callers with a token; strangers share the rest. There is always a place
//     at the door: nobody can be recognised before they have come in.
//  4. One remote address gets at most a tenth of the places. Addresses that many share do not count: this machine's own, unix sockets, and
//     proxies that we trust.
//  5. With TLS the place is taken before the handshake, whose time counts as time without a word; the encrypted connection then has that place.
//  6. Where calls are bounded, a stranger's connection has so many at once and so many a second, and is cut when it brings more: a call costs its
//     server more than its caller, whether it is answered, refused or reset. Before the first token is verified a client may have sent as many as it
//     may have open, so the first number is larger than that.
//  7. A caller with a token for whom there is no place is answered all the same, and makes way like a stranger. That is what health tells.
import type { Socket } from "node:net";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Health } from "../../ports/health.ts";
import type { Identity } from "../../ports/identity.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import { callerKey, callerOf, plainAddress } from "./caller-key.ts";

/** Whom a connection belongs to, as far as it proved. */
export type Standing = "stranger" | "holder" | "own";

export interface RoomOptions {
  readonly connectionsMax: number;
  readonly firstMsMax: number;
  readonly idleMsMax: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether places are kept for callers with a token; not where nobody needs one. */
  readonly isReserved?: boolean;
  /** Whether many callers come from this address; this machine's own are known. */
  readonly isShared?: (address: string) => boolean;
  /** Ends a connection that is late; cuts it when absent. */
  readonly onLate?: (socket: Socket) => void;
  /** How many calls a stranger's connection may bring at once, and how many a second after that; any number without it. */
  readonly strangerCalls?: StrangerCalls;
  /** Told of each that had to make way, or found no place of its own. */
  readonly onCrowded?: ((standing: Standing) => void) | undefined;
}

interface StrangerCalls {
  readonly atOnceMax: number;
  readonly perSecondMax: number;
}

export interface ConnectionRoom {
  /** False when there is no place; the connection has then been cut. */
  admit(socket: Socket): boolean;
  /** The handshake of an admitted connection is done: from now on it is known as the encrypted one. */
  replace(raw: Socket, secured: Socket): void;
  /** The connection speaks our language. */
  prove(socket: Socket): void;
  /** A call of this connection is in hand, until `end`. */
  begin(socket: Socket): void;
  end(socket: Socket): void;
  /** Somebody on this connection showed a good token. */
  know(socket: Socket, standing: Exclude<Standing, "stranger">): void;
  /** Failing while callers with a token, or our own processes, find no place. */
  health(): Health;
  /** Cuts every connection that has not spoken yet: nobody waits for an answer there. */
  cutUnproven(): void;
}

export function standingOf({ kind, tokenId }: Pick<Identity, "kind" | "tokenId">): Exclude<Standing, "stranger"> {
  return kind === "service" && tokenId.startsWith("platform:") ? "own" : "holder";
}

interface Guest {
  /** What its connection is known as: the encrypted one, once there is one. */
  socket: Socket;
  /** Undefined for an address that many share. */
  readonly caller: string | undefined;
  /** Its address, also where that is this machine's; undefined behind a proxy that we trust, and on a unix socket. */
  readonly from: string | undefined;
  standing: Standing;
  hasSpoken: boolean;
  /** A good token was shown, and there was no place for its holder. */
  isUnplaced: boolean;
  calls: number;
  /** Calls that it may still bring, as of then. */
  allowance: number;
  allowanceAt: Instant;
  stopClock: CancelTimer;
}

/** How long health tells of somebody who found no place. */
const failingMs = 30_000;
const nothing: CancelTimer = () => undefined;
const stranger = { standing: "stranger", hasSpoken: false, isUnplaced: false, calls: 0 } as const;
const ranks = { stranger: 0, holder: 1, own: 2 } as const;

/** How many each may have. */
function sharesOf(connectionsMax: number, isReserved: boolean) {
  const share = (part: number): number => (isReserved ? Math.floor(connectionsMax / part) : 0);
  const ownReserved = share(8);
  const knownMax = Math.max(1, connectionsMax - Math.max(1, share(16)));
  return {
    perCallerMax: Math.max(1, Math.floor(connectionsMax / 10)),
    strangersMax: Math.max(1, connectionsMax - ownReserved - share(4)),
    knownMax,
    holdersMax: Math.max(1, knownMax - ownReserved),
  };
}

/** Who is here and who is next to go; knows nothing of calls and tokens. */
function guestList(onGone: (guest: Guest) => void) {
  const guests = new Map<Socket, Guest>();
  /** Strangers without and with a call in hand, the oldest first. */
  const idle = new Map<Socket, Guest>();
  const busy = new Map<Socket, Guest>();
  const counts = new Map<string, number>();
  const fromCounts = new Map<string, number>();
  const known = { holder: 0, own: 0 };

  function forget(socket: Socket): void {
    const guest = guests.get(socket);
    if (guest === undefined) return;
    guest.stopClock();
    guests.delete(socket);
    idle.delete(socket);
    busy.delete(socket);
    if (guest.standing !== "stranger") known[guest.standing] -= 1;
    add(counts, guest.caller, -1);
    add(fromCounts, guest.from, -1);
  }

  /** Of one that is alone with its address, and of one whose address says nothing, 1. */
  const crowdOf = ({ from }: Guest): number => (from === undefined ? 1 : (fromCounts.get(from) ?? 1));

  const countOf = (caller: string): number => counts.get(caller) ?? 0;

  return {
    guests,
    idle,
    busy,
    known,
    countOf,
    add: (socket: Socket, guest: Guest): void => {
      guests.set(socket, guest);
      idle.set(socket, guest);
      add(counts, guest.caller, 1);
      add(fromCounts, guest.from, 1);
      socket.once("close", () => forget(socket));
    },
    /** The guest stays who it is; only what its connection is called changes. */
    rename: (from: Socket, to: Socket): boolean => {
      const guest = guests.get(from);
      if (guest === undefined || to.destroyed) return false;
      guest.socket = to;
      guests.delete(from);
      guests.set(to, guest);
      if (idle.delete(from)) idle.set(to, guest);
      to.once("close", () => forget(to));
      return true;
    },
    /** Makes one place, of this caller's when one is named; false when nobody is to be sent away. */
    makePlace: (caller?: string): boolean => {
      for (const list of [idle, busy]) {
        let found: Guest | undefined;
        for (const guest of list.values()) {
          if (caller !== undefined && guest.caller !== caller) continue;
          if (found === undefined || crowdOf(guest) > crowdOf(found)) found = guest;
        }
        if (found === undefined) continue;
        // At once, because we hear of a connection's end later than the next one comes.
        forget(found.socket);
        found.socket.destroy();
        onGone(found);
        return true;
      }
      return false;
    },
  };
}

/** Whose share its connection is of, and where it comes from. */
function placesOf(
  address: string | undefined,
  isShared: RoomOptions["isShared"],
): readonly [caller: string | undefined, from: string | undefined] {
  const isProxy = address === undefined || isShared?.(plainAddress(address)) === true;
  return [callerOf(address, isShared), isProxy ? undefined : callerKey(address)];
}

function add(counts: Map<string, number>, name: string | undefined, change: number): void {
  if (name === undefined) return;
  const count = (counts.get(name) ?? 0) + change;
  if (count <= 0) counts.delete(name);
  else counts.set(name, count);
}

export function connectionRoom(options: RoomOptions): ConnectionRoom {
  const { connectionsMax, idleMsMax, clock, timers, onCrowded } = options;
  const shares = sharesOf(connectionsMax, options.isReserved ?? true);
  const list = guestList((guest) => crowded(guest.isUnplaced ? "holder" : "stranger"));
  const { guests, idle, busy, known } = list;
  let unplacedAt: Instant | undefined;

  function crowded(standing: Standing): void {
    if (standing !== "stranger") unplacedAt = clock.now();
    onCrowded?.(standing);
  }

  function hasPlace(caller: string | undefined): boolean {
    const isOverShare = caller !== undefined && list.countOf(caller) >= shares.perCallerMax;
    if (isOverShare && !list.makePlace(caller)) return false;
    const hasFree = guests.size < connectionsMax && idle.size + busy.size < shares.strangersMax;
    return hasFree || list.makePlace();
  }

  function settle(socket: Socket, guest: Guest, standing: Exclude<Standing, "stranger">): void {
    if (guest.standing !== "stranger") known[guest.standing] -= 1;
    known[standing] += 1;
    guest.stopClock();
    Object.assign(guest, { standing, stopClock: nothing, isUnplaced: false });
    idle.delete(socket);
    busy.delete(socket);
  }

  return {
    ...callsOf(list, timers, idleMsMax, allowanceOf(options)),
    admit: (socket) => {
      const [caller, from] = placesOf(socket.remoteAddress, options.isShared);
      if (!hasPlace(caller)) {
        socket.destroy();
        crowded("stranger");
        return false;
      }
      const onLate = options.onLate ?? ((late: Socket) => void late.destroy());
      const stopClock = timers.after(options.firstMsMax, () => onLate(guest.socket));
      const allowance = options.strangerCalls?.atOnceMax ?? 0;
      const guest: Guest = { ...stranger, caller, from, socket, allowance, allowanceAt: clock.now(), stopClock };
      list.add(socket, guest);
      return true;
    },
    replace: (raw, secured) => {
      // Its place was given away meanwhile.
      if (!list.rename(raw, secured)) secured.destroy();
    },
    know: (socket, standing) => {
      const guest = guests.get(socket);
      if (guest === undefined || ranks[guest.standing] >= ranks[standing]) return;
      const isFull =
        known.holder + known.own >= shares.knownMax || (standing === "holder" && known.holder >= shares.holdersMax);
      if (guest.standing !== "stranger" || !isFull) return settle(socket, guest, standing);
      if (!guest.isUnplaced) onCrowded?.(standing);
      guest.isUnplaced = true;
      unplacedAt = clock.now();
    },
    health: () => {
      const agoMs = unplacedAt === undefined ? -1 : millisecondsBetween(unplacedAt, clock.now());
      // A clock that was set back must not keep it failing for longer.
      if (agoMs < 0 || agoMs > failingMs) return { status: "ok" };
      const complaint = `Callers with a token found no place among ${connectionsMax} connections in the last ${failingMs / 1_000} s.`;
      return { status: "failing", complaint };
    },
    cutUnproven: () => {
      for (const [socket, guest] of idle) if (!guest.hasSpoken) socket.destroy();
    },
  };
}

/** Takes one call from what a guest may still bring; false when there is none left. */
function allowanceOf({ strangerCalls, clock }: RoomOptions): (guest: Guest) => boolean {
  if (strangerCalls === undefined) return () => true;
  const { atOnceMax, perSecondMax } = strangerCalls;
  return (guest) => {
    // Whoever showed a token is no stranger, though there was no place.
    if (guest.standing !== "stranger" || guest.isUnplaced) return true;
    const now = clock.now();
    // A clock that was set back gives nothing and takes nothing.
    const passedMs = Math.max(0, millisecondsBetween(guest.allowanceAt, now));
    guest.allowance = Math.min(atOnceMax, guest.allowance + (passedMs * perSecondMax) / 1_000) - 1;
    guest.allowanceAt = now;
    return guest.allowance >= 0;
  };
}

/** What calls do to the place of a stranger; those who are known keep theirs. */
function callsOf(
  { guests, idle, busy }: ReturnType<typeof guestList>,
  timers: Timers,
  idleMsMax: number,
  mayCall: (guest: Guest) => boolean,
): Pick<ConnectionRoom, "prove" | "begin" | "end"> {
  /** Without a call in hand it is among the next to go, and does not stay for long. */
  function rest(socket: Socket, guest: Guest): void {
    busy.delete(socket);
    idle.set(socket, guest);
    guest.stopClock();
    guest.stopClock = timers.after(idleMsMax, () => void socket.destroy());
  }

  return {
    prove: (socket) => {
      const guest = idle.get(socket);
      if (guest === undefined || guest.hasSpoken) return;
      guest.hasSpoken = true;
      rest(socket, guest);
    },
    begin: (socket) => {
      const guest = guests.get(socket);
      if (guest === undefined) return;
      guest.calls += 1;
      // A turn later: its frames are being read.
      if (!mayCall(guest)) timers.after(0, () => void socket.destroy());
      if (guest.standing !== "stranger" || guest.calls > 1) return;
      guest.hasSpoken = true;
      guest.stopClock();
      guest.stopClock = nothing;
      idle.delete(socket);
      busy.set(socket, guest);
    },
    end: (socket) => {
      const guest = guests.get(socket);
      if (guest === undefined) return;
      guest.calls = Math.max(0, guest.calls - 1);
      if (guest.standing === "stranger" && guest.calls === 0) rest(socket, guest);
    },
  };
}
