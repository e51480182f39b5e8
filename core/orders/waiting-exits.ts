// Exits of the platform that wait for room: the position is there, and approvals that somebody else got and did not send hold it. Such an approval
// keeps its room until its `valid_until`, because it may be on its way to a broker; but no other one follows it before the exit.
//
// Invariants (waiting-exits.test.ts names them):
//  1. Nothing is taken from an approval that may still be sent: in the market there is never more than the position.
//  2. While an exit waits, nobody else gets an approval on its line in its direction, whatever it does to the position: the exit passes as soon as those
//     that were there before it were sent, ran out or were released.
//  3. It waits until a marked exit of the platform passes on that line, the position is gone or turned, or nobody asks for it any more.
import * as instant from "../../contracts/src/instant.ts";
import * as amounts from "../money/amount.ts";
import type { FundBook, SymbolBook } from "../state/records.ts";
import { amount, quoted } from "../state/wording.ts";
import type { OpenOrder } from "./open-order.ts";
import type { OrderBook } from "./reservations.ts";

/** Who asks about an order. */
export interface Asker {
  /** As records name it; empty when it is not known. */
  readonly actor: string;
  /** The platform's own order management, which sends what is approved. */
  readonly isPlatform: boolean;
}

export const unknownAsker: Asker = { actor: "", isPlatform: false };

interface WaitingExit {
  readonly orderId: string;
  readonly fundId: string;
  readonly symbol: string;
  readonly direction: 1 | -1;
  readonly since: instant.Instant;
  readonly until: instant.Instant;
}

/** By the line and the direction. */
export type WaitingExits = Map<string, WaitingExit>;

/** Longer than the longest pause between two attempts at an exit, which is a minute. */
const waitMs = 90_000;
const holdersMax = 3;

const keyOf = (fundId: string, symbol: string, direction: number): string => `${direction} ${fundId} ${symbol}`;

/** What is to be put back when the check is taken back. */
export interface WaitingUndo {
  readonly key: string;
  readonly before: WaitingExit | undefined;
}

/** Remembers that the exit waits; one that waited before keeps since when. */
export function awaitRoom(
  exits: WaitingExits,
  exit: Pick<WaitingExit, "orderId" | "fundId" | "symbol" | "direction">,
  at: instant.Instant,
): WaitingUndo {
  const key = keyOf(exit.fundId, exit.symbol, exit.direction);
  const before = exits.get(key);
  const since = before === undefined || before.until < at ? at : before.since;
  exits.set(key, { ...exit, since, until: instant.plusMilliseconds(at, waitMs) });
  return { key, before };
}

export function stopWaiting(
  exits: WaitingExits,
  fundId: string,
  symbol: string,
  direction: 1 | -1,
): WaitingUndo | undefined {
  const key = keyOf(fundId, symbol, direction);
  const before = exits.get(key);
  return exits.delete(key) ? { key, before } : undefined;
}

export function putBack(exits: WaitingExits, { key, before }: WaitingUndo): void {
  if (before === undefined) exits.delete(key);
  else exits.set(key, before);
}

/** The exit that waits on that line in that direction, as long as there is something to exit from. */
export function waitingExit(
  exits: WaitingExits,
  fundId: string,
  symbol: string,
  direction: 1 | -1 | 0,
  position: amounts.Amount,
  at: instant.Instant,
): WaitingExit | undefined {
  if (direction === 0 || !(direction === 1 ? amounts.isNegative(position) : amounts.isPositive(position)))
    return undefined;
  const key = keyOf(fundId, symbol, direction);
  const exit = exits.get(key);
  if (exit === undefined || at <= exit.until) return exit;
  exits.delete(key);
  return undefined;
}

/** What holds the room that an exit needs. */
interface RoomHeld {
  /** Whether approvals are among it that were not shown to be sent. */
  readonly byUnsent: boolean;
  /** Who holds how much, for people. */
  readonly words: string;
}

/** Undefined when no other order is open on the line in that direction. It goes through all open orders, so ask only when an exit was denied. */
export function roomHeld(
  { open }: OrderBook,
  fund: FundBook,
  book: SymbolBook,
  direction: 1 | -1,
  except: OpenOrder | undefined,
  at: instant.Instant,
): RoomHeld | undefined {
  const holders: OpenOrder[] = [];
  open.visit(0, Number.MAX_SAFE_INTEGER, (order) => {
    const isOnLine = order.fund === fund && order.book.symbol === book.symbol && order.direction === direction;
    if (isOnLine && order !== except && !(at > order.unsentUntil)) holders.push(order);
  });
  if (holders.length === 0) return undefined;
  holders.sort((left, right) => (amounts.isMore(right.remaining, left.remaining) ? 1 : -1));
  const shown = holders.slice(0, holdersMax).map(holderWords);
  const rest = holders.length - shown.length;
  return {
    byUnsent: holders.some(isUnsent),
    words: `${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`,
  };
}

function isUnsent({ unsentUntil, amendments }: OpenOrder): boolean {
  return !Number.isNaN(unsentUntil) || amendments.some((waiting) => !Number.isNaN(waiting.unsentUntil));
}

function holderWords(order: OpenOrder): string {
  const { id, askedBy, remaining, unsentUntil } = order;
  const by = askedBy === "" ? "" : ` asked for by ${askedBy}`;
  const state = Number.isNaN(unsentUntil)
    ? "sent"
    : `not shown to be sent, valid until ${instant.format(instant.fromMicroseconds(unsentUntil))}`;
  return `${amount(remaining)} of order ${quoted(id)}${by} (${state})`;
}
