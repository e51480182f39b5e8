// The load of the audit log's crash rounds: programs that append over gRPC and send whatever got no answer again with the same key, and programs that
// publish into the outbox. Both swear to what was acknowledged; neither stops because something is dead.

import { messageOf } from "../../contracts/src/fault.ts";
import type { AuditEntry } from "../../contracts/src/generated/svc/v1/audit.ts";
import type { Store } from "../../ports/store.ts";
import { testClient } from "../grpc/test-client.ts";
import { pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import { publishSource } from "./load.ts";

/** An append that was answered. */
export interface AppendAcknowledged {
  readonly key: string;
  /** Who appended, and the how-manieth of it this is: it begins the next when this one is acknowledged. */
  readonly lane: string;
  readonly number: number;
  readonly sequence: number;
  readonly hash: string;
}

export interface AuditLoad {
  readonly appends: readonly AppendAcknowledged[];
  /** Event ids of acknowledged transactions. */
  readonly published: readonly string[];
  /** Appends that were sent more than once. */
  readonly repeated: () => number;
  /** How many were sent so far, repetitions included. */
  readonly sends: () => number;
  resume(): void;
  /** Resolves when everything that was sent is answered. */
  settle(msMax: number): Promise<void>;
  lastTrouble(): string;
  turnTo(address: string): void;
  stop(): Promise<void>;
}

export interface AuditLoadOptions {
  readonly address: string;
  readonly token: string;
  readonly store: Store;
  readonly throws: Prng;
}

const lanes = 32;
const publishers = 4;
const subjectCount = 12;
const tryAgainMs = 40;
const idleMs = 10;
const answerMsMax = 8_000;
export const action = "note.made";
// A test does not wait a second before it looks whether the log is back.
const reconnecting = {
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 200,
};

type Client = ReturnType<typeof testClient>;

function connect(address: string, token: string): Client {
  const [host = "", port = ""] = address.split(":");
  return testClient({ host, port: Number(port) }, { token, ...reconnecting });
}

export function runAuditLoad({ address, token, store, throws }: AuditLoadOptions): AuditLoad {
  const appends: AppendAcknowledged[] = [];
  const published: string[] = [];
  let client = connect(address, token);
  let isLoading = false;
  let isStopping = false;
  let busy = 0;
  let sends = 0;
  let repeated = 0;
  let lastTrouble = "none";

  async function untilDone(work: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; !isStopping; tries += 1) {
      try {
        if (await work()) return;
      } catch (thrown) {
        lastTrouble = messageOf(thrown);
      }
      if (tries === 0) repeated += 1;
      await pause(tryAgainMs);
    }
  }

  async function append(lane: string, number: number, own: Prng): Promise<void> {
    const key = own.uuid();
    const subject_id = `drill-${own.below(subjectCount)}`;
    const request = { idempotency_key: key, actor: "", action, subject_id, data: { key, lane, number } };
    await untilDone(async () => {
      sends += 1;
      const { status, details, answer } = await client.call("Operations", "AppendAudit", request, {
        deadlineMs: answerMsMax,
      });
      if (status !== "OK") lastTrouble = `${status} ${details}`;
      if (status === "INVALID_ARGUMENT") throw new Error(lastTrouble);
      if (status !== "OK") return false;
      const { sequence, hash } = answer as AuditEntry;
      appends.push({ key, lane, number, sequence, hash });
      return true;
    });
  }

  /** What is not acknowledged may be there or not; what is, must be. */
  async function publish(author: string, number: number, own: Prng): Promise<void> {
    const key = `drill/${own.below(subjectCount)}`;
    try {
      published.push(
        await store.transact("crash-rounds.publish", (unit) => publishSource(unit.events, { key, author, number })),
      );
    } catch (thrown) {
      lastTrouble = messageOf(thrown);
      await pause(tryAgainMs);
    }
    await pause(own.below(idleMs));
  }

  async function run(name: string, step: (name: string, number: number, own: Prng) => Promise<void>): Promise<void> {
    const own = throws.fork(name);
    for (let number = 0; !isStopping; ) {
      if (!isLoading) {
        await pause(idleMs);
        continue;
      }
      busy += 1;
      await step(name, number, own);
      busy -= 1;
      number += 1;
    }
  }

  const running = Promise.all([
    ...Array.from({ length: lanes }, (_, lane) => run(`lane-${lane}`, append)),
    ...Array.from({ length: publishers }, (_, publisher) => run(`publisher-${publisher}`, publish)),
  ]);

  return {
    appends,
    published,
    repeated: () => repeated,
    sends: () => sends,
    resume() {
      isLoading = true;
    },
    async settle(msMax) {
      isLoading = false;
      for (let waitedMs = 0; busy > 0; waitedMs += idleMs) {
        if (waitedMs > msMax) throw new Error(`${busy} got no answer within ${msMax} ms; last: ${lastTrouble}`);
        await pause(idleMs);
      }
    },
    lastTrouble: () => lastTrouble,
    turnTo(next) {
      client.close();
      client = connect(next, token);
    },
    async stop() {
      isStopping = true;
      await running;
      client.close();
    },
  };
}
