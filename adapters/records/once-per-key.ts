// A request under an idempotency key is done once, however often it comes and whatever dies in between. The row of its key is written before the work
// and completed after it, before the answer leaves.
//
//  1. The same key with another body is refused.
//  2. Two at the same time are one: the second waits for the first, for a while.
//  3. What was answered is answered again, for a day; answers that carry a secret are not kept, and a repeat gets the name of what was made.
//  4. A process that died in between leaves a row without an answer. What comes to the same when it is done again is done again; of everything else
//     a repeat learns that nobody knows, and it is not done.
//     Later than a few minutes it is not done again either: others may have changed things since, and keys that operations have of their own run out.
//  5. Nothing is kept of what was not done: the key is free again.
import { createHash } from "node:crypto";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { keyHoursMax } from "../../contracts/src/idempotency.ts";
import { type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { KeyedRequest, RequestKey } from "../../ports/request-keys.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";

export interface KeyedWork {
  readonly key: RequestKey;
  readonly bodyHash: string;
  /** Done again after it was cut off, it comes to the same. */
  readonly repeatable: boolean;
}

export type Ending =
  | { readonly state: "kept"; readonly answer: Uint8Array }
  /** Done, and its answer is not for keeping; what it made is called so. */
  | { readonly state: "unkept"; readonly made: string }
  | { readonly state: "undone" }
  /** Perhaps done. */
  | { readonly state: "unknown" };

export interface Job<Value> {
  /** Never rejects: what failed is a value as well. */
  work(): Promise<Value>;
  ending(value: Value): Ending;
  replay(answer: Uint8Array): Value;
}

export interface OncePerKey {
  /** Rejects with a Fault when it was not done for its key, or the store does not answer. */
  once<Value>(asked: KeyedWork, job: Job<Value>): Promise<{ readonly value: Value; readonly replayed: boolean }>;
  /** For what was done without waiting for its key: keeps this answer, or gives the first one that was kept for the same body. */
  remember(asked: KeyedWork, answer: Uint8Array): Promise<Uint8Array | undefined>;
}

interface OncePorts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** This process as the leases name it; undefined before it has one. */
  holder(): string | undefined;
}

const hourMs = 3_600_000;
/** A little longer than the lease of a process that was killed. */
const waitMsMax = 7_000;
const lookEveryMs = 200;
/** Below the five minutes for which an order's own key counts. */
const repeatMsMax = 240_000;
const keysPerCallerMax = 100_000;
/** More than one for one, so that the table shrinks. */
const trimmedAtOnce = 10;
/** Larger answers are not kept. */
export const answerBytesMax = 1_048_576;
/** Longer ones are named by their hash: an index holds no text of any length. */
const placeLengthMax = 300;

export function placeOf(operation: string, path: string): string {
  const place = `${operation} ${path}`;
  return place.length <= placeLengthMax ? place : `${operation} ${sha256Hex(path)}`;
}

export function sha256Hex(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

type Found =
  | { readonly kind: "first" | "busy" | "unknown" | "reused" | "full" }
  | { readonly kind: "kept"; readonly answer: Uint8Array }
  | { readonly kind: "unkept"; readonly made: string };

export function oncePerKey(ports: OncePorts): OncePerKey {
  const { store, clock, timers, log } = ports;
  /** What this process is doing, by the whole key; as many as there are calls. */
  const running = new Map<string, Promise<unknown>>();

  async function begin(asked: KeyedWork): Promise<Found> {
    const holder = ports.holder();
    if (holder === undefined) {
      throw new Fault("SERVICE_UNAVAILABLE", "This process is still starting; keys count when it has.", {
        retry: "later",
      });
    }
    return store.transact("request.begin", async (unit) => {
      const row = await unit.requestKeys.lock(asked.key);
      const counting = row !== undefined && row.begunAt > plusMilliseconds(clock.now(), -keyHoursMax * hourMs);
      const found = counting ? await foundIn(unit, row, asked, holder) : await roomFor(unit, asked, row);
      if (found.kind !== "first") return found;
      // Whoever goes on with it does not make it younger.
      await unit.requestKeys.put(asked.key, begun(asked, holder, counting ? row.begunAt : clock.now()));
      return found;
    });
  }

  async function foundIn(unit: UnitOfWork, row: KeyedRequest, asked: KeyedWork, holder: string): Promise<Found> {
    if (row.bodyHash !== asked.bodyHash) return { kind: "reused" };
    if (row.state === "kept") return { kind: "kept", answer: row.answer };
    if (row.state === "unkept") return { kind: "unkept", made: new TextDecoder().decode(row.answer) };
    // Ours and not running any more: how it ended is not known.
    const isAlive =
      row.holder !== holder &&
      (await unit.instances.alive(clock.now())).some(({ incarnation }) => incarnation === row.holder);
    if (isAlive) return { kind: "busy" };
    const isFresh = row.begunAt > plusMilliseconds(clock.now(), -repeatMsMax);
    return { kind: asked.repeatable && isFresh ? "first" : "unknown" };
  }

  async function roomFor(unit: UnitOfWork, { key }: KeyedWork, row: KeyedRequest | undefined): Promise<Found> {
    await unit.requestKeys.trim(plusMilliseconds(clock.now(), -keyHoursMax * hourMs), trimmedAtOnce);
    if (row === undefined && (await unit.requestKeys.hasMany(key.caller, keysPerCallerMax))) return { kind: "full" };
    return { kind: "first" };
  }

  async function record({ key, bodyHash }: KeyedWork, ending: Ending): Promise<void> {
    if (ending.state === "unknown") return;
    await store.transact("request.end", async ({ requestKeys }) => {
      if (ending.state === "undone") return requestKeys.remove(key);
      const row = await requestKeys.lock(key);
      const made = { bodyHash, holder: ports.holder() ?? "", begunAt: row?.begunAt ?? clock.now() };
      return requestKeys.put(key, { ...made, ...keptPart(ending) });
    });
  }

  /** What was done is answered, also when that cannot be kept: a repeat then learns that nobody knows. */
  async function recordOrTell(asked: KeyedWork, ending: Ending): Promise<void> {
    try {
      await record(asked, ending);
    } catch (thrown) {
      log.warn("the answer to an idempotency key could not be kept", {
        place: asked.key.place,
        error: messageOf(thrown),
      });
    }
  }

  async function doIt<Value>(asked: KeyedWork, job: Job<Value>): Promise<Found & { readonly value?: Value }> {
    const found = await begin(asked);
    if (found.kind !== "first") return found;
    const value = await job.work();
    await recordOrTell(asked, job.ending(value));
    return { ...found, value };
  }

  /** One at a time in this process; the next one looks anew. */
  async function inTurn<Value>(asked: KeyedWork, job: Job<Value>, patience: AbortSignal) {
    const name = JSON.stringify([asked.key.caller, asked.key.place, asked.key.key]);
    while (running.has(name)) {
      if (patience.aborted) return { kind: "busy" } as const;
      await Promise.race([running.get(name), timers.sleep(waitMsMax, patience)]);
    }
    const doing = doIt(asked, job);
    const ended = doing.catch(() => undefined).then(() => void running.delete(name));
    running.set(name, ended);
    return doing;
  }

  async function once<Value>(asked: KeyedWork, job: Job<Value>) {
    const patience = new AbortController();
    const cancel = timers.after(waitMsMax, () => patience.abort());
    try {
      for (;;) {
        const found = await inTurn(asked, job, patience.signal);
        if (found.kind === "first") return { value: found.value as Value, replayed: false };
        if (found.kind === "kept") return { value: job.replay(found.answer), replayed: true };
        if (found.kind !== "busy" || patience.signal.aborted) throw refusal(found);
        await timers.sleep(lookEveryMs, patience.signal);
      }
    } finally {
      cancel();
      patience.abort();
    }
  }

  async function remember(asked: KeyedWork, answer: Uint8Array): Promise<Uint8Array | undefined> {
    const found = await begin({ ...asked, repeatable: true });
    if (found.kind === "kept") return found.answer;
    if (found.kind === "first") await record(asked, { state: "kept", answer });
    return undefined;
  }

  return { once, remember };
}

function begun({ bodyHash }: KeyedWork, holder: string, begunAt: Instant): KeyedRequest {
  return { bodyHash, holder, begunAt, state: "begun", answer: new Uint8Array() };
}

function keptPart(
  ending: Extract<Ending, { readonly state: "kept" | "unkept" }>,
): Pick<KeyedRequest, "state" | "answer"> {
  if (ending.state === "unkept") return { state: "unkept", answer: new TextEncoder().encode(ending.made) };
  if (ending.answer.length > answerBytesMax) return { state: "unkept", answer: new Uint8Array() };
  return { state: "kept", answer: ending.answer };
}

function refusal(found: Exclude<Found, { readonly kind: "first" | "kept" }>): Fault {
  switch (found.kind) {
    case "reused":
      return new Fault(
        "IDEMPOTENCY_KEY_REUSED",
        "This Idempotency-Key came with another body before. Nothing was done: use a new key for another request.",
        { retry: "never", isReported: true },
      );
    case "unkept":
      return new Fault(
        "IDEMPOTENT_ANSWER_NOT_KEPT",
        `This was done before under the same Idempotency-Key, and its answer is not kept${found.made === "" ? "" : `; what it made is ${found.made}`}. Nothing was done again.`,
        { retry: "never", isReported: true, facts: { id: found.made } },
      );
    case "unknown":
      return new Fault(
        "IDEMPOTENT_OUTCOME_UNKNOWN",
        "The first request under this Idempotency-Key was cut off before its answer, perhaps after it was done. Nothing was done again: see how things stand, then ask under a new key if it is still wanted.",
        { retry: "never", isReported: true },
      );
    case "full":
      return new Fault(
        "IDEMPOTENCY_KEYS_FULL",
        `A caller may have ${keysPerCallerMax} Idempotency-Keys in ${keyHoursMax} hours. Nothing was done: ask without a key, or later.`,
        { retry: "later" },
      );
    default:
      return new Fault(
        "IDEMPOTENCY_IN_PROGRESS",
        "The first request under this Idempotency-Key has no answer yet. Ask again with the same key.",
        { retry: "later" },
      );
  }
}
