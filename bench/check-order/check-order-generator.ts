// The load generator, a process of its own: plain HTTP/2 without a gRPC library, whose garbage would be measured along. It asks at
// random moments (a Poisson process) and counts each answer from the moment at which its question was due, or keeps a number of questions
// in flight, or fills a stream; and it holds every answer against what it must be.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { isRight, type OrderKind, orderFrame, orderKinds } from "./orders.ts";

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

function headersOf(path: string, token: string) {
  return {
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: path,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
  };
}

/** mulberry32: small, seeded, good enough to space arrivals. */
function dice(seed: number): () => number {
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

async function openSessions(task: LoadTask): Promise<ClientHttp2Session[]> {
  return Promise.all(
    Array.from(
      { length: task.connections },
      () =>
        new Promise<ClientHttp2Session>((resolve, reject) => {
          const session = connect(`http://127.0.0.1:${task.port}`, { settings: { initialWindowSize: 1_048_576 } });
          session.once("error", reject);
          session.once("remoteSettings", () => resolve(session));
        }),
    ),
  );
}

/** One question on a stream of its own. */
function ask(
  session: ClientHttp2Session,
  task: LoadTask,
  number: number,
  dueMs: number,
  tally: Tally,
  done: () => void,
): void {
  const kind = kindOf(number);
  const stream = session.request(headersOf(unaryPath, task.token));
  let answer: Buffer | undefined;
  let failure = "";
  stream.on("data", (chunk: Buffer) => {
    answer = answer === undefined ? chunk : Buffer.concat([answer, chunk]);
  });
  const hearStatus = (headers: Record<string, unknown>): void => {
    if (headers["grpc-status"] !== undefined && headers["grpc-status"] !== "0") {
      failure = `status ${headers["grpc-status"]} ${headers["grpc-message"] ?? ""}`;
    }
  };
  stream.on("response", hearStatus);
  stream.on("trailers", hearStatus);
  stream.once("error", (error) => {
    failure = String(error);
  });
  stream.once("close", () => {
    tally.samplesMs.push(performance.now() - dueMs);
    tally.answered += 1;
    const right = answer !== undefined && (!task.oracle || isRight(answer.subarray(5), kind, number));
    if (failure !== "" || !right) {
      tally.wrong += 1;
      tally.complaint ??= failure === "" ? `order ${number} was not answered as it must be` : failure;
    }
    done();
  });
  tally.sent += 1;
  stream.end(orderFrame(kind, number));
}

/** Every arrival is due at a moment that does not depend on any answer; a late generator is counted against the server, as users would. */
async function poisson(sessions: readonly ClientHttp2Session[], task: LoadTask, tally: Tally): Promise<number> {
  const roll = dice(task.seed);
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
        const session = sessions[number % sessions.length];
        if (session === undefined) break;
        open += 1;
        ask(session, task, number, dueMs, tally, finish);
        number += 1;
        dueMs += (-Math.log(1 - roll()) * 1_000) / task.rate;
      }
      if (dueMs - startMs >= task.ms) {
        ended = true;
        if (open === 0) resolve();
        return;
      }
      // A timer's millisecond would be an arrival's whole gap: the last stretch is spent in turns of the loop.
      if (dueMs - performance.now() > 1.5) setTimeout(tick, 1);
      else setImmediate(tick);
    };
    tick();
  });
  return performance.now() - startMs;
}

async function inFlight(sessions: readonly ClientHttp2Session[], task: LoadTask, tally: Tally): Promise<number> {
  const startMs = performance.now();
  let number = task.first;
  await Promise.all(
    Array.from(
      { length: task.rate },
      (_, lane) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            const session = sessions[lane % sessions.length];
            if (session === undefined || performance.now() - startMs >= task.ms) {
              resolve();
              return;
            }
            const mine = number;
            number += 1;
            ask(session, task, mine, performance.now(), tally, next);
          };
          next();
        }),
    ),
  );
  return performance.now() - startMs;
}

/** Fills one stream per connection and matches the answers by what they say. */
async function fillStreams(sessions: readonly ClientHttp2Session[], task: LoadTask, tally: Tally): Promise<number> {
  const startMs = performance.now();
  const shared = { next: task.first };
  await Promise.all(
    sessions.map((session) =>
      fillStream(session.request(headersOf(streamPath, task.token)), task, tally, shared, startMs),
    ),
  );
  return performance.now() - startMs;
}

function fillStream(
  stream: ClientHttp2Stream,
  task: LoadTask,
  tally: Tally,
  shared: { next: number },
  startMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    let open = 0;
    let ended = false;
    let rest: Buffer = Buffer.alloc(0);
    const fill = (): void => {
      if (ended) return;
      if (performance.now() - startMs >= task.ms) {
        ended = true;
        stream.end();
        return;
      }
      const frames: Buffer[] = [];
      while (open < task.rate) {
        frames.push(orderFrame(kindOf(shared.next), shared.next));
        shared.next += 1;
        open += 1;
        tally.sent += 1;
      }
      if (frames.length > 0) stream.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
    };
    stream.on("data", (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
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
      fill();
    });
    const hearStatus = (headers: Record<string, unknown>): void => {
      const status = headers["grpc-status"];
      if (status === undefined || status === "0") return;
      tally.wrong += 1;
      tally.complaint ??= `status ${String(status)} ${String(headers["grpc-message"] ?? "")}`;
    };
    stream.on("response", hearStatus);
    stream.on("trailers", hearStatus);
    stream.once("error", (error) => {
      tally.complaint ??= String(error);
    });
    stream.once("close", () => {
      ended = true;
      resolve();
    });
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
  const sessions = await openSessions(task);
  try {
    const ways = { poisson, "in flight": inFlight, stream: fillStreams };
    const tookMs = await ways[task.kind](sessions, task, tally);
    const { complaint, ...counts } = tally;
    return { ...counts, perS: (tally.answered * 1_000) / tookMs, ...(complaint === undefined ? {} : { complaint }) };
  } finally {
    for (const session of sessions) session.destroy();
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
