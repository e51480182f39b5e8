// Waiting, handed in: in the simulator a second passes when the scheduler says so.
export interface Timers {
  /** Resolves after that many milliseconds, or at once when the signal aborts (check the signal afterwards). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs once after that many milliseconds, unless cancelled first. */
  after(ms: number, run: () => void): CancelTimer;
  /** Runs once, as soon as what has already arrived has been read: without delay, but not in this step. */
  soon(run: () => void): void;
}

export type CancelTimer = () => void;
