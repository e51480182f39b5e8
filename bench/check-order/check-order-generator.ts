// The load generator, a process of its own: HTTP/2 as plain bytes, without a library whose garbage would be measured along. It asks at
// random moments (a Poisson process) and counts each answer from the moment at which its question was due, or keeps a number of questions
// in flight, or fills a stream; and it holds every answer against what it must be.
import { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { isRight, type OrderKind, orderFrame, orderKinds } from "./orders.ts";
import { connectWire, type WireConnection } from "./wire-http2.ts";

export interface LoadTask {
  readonly kind: "poisson" | "in flight" | "stream";
  readonly port: number;
  readonly token: string;
  readonly ms: number;
  /** Poisson: questions per second. In flight and stream: questions at once. */
  readonly rate: number;
  readonly connections: number;
  /** The first order's number; numbers are never used twice. */
  readonly first: number;
  readonly seed: number;
  /** Echoes approve everything. */
  readonly oracle: boolean;
}

export interface LoadResult {
  readonly sent: number;
  readonly answered: number;
  readonly wrong: number;
  readonly perS: number;
  readonly samplesMs: readonly number[];
  readonly complaint?: string;
}

const unaryPath = "/svc.v1.RiskEngine/CheckOrder";
const streamPath = "/svc.v1.RiskEngine/CheckOrders";

interface Tally {
  sent: number;
  answered: number;
  wrong: number;
  readonly samplesMs: number[];
  complaint: string | undefined;
}

/** mulberry32: small, seeded, good enough to space arrivals. */
export function prng(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function kindOf(number: number): OrderKind {
  const kind = orderKinds[number % orderKinds.length];
  if (kind === undefined) throw new RangeError("there are no orders");
  return kind;
}

async function connectAll(task: LoadTask): Promise<WireConnection[]> {
  const path = task.kind === "stream" ? streamPath : unaryPath;
  return Promise.all(Array.from({ length: task.connections }, () => connectWire(task.port, path, task.token)));
}

function wrongly(answer: Uint8Array): string {
  const { approved, code, reason } = RiskDecision.decode(answer);
  return approved ? "approved, and must not be" : `denied with ${code} (${reason}), and must not be so`;
}

/** One question on a stream of its own. */
function ask(
  connection: WireConnection,
  task: LoadTask,
  number: number,
  dueMs: number,
  tally: Tally,
  done: () => void,
): void {
  const kind = kindOf(number);
  let answer: Buffer | undefined;
  const stream = connection.open({
    onData: (bytes) => {
      answer = answer === undefined ? bytes : Buffer.concat([answer, bytes]);
    },
    onEnd: () => {
      tally.samplesMs.push(performance.now() - dueMs);
      if (answer !== undefined) tally.answered += 1;
      if (answer === undefined || (task.oracle && !isRight(answer.subarray(5), kind, number))) {
        tally.wrong += 1;
        tally.complaint ??= `order ${number} was ${answer === undefined ? "not answered" : wrongly(answer.subarray(5))}`;
      }
      done();
    },
  });
  tally.sent += 1;
  stream.write(orderFrame(kind, number), true);
}

/** Every arrival is due at a moment that does not depend on any answer; a late generator is counted against the server, as users would. */
async function poisson(connections: readonly WireConnection[], task: LoadTask, tally: Tally): Promise<number> {
  const roll = prng(task.seed);
  const startMs = performance.now();
  let dueMs = startMs;
  let open = 0;
  let number = task.first;
  await new Promise<void>((resolve) => {
    let ended = false;
    const finish = (): void => {
      open -= 1;
      if (ended && open === 0) resolve();
    };
    const tick = (): void => {
      const nowMs = performance.now();
      while (dueMs <= nowMs && dueMs - startMs < task.ms) {
        const connection = connections[number % connections.length];
        if (connection === undefined) break;
        open += 1;
        ask(connection, task, number, dueMs, tally, finish);
        number += 1;
        dueMs += (-Math.log(1 - roll()) * 1_000) / task.rate;
      }
      if (dueMs - startMs >= task.ms) {
        ended = true;
        if (open === 0) resolve();
        return;
      }
      // To the millisecond. Waiting in turns of the loop would be finer and take a processor from the server and its database.
      setTimeout(tick, 1);
    };
    tick();
  });
  return performance.now() - startMs;
}

async function inFlight(connections: readonly WireConnection[], task: LoadTask, tally: Tally): Promise<number> {
  const startMs = performance.now();
  let number = task.first;
  await Promise.all(
    Array.from(
      { length: task.rate },
      (_, lane) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            const connection = connections[lane % connections.length];
            if (connection === undefined || performance.now() - startMs >= task.ms) {
              resolve();
              return;
            }
            const mine = number;
            number += 1;
            ask(connection, task, mine, performance.now(), tally, next);
          };
          next();
        }),
    ),
  );
  return performance.now() - startMs;
}

/** Fills one stream per connection and matches the answers by what they say. */
async function fillStreams(connections: readonly WireConnection[], task: LoadTask, tally: Tally): Promise<number> {
  const startMs = performance.now();
  const shared = { next: task.first };
  await Promise.all(connections.map((connection) => fillStream(connection, task, tally, shared, startMs)));
  return performance.now() - startMs;
}

function fillStream(
  connection: WireConnection,
  task: LoadTask,
  tally: Tally,
  shared: { next: number },
  startMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    let open = 0;
    let ended = false;
    let willFill = false;
    let rest: Buffer = Buffer.alloc(0);
    const hear = (bytes: Buffer): void => {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      while (rest.length >= 5) {
        const length = rest.readUInt32BE(1);
        if (rest.length < 5 + length) break;
        const answer = rest.subarray(5, 5 + length);
        rest = rest.subarray(5 + length);
        open -= 1;
        tally.answered += 1;
        if (task.oracle && !isRightInStream(answer)) {
          tally.wrong += 1;
          tally.complaint ??= "an answer of the stream is not what it must be";
        }
      }
    };
    const stream = connection.open({
      onData: (bytes) => {
        hear(bytes);
        // Once for all answers that arrived together.
        if (willFill) return;
        willFill = true;
        queueMicrotask(fill);
      },
      onEnd: () => {
        if (!ended) tally.complaint ??= "the server ended the stream";
        ended = true;
        resolve();
      },
    });
    const fill = (): void => {
      willFill = false;
      if (ended) return;
      if (performance.now() - startMs >= task.ms) {
        ended = true;
        stream.write(Buffer.alloc(0), true);
        return;
      }
      const frames: Buffer[] = [];
      while (open < task.rate) {
        frames.push(orderFrame(kindOf(shared.next), shared.next));
        shared.next += 1;
        open += 1;
        tally.sent += 1;
      }
      if (frames.length > 0) stream.write(Buffer.concat(frames), false);
    };
    fill();
  });
}

function isRightInStream(answer: Buffer): boolean {
  const at = answer.indexOf("o0", 0, "latin1");
  if (at === -1) return false;
  const number = Number(answer.toString("latin1", at + 1, at + 13));
  return isRight(answer, kindOf(number), number);
}

export async function runLoad(task: LoadTask): Promise<LoadResult> {
  const tally: Tally = { sent: 0, answered: 0, wrong: 0, samplesMs: [], complaint: undefined };
  const connections = await connectAll(task);
  try {
    const ways = { poisson, "in flight": inFlight, stream: fillStreams };
    const tookMs = await ways[task.kind](connections, task, tally);
    const { complaint, ...counts } = tally;
    return { ...counts, perS: (tally.answered * 1_000) / tookMs, ...(complaint === undefined ? {} : { complaint }) };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** As a child it takes tasks one after the other and ends with its parent. */
if (process.send !== undefined && process.argv[2] === "generator") {
  process.on("message", (task: LoadTask) => {
    void runLoad(task).then(
      (result) => process.send?.({ result }),
      (thrown: unknown) => process.send?.({ error: String(thrown) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}
