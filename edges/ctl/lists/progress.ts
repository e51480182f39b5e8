// What takes longer than a second says so where a person sits, so that a slow server is not taken for a dead one. The line goes when the answer is there.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Surroundings } from "../verbs/verb.ts";

const quietMs = 1_000;

/** Several may run at once: the line stays until the last of them is answered. */
const running = new WeakMap<Surroundings["terminal"], number>();

export async function withProgress<Answer>(
  { terminal, timers, clock }: Pick<Surroundings, "terminal" | "timers" | "clock">,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  if (!terminal.interactive) return ask();
  const since = clock.now();
  let stop: () => void = () => undefined;
  const tick = (): void => {
    stop = timers.after(quietMs, () => {
      const waitedS = Math.round(millisecondsBetween(since, clock.now()) / 1_000);
      terminal.progress(`Waiting for the server: ${waitedS} s. Ctrl-C ends it.`);
      tick();
    });
  };
  running.set(terminal, (running.get(terminal) ?? 0) + 1);
  tick();
  try {
    return await ask();
  } finally {
    stop();
    const left = (running.get(terminal) ?? 1) - 1;
    running.set(terminal, left);
    if (left === 0) terminal.progress(undefined);
  }
}
