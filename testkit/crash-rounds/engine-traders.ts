// The load: traders that ask as fast as they are answered, repeat keys on purpose, and send whatever got no answer again with the same key
// until it has one. They never stop because something is dead; pausing them means finishing what is unanswered and beginning nothing new.
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import type { Line } from "./engine-lines.ts";
import { newOrder, otherBody } from "./engine-orders.ts";
import { answerOf, type Task, type Witness } from "./engine-witness.ts";

export interface TradersOptions {
  readonly lines: readonly { readonly line: Line; readonly inFlight: number }[];
  readonly throws: Prng;
  readonly witness: Witness;
  /** An approval of a first send, to be filled or cancelled. */
  readonly approved: (order: Order) => void;
}

export interface Traders {
  resume(): void;
  /** Resolves when everything that was sent is answered. */
  settle(msMax: number): Promise<void>;
  /** Answers since the beginning. */
  answered(): number;
  /** Why the last try failed, for the message when nothing comes back. */
  lastTrouble(): string;
  stop(): Promise<void>;
}

const tryAgainMs = 40;
const idleMs = 10;
/** Orders that may be repeated; all of them younger than the five minutes for which a key counts. */
const repeatableMax = 500;
const repeatableMsMax = 200_000;
const againShare = 0.08;
const otherBodyShare = 0.04;

export function runTraders({ lines, throws, witness, approved }: TradersOptions): Traders {
  const repeatable: { readonly order: Order; readonly atMs: number }[] = [];
  let isTrading = false;
  let isStopping = false;
  let busy = 0;
  let lastTrouble = "none";

  function nextTask(own: Prng): Task {
    const chosen = own.word() / 0x1_0000_0000;
    const old = chosen < againShare + otherBodyShare ? repeatable[own.below(repeatable.length)] : undefined;
    if (old === undefined || Date.now() - old.atMs > repeatableMsMax) {
      return { kind: "first", order: newOrder(own), tries: 0, sentAt: 0 };
    }
    if (chosen < againShare) return { kind: "again", order: old.order, tries: 0, sentAt: 0 };
    return { kind: "other body", order: otherBody(old.order), tries: 0, sentAt: 0 };
  }

  function note(task: Task, bytes: Uint8Array): void {
    const answer = answerOf(task, bytes);
    witness.answers.push(answer);
    if (task.kind !== "first") return;
    repeatable.push({ order: task.order, atMs: Date.now() });
    if (repeatable.length > repeatableMax) repeatable.shift();
    // An approval that was lost on the way is known from the answer to the second try.
    if (answer.approved || answer.originalApproved) approved(task.order);
  }

  async function untilAnswered(line: Line, task: Task): Promise<void> {
    while (!isStopping) {
      task.tries += 1;
      witness.sends += 1;
      const sentAt = witness.sends;
      task.sentAt = sentAt;
      witness.underWay.add(sentAt);
      try {
        note(task, await line.ask(task.order));
        return;
      } catch (error) {
        witness.unanswered += 1;
        lastTrouble = String(error);
        await pause(tryAgainMs);
      } finally {
        witness.underWay.delete(sentAt);
      }
    }
  }

  async function trade(line: Line, own: Prng): Promise<void> {
    while (!isStopping) {
      if (!isTrading) {
        await pause(idleMs);
        continue;
      }
      busy += 1;
      await untilAnswered(line, nextTask(own));
      busy -= 1;
    }
  }

  const trading = lines.flatMap(({ line, inFlight }, place) =>
    Array.from({ length: inFlight }, (_, lane) => trade(line, throws.fork(`trader ${place}.${lane}`))),
  );
  return {
    resume() {
      isTrading = true;
    },
    async settle(msMax) {
      isTrading = false;
      const until = Date.now() + msMax;
      while (busy > 0 && Date.now() < until) await pause(idleMs);
      if (busy > 0) throw new Error(`${busy} orders were not answered within ${msMax} ms; last: ${lastTrouble}`);
    },
    answered: () => witness.answers.length,
    lastTrouble: () => lastTrouble,
    async stop() {
      isStopping = true;
      await Promise.all(trading);
    },
  };
}
