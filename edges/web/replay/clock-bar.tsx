// The clock of the replay and what moves it. Space and the arrows do the same, wherever nobody types.
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useRef, useState } from "react";
import { format, fromUnixMs, type Instant, toUnixMs } from "../../../contracts/src/instant.ts";
import type { CancelTimer } from "../../../ports/timers.ts";
import { useChangeSearch } from "../frame/use-search.ts";
import { failureOf } from "../model/panel-state.ts";
import { Theirs } from "../panels/theirs.tsx";
import { useFrozen, useNow, useWeb } from "../web-context.tsx";
import { type Replay, type ReplayState, speeds } from "./replay-clock.ts";
import { type ReplayKey, replayKey } from "./replay-keys.ts";
import type { ReplayView } from "./use-replay.ts";

/** "2026-11-17 21:40:02.123456Z": to the microsecond, because events are. */
const clockText = (at: Instant): string => format(at).replace("T", " ");

export function ClockBar({ view: { replay, state } }: { readonly view: ReplayView }) {
  const change = useChangeSearch();
  const isFrozen = useFrozen();
  const toggle = (): void => (state.isPlaying ? replay.pause() : replay.play());
  const act: Readonly<Record<ReplayKey, () => void>> = { play: toggle, step: replay.step, back: replay.back };
  useKeys(isFrozen ? undefined : act);
  const exact = format(state.at);
  return (
    <section className="replay-bar" aria-label="Clock of the replay" data-state={wordOf(state)}>
      <strong className="replay-word" data-testid="replay-watermark">
        REPLAY
      </strong>
      <time className="figure" data-testid="replay-clock" dateTime={exact} data-value={exact}>
        {clockText(state.at)}
      </time>
      <span className="replay-keys">
        <button type="button" data-testid="replay-back" disabled={isFrozen} title="←" onClick={act.back}>
          ◂ Back
        </button>
        <button
          type="button"
          className="replay-play"
          data-testid="replay-play"
          aria-pressed={state.isPlaying}
          disabled={isFrozen}
          title="Space"
          onClick={act.play}
        >
          {state.isPlaying ? "Pause" : "Play"}
        </button>
        <button type="button" data-testid="replay-step" disabled={isFrozen} title="→" onClick={act.step}>
          Step ▸
        </button>
        <label>
          <span className="unseen">Speed</span>
          <select
            data-testid="replay-speed"
            value={String(state.speed)}
            onChange={(event) => change({ speed: event.target.value })}
          >
            {speeds.map((one) => (
              <option key={one} value={String(one)}>
                {one}×
              </option>
            ))}
          </select>
        </label>
        <button type="button" data-testid="replay-jump-halt" disabled={isFrozen} onClick={() => replay.jump("halt")}>
          Next halt
        </button>
        <button
          type="button"
          data-testid="replay-jump-rejection"
          disabled={isFrozen}
          onClick={() => replay.jump("rejection")}
        >
          Next rejection
        </button>
      </span>
      <Slider at={state.at} replay={replay} isFrozen={isFrozen} />
      <Said state={state} isFrozen={isFrozen} />
    </section>
  );
}

function wordOf({ isPlaying, isAsking, isEnded, failures }: ReplayState): string {
  if (Object.keys(failures).length > 0 && !isPlaying) return "error";
  if (isPlaying) return "playing";
  if (isAsking) return "asking";
  return isEnded ? "ended" : "standing";
}

/** One line, always there, so that nothing moves when it is filled. */
function Said({ state, isFrozen }: { readonly state: ReplayState; readonly isFrozen: boolean }) {
  const failure = failureOf(Object.values(state.failures)[0]);
  const text = isFrozen
    ? "Frozen: the clock stands."
    : failure !== undefined
      ? `${state.isPlaying ? "" : "The clock stands: "}${failure.code}, ${failure.detail}`
      : state.said !== ""
        ? state.said
        : state.isEnded && !state.isPlaying
          ? "This is the end; Play begins anew."
          : "";
  return (
    <p className={failure === undefined ? "said-line" : "said-line critical"} role="status" data-testid="replay-said">
      <Theirs text={text} />
    </p>
  );
}

const minuteMs = 60_000;
/** A slider that is dragged asks when it rests. */
const restMs = 200;

interface SliderProps {
  readonly at: Instant;
  readonly replay: Pick<Replay, "start" | "end" | "seek">;
  readonly isFrozen: boolean;
}

function Slider({ at, replay, isFrozen }: SliderProps) {
  const { timers } = useWeb();
  // Its end moves with now.
  useNow();
  const [dragged, setDragged] = useState<number>();
  const cancel = useRef<CancelTimer>(undefined);
  useEffect(() => () => cancel.current?.(), []);
  const [min, max] = [Math.floor(toUnixMs(replay.start)), Math.ceil(toUnixMs(replay.end()))];
  const value = dragged ?? toUnixMs(at);
  const move = (ms: number): void => {
    setDragged(ms);
    cancel.current?.();
    cancel.current = timers.after(restMs, () => {
      setDragged(undefined);
      replay.seek(fromUnixMs(ms));
    });
  };
  const onKeyDown = (event: ReactKeyboardEvent): void => {
    const by = stepsMs[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(Math.min(max, Math.max(min, Math.round(value) + by)));
  };
  return (
    <input
      type="range"
      className="replay-slider"
      data-testid="replay-slider"
      aria-label="Moment"
      aria-valuetext={clockText(fromUnixMs(Math.round(value))).slice(0, 19)}
      min={min}
      max={max}
      step={1}
      value={Math.round(value)}
      disabled={isFrozen}
      onChange={(event) => move(Number(event.target.value))}
      onKeyDown={onKeyDown}
    />
  );
}

/** Single milliseconds are no steps for a person. */
const stepsMs: Readonly<Record<string, number>> = {
  ArrowRight: minuteMs,
  ArrowUp: minuteMs,
  ArrowLeft: -minuteMs,
  ArrowDown: -minuteMs,
  PageUp: 60 * minuteMs,
  PageDown: -60 * minuteMs,
};

function useKeys(act: Readonly<Record<ReplayKey, () => void>> | undefined): void {
  useEffect(() => {
    if (act === undefined) return undefined;
    const press = (event: KeyboardEvent): void => {
      const meaning = replayKey(pressOf(event));
      if (meaning === undefined) return;
      event.preventDefault();
      act[meaning]();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

function pressOf(event: KeyboardEvent) {
  const { target, key, ctrlKey, metaKey, altKey, shiftKey, repeat, defaultPrevented } = event;
  const element = target instanceof Element ? target : undefined;
  const within = (selector: string): boolean => (element?.closest(selector) ?? null) !== null;
  const table = element?.matches(".scroll") === true ? element : undefined;
  return {
    key,
    isChord: ctrlKey || metaKey || altKey || shiftKey || repeat || defaultPrevented,
    isField: within("input, select, textarea, [contenteditable], [role=dialog]"),
    isPressed: within("button, a, summary"),
    scrolls: {
      sideways: table !== undefined && table.scrollWidth > table.clientWidth,
      down: table !== undefined && table.scrollHeight > table.clientHeight,
    },
  };
}
