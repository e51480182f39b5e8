// A verification from its beginning to its end: the server judges for as long as one answer may take and says how far it came, and is asked again from there.
//
//  1. It is about the time up to the clock. When the clock goes back before its end, what it found is of the future, and is taken off.
import { earlier, format, type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { verdictsTogether } from "../../words/verdicts.ts";
import { askedMsMax } from "./past-events.ts";

type Verdict = AnswerOf<"verifyDecisions">;

export interface VerifyState {
  /** What it is about; undefined before anybody asked. */
  readonly span: { readonly from: Instant; readonly to: Instant } | undefined;
  readonly isRunning: boolean;
  /** Of all pieces so far. */
  readonly verdict: Verdict | undefined;
  readonly failure: unknown;
}

export interface VerifyRun {
  state(): VerifyState;
  subscribe(listen: () => void): () => void;
  begin(from: Instant, to: Instant): void;
  /** The clock stands there now. */
  clockAt(at: Instant): void;
  close(): void;
}

type Piece = (from: string, to: string, signal: AbortSignal) => Promise<Verdict>;

/** As many as are listed. */
const listedMax = 100;

const idle: VerifyState = { span: undefined, isRunning: false, verdict: undefined, failure: undefined };

export function openVerify(piece: Piece): VerifyRun {
  const listeners = new Set<() => void>();
  let state = idle;
  let asking = new AbortController();
  const set = (next: VerifyState): void => {
    state = next;
    for (const listen of listeners) listen();
  };

  async function run(from: Instant, to: Instant, signal: AbortSignal): Promise<void> {
    for (let start = from; ; ) {
      const end = earlier(to, plusMilliseconds(start, askedMsMax));
      const next = await piece(format(start), format(end), signal);
      if (signal.aborted) return;
      const { verdict } = state;
      set({ ...state, verdict: verdict === undefined ? next : verdictsTogether(verdict, next, listedMax) });
      const through = parse(next.through);
      if (through >= to) return;
      // The log has not taken in the rest yet.
      if (through < end && (through <= start || (next.decisions === 0 && start > from))) return;
      start = through;
    }
  }

  return {
    state: () => state,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    begin(from, to) {
      asking.abort();
      asking = new AbortController();
      const { signal } = asking;
      set({ ...idle, span: { from, to }, isRunning: true });
      run(from, to, signal).then(
        () => signal.aborted || set({ ...state, isRunning: false }),
        (failure: unknown) => signal.aborted || set({ ...state, isRunning: false, failure }),
      );
    },
    clockAt(at) {
      if (state.span === undefined || at >= state.span.to) return;
      asking.abort();
      set(idle);
    },
    close() {
      asking.abort();
      listeners.clear();
    },
  };
}
