// The load and the halts, a process of its own so that one clock times both: orders come at random moments (a Poisson process), and every now and
// then a scope is halted, left so for a moment, and lifted again. Every answer is held against what it may be.
//
//  1. Between the request and its first denial every order that is due is one of the halted scope, and one is sent each millisecond even when
//     none is due: else the gaps between orders would be measured and not the halt.
//  2. An order that was sent after the acknowledgement had arrived must not be approved until a lift is asked for.
//  3. An order that was sent after the lift was answered must be approved.
import { HaltRequest, HaltResponse, HaltStatus, ResumeRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { prng } from "../check-order/check-order-generator.ts";
import { fundOf, orderFrame } from "../check-order/orders.ts";
import { connectWire, type WireConnection } from "../check-order/wire-http2.ts";
import { buys, type HaltLevel, haltCodes, strategyOf } from "./halt-orders.ts";

export interface HaltTask {
  readonly enginePort: number;
  readonly operationsPort: number;
  readonly echoPort: number;
  readonly machineToken: string;
  readonly operatorToken: string;
  readonly ms: number;
  readonly ratePerS: number;
  readonly echoPerS: number;
  /** The first order's number; numbers are never used twice. */
  readonly first: number;
  readonly seed: number;
}

/** Milliseconds from the moment at which the request was written. */
export interface HaltSample {
  readonly ackMs: number;
  /** To the first denial by this halt of an order that was sent after the request. */
  readonly blockMs: number;
  /** To the last approval in its scope; 0 when none came after the request. */
  readonly lastApprovalMs: number;
  /** From asking for the lift to its answer. */
  readonly liftMs: number;
}

export interface HaltResult {
  readonly tookMs: number;
  readonly sent: number;
  /** Orders that were due while too many were under way. */
  readonly leftOut: number;
  readonly answered: number;
  readonly approved: number;
  readonly deniedByHalt: number;
  readonly wrong: number;
  readonly complaint?: string;
  readonly halts: readonly HaltSample[];
  readonly echoMs: readonly number[];
  readonly orderMs: readonly number[];
}

/** A halt that somebody has asked for and nobody has lifted. */
interface Halting {
  readonly fund: number;
  readonly level: HaltLevel;
  readonly requestedMs: number;
  ackedMs: number | undefined;
  firstDenialMs: number | undefined;
  lastApprovalMs: number | undefined;
  liftAskedMs: number | undefined;
  onDenied: () => void;
}

interface Tally {
  sent: number;
  leftOut: number;
  answered: number;
  approved: number;
  deniedByHalt: number;
  wrong: number;
  complaint: string | undefined;
  readonly halts: HaltSample[];
  readonly echoMs: number[];
  readonly orderMs: number[];
}

/** An acknowledged halt that denies nothing for so long never will. */
const patienceMs = 30_000;
/** A machine that cannot carry the load must not be buried under it: beyond so many orders under way one that is due is left out, and counted. */
const openMax = 200;

interface Lines {
  readonly engine: readonly WireConnection[];
  readonly halt: WireConnection;
  readonly resume: WireConnection;
  readonly echo: WireConnection;
}

interface Run {
  readonly task: HaltTask;
  readonly lines: Lines;
  readonly tally: Tally;
  readonly roll: () => number;
  /** At most one at a time. */
  halting: Halting | undefined;
  /** By fund: when its last lift was answered. */
  readonly liftedMs: Map<number, number>;
  number: number;
  open: number;
}

/** One call on a stream of its own; undefined when no message came. */
function call(line: WireConnection, message: Uint8Array): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let answer: Buffer | undefined;
    const stream = line.open({
      onData: (bytes) => {
        answer = answer === undefined ? bytes : Buffer.concat([answer, bytes]);
      },
      onEnd: () => resolve(answer?.subarray(5)),
    });
    const frame = Buffer.alloc(5 + message.length);
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, 5);
    stream.write(frame, true);
  });
}

function complain(tally: Tally, sentence: string): void {
  tally.wrong += 1;
  tally.complaint ??= sentence;
}

function sendOrder(run: Run): void {
  const { lines, tally, halting } = run;
  const number = run.number;
  run.number += 1;
  const isAwaited = halting !== undefined && halting.firstDenialMs === undefined;
  const fund = isAwaited ? halting.fund : number % buys.length;
  const [kind, line] = [buys[fund], lines.engine[number % lines.engine.length]];
  if (kind === undefined || line === undefined) throw new RangeError("there is no such fund or line");
  const sentMs = performance.now();
  let answer: Buffer | undefined;
  run.open += 1;
  tally.sent += 1;
  const stream = line.open({
    onData: (bytes) => {
      answer = answer === undefined ? bytes : Buffer.concat([answer, bytes]);
    },
    onEnd: () => {
      run.open -= 1;
      if (answer === undefined) complain(tally, `order ${number} was not answered`);
      else hear(run, fund, number, sentMs, RiskDecision.decode(answer.subarray(5)));
    },
  });
  stream.write(orderFrame(kind, number), true);
}

function hear(run: Run, fund: number, number: number, sentMs: number, decision: RiskDecision): void {
  const { tally, halting } = run;
  const nowMs = performance.now();
  tally.answered += 1;
  tally.orderMs.push(nowMs - sentMs);
  const halted = halting?.fund === fund ? halting : undefined;
  if (decision.approved) {
    tally.approved += 1;
    if (halted === undefined) return;
    // From here on it may be lifted already.
    if (halted.liftAskedMs !== undefined) return;
    halted.lastApprovalMs = nowMs;
    if (halted.ackedMs !== undefined && sentMs > halted.ackedMs) {
      complain(tally, `order ${number} was approved after its fund's halt had been acknowledged`);
    }
    return;
  }
  const isFree = halted === undefined && sentMs > (run.liftedMs.get(fund) ?? 0);
  if (isFree || !Object.values(haltCodes).includes(decision.code)) {
    complain(tally, `order ${number} was denied with ${decision.code} (${decision.reason})`);
    return;
  }
  tally.deniedByHalt += 1;
  if (halted === undefined || sentMs < halted.requestedMs || halted.firstDenialMs !== undefined) return;
  if (decision.code !== haltCodes[halted.level]) return;
  halted.firstDenialMs = nowMs;
  halted.onDenied();
}

async function haltOnce(run: Run): Promise<void> {
  const { lines, tally, roll } = run;
  const fund = Math.floor(roll() * buys.length);
  const level: HaltLevel = roll() < 0.5 ? "FUND_HALT" : "STRATEGY_HALT";
  const scope = level === "FUND_HALT" ? { fund_id: fundOf(fund) } : { strategy_id: strategyOf(fund) };
  const empty = new Uint8Array();
  const asked = { ...HaltRequest.decode(empty), severity: level, fund_id: fundOf(fund), ...scope, reason: "bench" };
  let onDenied = (): void => undefined;
  const denied = new Promise<void>((resolve) => {
    onDenied = resolve;
  });
  const halting: Halting = {
    fund,
    level,
    requestedMs: performance.now(),
    ackedMs: undefined,
    firstDenialMs: undefined,
    lastApprovalMs: undefined,
    liftAskedMs: undefined,
    onDenied,
  };
  run.halting = halting;
  const bytes = await call(lines.halt, HaltRequest.encode(asked).finish());
  halting.ackedMs = performance.now();
  if (bytes === undefined) throw new Error("a halt was not answered");
  if (!HaltResponse.decode(bytes).acknowledged) complain(tally, "a halt was answered before it was acknowledged");
  await Promise.race([denied, pause(patienceMs)]);
  if (halting.firstDenialMs === undefined) {
    throw new Error(
      `an acknowledged halt denied nothing of ${tally.answered} answers: ${tally.complaint ?? "no complaint"}`,
    );
  }
  await pause(5 + roll() * 35);
  halting.liftAskedMs = performance.now();
  const lift = { ...ResumeRequest.decode(empty), ...scope, reason: "bench", confirmation: "RESUME" };
  const lifted = await call(lines.resume, ResumeRequest.encode(lift).finish());
  const liftedMs = performance.now();
  if (lifted === undefined || HaltStatus.decode(lifted).lifted_halt_ids.length !== 1) {
    throw new Error("a halt could not be lifted");
  }
  run.liftedMs.set(fund, liftedMs);
  run.halting = undefined;
  tally.halts.push({
    ackMs: halting.ackedMs - halting.requestedMs,
    blockMs: (halting.firstDenialMs ?? Number.POSITIVE_INFINITY) - halting.requestedMs,
    lastApprovalMs: Math.max(0, (halting.lastApprovalMs ?? 0) - halting.requestedMs),
    liftMs: liftedMs - halting.liftAskedMs,
  });
}

async function keepHalting(run: Run, endMs: number): Promise<void> {
  while (performance.now() < endMs) {
    // Halts are rare: what the last one left to do must not be what the next one waits for.
    await pause(100 + run.roll() * 300);
    await haltOnce(run);
  }
}

async function keepEchoing({ task, lines, tally, roll }: Run, endMs: number): Promise<void> {
  const [kind] = buys;
  if (kind === undefined) return;
  const frame = orderFrame(kind, 1).subarray(5);
  while (performance.now() < endMs) {
    await pause((-Math.log(1 - roll()) * 1_000) / task.echoPerS);
    const startedMs = performance.now();
    if ((await call(lines.echo, frame)) === undefined) complain(tally, "an echo was not answered");
    tally.echoMs.push(performance.now() - startedMs);
  }
}

/** Every arrival is due at a moment that does not depend on any answer. */
async function keepOrdering(run: Run, startMs: number, isOver: () => boolean): Promise<void> {
  let dueMs = startMs;
  while (!isOver()) {
    const sentBefore = run.tally.sent;
    for (
      const nowMs = performance.now();
      dueMs <= nowMs;
      dueMs += (-Math.log(1 - run.roll()) * 1_000) / run.task.ratePerS
    ) {
      if (run.open < openMax) sendOrder(run);
      else run.tally.leftOut += 1;
    }
    const isAwaited = run.halting !== undefined && run.halting.firstDenialMs === undefined;
    if (isAwaited && run.tally.sent === sentBefore && run.open < openMax) sendOrder(run);
    await pause(1);
  }
  for (let waits = 0; run.open > 0 && waits < 10_000; waits += 1) await pause(1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function openLines(task: HaltTask): Promise<Lines> {
  const check = "/svc.v1.RiskEngine/CheckOrder";
  const { enginePort, operationsPort, echoPort, machineToken, operatorToken } = task;
  return {
    engine: await Promise.all(Array.from({ length: 4 }, () => connectWire(enginePort, check, machineToken))),
    halt: await connectWire(operationsPort, "/svc.v1.Operations/RequestHalt", machineToken),
    resume: await connectWire(operationsPort, "/svc.v1.Operations/ResumeHalt", operatorToken),
    echo: await connectWire(echoPort, check, machineToken),
  };
}

export async function runHalts(task: HaltTask): Promise<HaltResult> {
  const counts = { sent: 0, leftOut: 0, answered: 0, approved: 0, deniedByHalt: 0, wrong: 0 };
  const tally: Tally = { ...counts, complaint: undefined, halts: [], echoMs: [], orderMs: [] };
  const lines = await openLines(task);
  const roll = prng(task.seed);
  const run: Run = { task, lines, tally, roll, halting: undefined, liftedMs: new Map(), number: task.first, open: 0 };
  try {
    const startMs = performance.now();
    let isOver = false;
    const ordering = keepOrdering(run, startMs, () => isOver);
    const others = Promise.all([keepHalting(run, startMs + task.ms), keepEchoing(run, startMs + task.ms)]);
    await others.finally(() => {
      isOver = true;
    });
    await ordering;
    const tookMs = performance.now() - startMs;
    const { complaint, ...rest } = tally;
    return { tookMs, ...rest, ...(complaint === undefined ? {} : { complaint }) };
  } finally {
    for (const line of [...lines.engine, lines.halt, lines.resume, lines.echo]) line.close();
  }
}

/** As a child it takes tasks one after the other and ends with its parent. */
if (process.send !== undefined && process.argv[2] === "halts") {
  process.on("message", (task: HaltTask) => {
    void runHalts(task).then(
      (result) => process.send?.({ result }),
      (thrown: unknown) => process.send?.({ error: String(thrown) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}
