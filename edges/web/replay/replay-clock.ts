// The clock of a replay and what is shown at its moment. Pure of the page: time, timers and questions are handed in.
//
//  1. What is shown is of one moment, the clock's: events, the fund and the bars come together or not at all.
//  2. Every question carries the moment that the clock would have, and an answer with anything later in it is an error.
//  3. A question without an answer stops the clock where it stands; it can go on from there.
//  4. An event is held once, by its id, however often it was told.
//  5. The clock ends at `to`, or now, and is never before its beginning.
import {
  earlier,
  format,
  type Instant,
  later,
  millisecondsBetween,
  minusMilliseconds,
  parse,
  plusMicroseconds,
  plusMilliseconds,
} from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CancelTimer, Timers } from "../../../ports/timers.ts";
import type { Interval } from "./intervals.ts";
import {
  checkedBars,
  checkedEvents,
  checkedMoment,
  isRefused,
  type PastBars,
  type PastMoment,
  together,
} from "./past-answers.ts";
import type { PastEvent, PastEvents, Sought } from "./past-events.ts";

export const speeds = [1, 10, 60, 600, 3_600] as const;
export type Speed = (typeof speeds)[number];

/** How the server is asked; every one of these rejects with what went wrong. */
export interface Questions {
  /** The newest up to and with `to`. */
  newest(from: Instant, to: Instant, signal: AbortSignal): Promise<PastEvents>;
  /** Undefined where there are more than are held. */
  between(from: Instant, to: Instant, signal: AbortSignal): Promise<readonly PastEvent[] | undefined>;
  first(after: Instant, to: Instant, sought: Sought, signal: AbortSignal): Promise<PastEvent | undefined>;
  moment(at: Instant, signal: AbortSignal): Promise<PastMoment>;
  bars(symbol: string, interval: Interval, at: Instant, signal: AbortSignal): Promise<PastBars>;
}

interface ReplayOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly questions: Questions;
  readonly start: Instant;
  /** Now, as it goes on, when absent. */
  readonly to: Instant | undefined;
  readonly at: Instant;
  readonly speed: Speed;
  readonly symbol: string | undefined;
  readonly interval: Interval;
}

type Part = "timeline" | "moment" | "chart";

/** What is shown, all of one moment. */
export interface Shown extends PastEvents {
  readonly at: Instant;
  readonly moment: PastMoment;
  /** Undefined while no symbol is known. */
  readonly bars: PastBars | undefined;
  readonly symbol: string | undefined;
  readonly interval: Interval;
  /** The clock went back to get here. */
  readonly isBack: boolean;
  readonly answeredAt: Instant;
}

export interface ReplayState {
  /** The moment that the clock shows. */
  readonly at: Instant;
  readonly shown: Shown | undefined;
  readonly isPlaying: boolean;
  readonly isAsking: boolean;
  /** The clock was moved to the end; played from here it begins anew. */
  readonly isEnded: boolean;
  readonly speed: Speed;
  /** By the panel whose question has no answer. */
  readonly failures: { readonly [Named in Part]?: unknown };
  /** What a jump or a step came to, in a sentence. */
  readonly said: string;
}

export interface Replay {
  state(): ReplayState;
  subscribe(listen: () => void): () => void;
  readonly start: Instant;
  end(): Instant;
  play(): void;
  pause(): void;
  step(): void;
  back(): void;
  jump(sought: "halt" | "rejection"): void;
  seek(at: Instant): void;
  setSpeed(speed: Speed): void;
  setChart(symbol: string | undefined, interval: Interval): void;
  /** Asks again what had no answer. */
  again(): void;
  close(): void;
}

/** Between the beginnings of two questions while it plays. */
const tickMs = 1_000;
/** A page that stood still for longer goes on from where it was. */
const elapsedMsMax = 5_000;
/** Presses that are remembered while a step is under way. */
const stepsDueMax = 20;
/** What was recorded within this time may still come to be known under an earlier time than what is known already. */
const settlingMs = 15_000;

const beginning = {
  shown: undefined,
  isPlaying: false,
  isAsking: false,
  isEnded: false,
  failures: {},
  said: "",
} as const;

type Way = "forward" | "anew" | "back";

export function openReplay(options: ReplayOptions): Replay {
  const { clock, timers, questions, start } = options;
  const listeners = new Set<() => void>();
  let state: ReplayState = { ...beginning, at: options.at, speed: options.speed };
  let { symbol, interval } = options;
  let asking = new AbortController();
  let cancelTick: CancelTimer | undefined;
  let tickedAt = clock.now();
  /** Steps that were asked for while one was under way. */
  let stepsDue = 0;
  let isStepping = false;
  /** Where a step back that is under way leads. */
  let backTo: Instant | undefined;
  /** What is asked again after a question without an answer. */
  let unanswered: (() => void) | undefined;
  let isClosed = false;

  const set = (change: Partial<ReplayState>): void => {
    if (isClosed) return;
    state = { ...state, ...change };
    for (const listen of listeners) listen();
  };
  const end = (): Instant => later(start, earlier(options.to ?? clock.now(), clock.now()));
  const within = (at: Instant): Instant => earlier(end(), later(start, at));

  function begin(): AbortSignal {
    asking.abort();
    asking = new AbortController();
    backTo = undefined;
    return asking.signal;
  }

  function stop(): void {
    cancelTick?.();
    cancelTick = undefined;
  }

  function failed(failures: ReplayState["failures"], again: () => void): void {
    stop();
    unanswered = again;
    stepsDue = 0;
    set({ isAsking: false, isPlaying: false, failures });
  }

  async function eventsFor(way: Way, target: Instant, signal: AbortSignal): Promise<PastEvents> {
    const before = state.shown;
    if (way === "forward" && before !== undefined && target >= before.at) {
      const settledBy = minusMilliseconds(clock.now(), settlingMs);
      const from = later(start, earlier(before.at, settledBy));
      const more = await questions.between(from, target, signal);
      if (more !== undefined) return together(before, more);
    }
    return questions.newest(start, target, signal);
  }

  /** Asks for everything of that moment; the clock stands there when all of it is answered. */
  async function move(target: Instant, way: Way): Promise<void> {
    const signal = begin();
    // Where it ends at now, the end has gone on by the time that somebody gets there.
    const isEnded = target >= (options.to === end() ? options.to : minusMilliseconds(end(), tickMs));
    set({ isAsking: true });
    const chosen = symbol;
    const [events, moment, bars] = await Promise.allSettled([
      eventsFor(way, target, signal).then((found) => checkedEvents(found, target)),
      questions.moment(target, signal).then((found) => checkedMoment(found, target)),
      chosen === undefined ? undefined : questions.bars(chosen, interval, target, signal),
    ]);
    if (signal.aborted || isClosed) return;
    const chart =
      bars.status === "fulfilled" && events.status === "fulfilled" && moment.status === "fulfilled"
        ? await settled(barsOf(bars.value, events.value, moment.value, target, signal))
        : bars;
    if (signal.aborted || isClosed) return;
    const failures = {
      ...(events.status === "rejected" ? { timeline: events.reason } : {}),
      ...(moment.status === "rejected" ? { moment: moment.reason } : {}),
      ...(chart.status === "rejected" ? { chart: chart.reason } : {}),
    };
    const isChartless = chart.status === "rejected" && isRefused(chart.reason);
    if (events.status === "rejected" || moment.status === "rejected" || (chart.status === "rejected" && !isChartless)) {
      return failed(failures, () => void move(target, way));
    }
    unanswered = undefined;
    const shown: Shown = {
      ...events.value,
      at: target,
      moment: moment.value,
      bars: chart.status === "fulfilled" ? chart.value : undefined,
      symbol,
      interval,
      isBack: way === "back",
      answeredAt: clock.now(),
    };
    if (way !== "forward") tickedAt = clock.now();
    backTo = undefined;
    set({ at: target, shown, isAsking: false, isEnded, failures });
    if (state.isPlaying) goOn();
  }

  /** Where no symbol was chosen, the first that the fund held or that something was about; it stays that one. */
  async function barsOf(
    bars: PastBars | undefined,
    { events }: PastEvents,
    { positions }: PastMoment,
    target: Instant,
    signal: AbortSignal,
  ): Promise<PastBars | undefined> {
    if (bars !== undefined) return checkedBars(bars, target);
    symbol ??= positions[0]?.symbol ?? events.findLast((one) => one.symbol !== undefined)?.symbol;
    if (symbol === undefined) return undefined;
    return checkedBars(await questions.bars(symbol, interval, target, signal), target);
  }

  function goOn(): void {
    stop();
    if (state.isEnded) {
      set({ isPlaying: false });
      return;
    }
    cancelTick = timers.after(Math.max(0, tickMs - millisecondsBetween(tickedAt, clock.now())), tick);
  }

  function tick(): void {
    cancelTick = undefined;
    const now = clock.now();
    const elapsedMs = Math.min(elapsedMsMax, Math.max(0, millisecondsBetween(tickedAt, now)));
    tickedAt = now;
    void move(within(plusMilliseconds(state.at, elapsedMs * state.speed)), "forward");
  }

  function pause(): void {
    stop();
    if (!state.isPlaying) return;
    // What was asked for is left, unless nothing is there yet: the clock stands where it is.
    if (state.shown !== undefined) asking.abort();
    set({ isPlaying: false, isAsking: state.shown === undefined && state.isAsking });
  }

  async function find(look: (signal: AbortSignal) => Promise<PastEvent | undefined>, none: string): Promise<void> {
    pause();
    const signal = begin();
    set({ isAsking: true, said: "" });
    let event: PastEvent | undefined;
    try {
      event = await look(signal);
    } catch (thrown) {
      if (!signal.aborted) failed({ timeline: thrown }, () => void find(look, none));
      return;
    }
    if (signal.aborted || isClosed) return;
    if (event === undefined) {
      set({ isAsking: false, failures: {}, said: none });
      if (state.shown === undefined) await move(state.at, "anew");
      return;
    }
    const target = parse(event.at);
    await move(target, target >= state.at ? "forward" : "anew");
  }

  async function step(): Promise<void> {
    if (isStepping) {
      stepsDue = Math.min(stepsDueMax, stepsDue + 1);
      return;
    }
    isStepping = true;
    for (stepsDue = 1; stepsDue > 0 && !isClosed; stepsDue -= 1) {
      const until = end();
      const none = `Nothing more was recorded until ${format(until)}.`;
      await find((signal) => questions.first(state.at, until, "any", signal), none);
    }
    isStepping = false;
  }

  function seek(at: Instant): void {
    stepsDue = 0;
    set({ said: "" });
    void move(within(at), "anew");
  }

  state = { ...state, at: within(options.at) };
  seek(options.at);
  return {
    start,
    end,
    state: () => state,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    play() {
      if (state.isPlaying || isClosed) return;
      stepsDue = 0;
      tickedAt = clock.now();
      set({ isPlaying: true, said: "" });
      if (state.isEnded) return void move(start, "anew");
      if (state.shown === undefined) return void move(state.at, "anew");
      goOn();
    },
    pause,
    step: () => void step(),
    back() {
      stepsDue = 0;
      pause();
      const from = backTo ?? state.at;
      const before = state.shown?.events.findLast(({ at }) => parse(at) < from);
      const target = before === undefined ? start : within(parse(before.at));
      set({ said: from === start ? "This is the beginning." : "" });
      void move(target, "back");
      backTo = target;
    },
    jump(sought) {
      stepsDue = 0;
      const until = end();
      const name = sought === "halt" ? "No halt" : "No rejection";
      // After the last one it begins anew, as a search in a text does.
      const found = async (signal: AbortSignal): Promise<PastEvent | undefined> =>
        (await questions.first(state.at, until, sought, signal)) ??
        questions.first(plusMicroseconds(start, -1), state.at, sought, signal);
      void find(found, `${name} was recorded from ${format(start)} to ${format(until)}.`);
    },
    seek,
    setSpeed: (speed) => set({ speed }),
    setChart(nextSymbol, nextInterval) {
      if ((nextSymbol ?? symbol) === symbol && nextInterval === interval) return;
      symbol = nextSymbol ?? symbol;
      interval = nextInterval;
      void move(state.at, "forward");
    },
    again() {
      set({ failures: {} });
      (unanswered ?? (() => void move(state.at, "anew")))();
    },
    close() {
      stop();
      asking.abort();
      isClosed = true;
      listeners.clear();
    },
  };
}

async function settled<Value>(promise: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  const [result] = await Promise.allSettled([promise]);
  return result;
}
