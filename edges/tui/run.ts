// The terminal desk from its start to every way out: it is drawn, fed and ended here, and the terminal is left as it was.
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Client } from "../client/src/types.ts";
import { actReported } from "./effects/act.ts";
import { detailOf } from "./effects/detail.ts";
import { createKeyDecoder } from "./keys.ts";
import type { Effect } from "./model/events.ts";
import { initialState } from "./model/state.ts";
import { screenNamed } from "./screens/index.ts";
import type { Source } from "./source.ts";
import { createStore, type Store } from "./store.ts";
import { clearSequence, type TerminalStreams, terminalModes } from "./terminal-modes.ts";
import type { Look } from "./view/text.ts";

export interface TuiSurroundings {
  readonly client: Client;
  readonly source: Source;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Aborted by Ctrl-C from outside. */
  readonly signal: AbortSignal;
  readonly streams: TerminalStreams;
  readonly look: Look;
  readonly who: string;
  readonly profile: string;
}

const tickMs = 1_000;
/** A terminal that is dragged larger says so many times. */
const resizeMs = 50;
/** As shells count Ctrl-C. */
const interruptedExit = 130;
/** Whoever sends one of these gets the process ended by it, once the terminal is as it was. */
const endingSignals = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** The exit code, or the signal that ended it. */
export type Ending = number | (typeof endingSignals)[number];

export async function runTui(surroundings: TuiSurroundings): Promise<Ending> {
  const { streams, clock, source, timers } = surroundings;
  // The library draws nothing where it believes that a build server watches; there is a person here.
  process.env["CI"] = "false";
  process.env["CONTINUOUS_INTEGRATION"] = "false";
  const { mount } = await import("./mount.tsx");
  const ended = new AbortController();
  const modes = terminalModes(streams);
  const decoder = createKeyDecoder();
  const store = createStore(initialState({ ...surroundings, now: clock.now(), size: sizeOf(streams) }), (effect) =>
    perform(effect),
  );
  let unmount: (() => void) | undefined;
  const show = (): void => {
    modes.enter();
    unmount = mount({ store, decoder, look: surroundings.look }, streams);
  };
  const hide = (): void => {
    unmount?.();
    unmount = undefined;
  };
  const redraw = (): void => {
    if (unmount === undefined) return;
    hide();
    streams.stdout.write(clearSequence);
    show();
  };
  const perform = performer(
    surroundings,
    () => store,
    ended.signal,
    () => suspend({ hide, show, leave: modes.leave, timers }),
  );
  const stopTicking = ticking(store, surroundings, ended.signal);
  const stopResizing = onResize(store, surroundings, redraw);
  // The last resort, for an end that nobody announced.
  const leaveLate = (): void => modes.leave();
  process.on("exit", leaveLate);
  try {
    show();
    void source.run((event) => store.dispatch(event), ended.signal);
    return await endOf(store, source, surroundings.signal);
  } finally {
    ended.abort();
    stopTicking();
    stopResizing();
    hide();
    modes.leave();
    process.off("exit", leaveLate);
    // Else the keyboard keeps the process.
    streams.stdin.pause();
  }
}

function sizeOf({ stdout }: TerminalStreams): { readonly columns: number; readonly rows: number } {
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
}

/** Resolves when the viewer leaves, somebody ends the process, or it breaks. */
function endOf(store: Store, source: Source, signal: AbortSignal): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const handlers = endingSignals.map((name) => [name, (): void => end(name)] as const);
    const interrupted = (): void => end(interruptedExit);
    const broke = (error: unknown): void => {
      release();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const unsubscribe = store.subscribe(() => {
      const { leaving } = store.state();
      if (leaving !== undefined) end(leaving);
      source.want(screenNamed(store.state().screen).needs);
    });
    const release = (): void => {
      unsubscribe();
      signal.removeEventListener("abort", interrupted);
      process.off("uncaughtException", broke);
      process.off("unhandledRejection", broke);
      for (const [name, handler] of handlers) process.off(name, handler);
    };
    const end = (ending: Ending): void => {
      release();
      resolve(ending);
    };
    signal.addEventListener("abort", interrupted, { once: true });
    process.on("uncaughtException", broke);
    process.on("unhandledRejection", broke);
    for (const [name, handler] of handlers) process.on(name, handler);
    source.want(screenNamed(store.state().screen).needs);
    if (signal.aborted) interrupted();
  });
}

function performer(surroundings: TuiSurroundings, storeOf: () => Store, signal: AbortSignal, suspendNow: () => void) {
  const { client, clock, timers, source, streams } = surroundings;
  return (effect: Effect): void => {
    switch (effect.kind) {
      case "load detail":
        void detailOf(effect.target, client, { clock, columns: sizeOf(streams).columns }).then((lines) => {
          storeOf().dispatch({ kind: "detail", asked: effect.asked, lines, at: clock.now() });
        });
        return;
      case "act":
        void actReported(effect.request, {
          client,
          clock,
          timers,
          signal,
          report(outcome) {
            storeOf().dispatch({ kind: "outcome", asked: effect.asked, ...outcome });
            source.refresh();
          },
        });
        return;
      case "copy":
        // The terminal's own clipboard (OSC 52); one that has none ignores it.
        streams.stdout.write(`\u001b]52;c;${Buffer.from(effect.text, "utf8").toString("base64")}\u0007`);
        return;
      case "suspend":
        suspendNow();
    }
  };
}

interface Suspension {
  hide(): void;
  show(): void;
  leave(): void;
  readonly timers: Timers;
}

/** Long enough for the stop to arrive; where nobody could continue us the system ignores it, and the desk comes back at once. */
const stopMs = 100;

/** The whole group stops, as it would by the terminal's own key, so that a shell above whatever started us hears of it. */
function suspend({ hide, show, leave, timers }: Suspension): void {
  hide();
  leave();
  process.kill(0, "SIGTSTP");
  timers.after(stopMs, show);
}

function ticking(store: Store, { clock, timers }: TuiSurroundings, signal: AbortSignal): () => void {
  let cancel: (() => void) | undefined;
  const tick = (): void => {
    if (signal.aborted) return;
    store.dispatch({ kind: "tick", now: clock.now() });
    cancel = timers.after(tickMs, tick);
  };
  cancel = timers.after(tickMs, tick);
  return () => cancel?.();
}

function onResize(store: Store, { streams, timers }: TuiSurroundings, redraw: () => void): () => void {
  let cancel: (() => void) | undefined;
  const resized = (): void => {
    cancel?.();
    cancel = timers.after(resizeMs, () => {
      store.dispatch({ kind: "resized", ...sizeOf(streams) });
      redraw();
    });
  };
  streams.stdout.on("resize", resized);
  return () => {
    cancel?.();
    streams.stdout.off("resize", resized);
  };
}
