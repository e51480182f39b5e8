// Whose password is verified next, of those who try from outside.
//  1. Addresses from which somebody logged in lately go before others, and then the one that tried wrongly least lately; among equal ones the one that waits
//     longest. Lately is among the last few hundred tries. Every fourth turn is that of the address that waits longest, so that nobody waits for ever.
//  2. One address has so many waiting, and no more.
//  3. When no place is left, whoever tried most gives way: an address that tried less than others is not refused because of them.
import { Fault } from "../../contracts/src/fault.ts";
import type { Timers } from "../../ports/timers.ts";

export interface PasswordTurnsLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerAddressMax: number;
  /** How long a try from outside keeps its place after its answer. */
  readonly restMs: number;
}

interface Waiter {
  begin(): void;
  refuse(fault: Fault): void;
}

interface PasswordTurns {
  inTurn<T>(work: () => Promise<T>, from?: string): Promise<T>;
  /** The password from there was right: its tries stand against nobody. */
  wasRight(from: string): void;
}

const tooMany = (): Fault =>
  new Fault("RESOURCE_EXHAUSTED", "Too many logins at once: try again in a moment.", { retry: "later" });

export function createPasswordTurns(timers: Pick<Timers, "after">, limits: PasswordTurnsLimits): PasswordTurns {
  const { runningMax, waitingMax, waitingPerAddressMax, restMs } = limits;
  /** By address, whoever waits longest first. Work of our own has none. */
  const waiting = new Map<string, Waiter[]>();
  const tries = triesLately();
  let running = 0;
  let waitingCount = 0;
  let given = 0;

  async function take(from: string | undefined): Promise<void> {
    const address = from ?? "";
    if (from !== undefined) tries.count(address);
    if (running < runningMax) {
      running += 1;
      return;
    }
    const line = waiting.get(address) ?? [];
    if (from !== undefined && line.length >= waitingPerAddressMax) throw tooMany();
    if (waitingCount >= waitingMax) makePlace(address);
    waiting.set(address, line);
    waitingCount += 1;
    // Whoever finishes hands its place on, so that nobody slips in between.
    await new Promise<void>((begin, refuse) => line.push({ begin, refuse }));
  }

  /** Throws where nobody who waits tried more. */
  function makePlace(address: string): void {
    const [most] = addresses((one, other) => tries.of(other) - tries.of(one));
    if (most === undefined || tries.of(most) <= tries.of(address)) throw tooMany();
    leave(most, waiting.get(most)?.pop())?.refuse(tooMany());
  }

  function give(): void {
    given += 1;
    const isLongest = given % longestEvery === 0;
    const [next] = isLongest ? [...waiting.keys()] : addresses((one, other) => tries.of(one) - tries.of(other));
    if (next === undefined) running -= 1;
    else leave(next, waiting.get(next)?.shift())?.begin();
  }

  function leave(address: string, waiter: Waiter | undefined): Waiter | undefined {
    const line = waiting.get(address) ?? [];
    waiting.delete(address);
    // Behind those of as many tries.
    if (line.length > 0) waiting.set(address, line);
    waitingCount -= 1;
    return waiter;
  }

  const addresses = (order: (one: string, other: string) => number): readonly string[] =>
    [...waiting.keys()].toSorted(order);

  return {
    wasRight: tries.wasRight,
    inTurn: async (work, from) => {
      await take(from);
      try {
        return await work();
      } finally {
        if (from === undefined) give();
        else timers.after(restMs, give);
      }
    },
  };
}

const longestEvery = 4;
/** After so many tries of all addresses what each tried counts half. */
const halvedAfter = 512;
const knownMax = 1_000;
/** More than anybody can try: whoever is not known stands behind all who are. */
const unknown = 1e6;

function triesLately() {
  const counts = new Map<string, number>();
  /** Who was right last is last. */
  const known = new Set<string>();
  let counted = 0;
  return {
    of: (address: string): number => (counts.get(address) ?? 0) + (known.has(address) ? 0 : unknown),
    wasRight: (address: string): void => {
      counts.delete(address);
      known.delete(address);
      known.add(address);
      const [oldest = ""] = known;
      if (known.size > knownMax) known.delete(oldest);
    },
    count: (address: string): void => {
      counts.set(address, (counts.get(address) ?? 0) + 1);
      counted += 1;
      if (counted < halvedAfter) return;
      counted = 0;
      for (const [each, count] of counts) {
        if (count > 1) counts.set(each, Math.floor(count / 2));
        else counts.delete(each);
      }
    },
  };
}
