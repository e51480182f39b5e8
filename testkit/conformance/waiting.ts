// Waiting without guessing: a check asks again and again until its condition holds or a generous bound is reached, in real
// time or in the virtual time of its fixture.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

/** A fixture in virtual time passes it here; without `settle` the suites wait in real time. */
export interface Patience {
  /** Lets that many milliseconds pass, and everything that is due in them happen. */
  readonly settle?: (ms: number) => Promise<void>;
}

const stepMs = 10;
const boundMs = 12_000;

export async function pass(fixture: Patience, ms: number): Promise<void> {
  if (fixture.settle !== undefined) return fixture.settle(ms);
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits until the condition holds; after the bound it throws what was awaited and what `seen` has to show. */
export async function eventually(
  fixture: Patience,
  awaited: string,
  condition: () => boolean | Promise<boolean>,
  seen?: () => unknown,
): Promise<void> {
  for (let waitedMs = 0; waitedMs <= boundMs; waitedMs += stepMs) {
    if (await condition()) return;
    await pass(fixture, stepMs);
  }
  throw new Error(
    `waited ${boundMs} ms in vain: ${awaited}${seen === undefined ? "" : `; seen ${JSON.stringify(seen())}`}`,
  );
}

/** Waits until the condition holds or the time is over, and says which came first. */
export async function holdsWithin(fixture: Patience, ms: number, condition: () => boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < ms; waitedMs += stepMs) {
    if (condition()) return true;
    await pass(fixture, stepMs);
  }
  return condition();
}

/** In so many looks, whatever was on its way has come. */
const looksOfSilence = 20;

/** Holds that nothing changes any more. Looks are counted and not time: a machine that is too busy to deliver is also too busy to look. */
export async function stays<Value>(
  fixture: Patience,
  seen: () => Value | Promise<Value>,
  expected: Value,
  looks = looksOfSilence,
): Promise<void> {
  for (let look = 0; look < looks; look += 1) {
    await pass(fixture, stepMs);
    expect(await seen()).toEqual(expected);
  }
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A promise that is resolved from outside: holds a transaction or a handler until the check says go. */
export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Runs a transaction as a good caller does: a conflict that outlived the store's own tries is tried again. */
export async function transactPatiently<T>(
  store: Store,
  name: string,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.transact(name, work);
    } catch (thrown) {
      if (!(thrown instanceof Fault && thrown.code === "STORE_CONFLICT") || tries >= 50) throw thrown;
    }
  }
}

/** The error that a promise rejects with; it is an error of the check itself when it resolves. */
export async function rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (thrown) {
    return thrown;
  }
  throw new Error(`${what} should have been rejected, but resolved to ${JSON.stringify(value)}`);
}
