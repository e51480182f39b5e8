// Whether a publisher's numbering has holes. Events of one fund may arrive in another order than they were numbered in, so a hole is
// reported only when it has stayed open for a while; the first number that is heard is where the count begins.
import type { Timers } from "../../../ports/timers.ts";
import type { Alarms } from "../alarms.ts";

/** How long a missing number may still come. */
const graceMs = 5_000;
/** Holes that are remembered per fund; a wider jump is reported at once. */
const missingMax = 1_000;
const fundsMax = 100_000;

interface Count {
  next: number;
  readonly missing: Set<number>;
  isTimed: boolean;
}

interface Gaps {
  heard(fundId: string, sequence: number | undefined): void;
  stop(): void;
}

/** `stream` says in the alarm what is being counted. */
export function watchGaps(stream: string, timers: Timers, alarms: Alarms): Gaps {
  const counts = new Map<string, Count>();
  const cancels = new Set<() => void>();

  function heard(fundId: string, sequence: number | undefined): void {
    if (sequence === undefined) return;
    const count = counts.get(fundId);
    if (count === undefined) {
      if (counts.size < fundsMax) counts.set(fundId, { next: sequence + 1, missing: new Set(), isTimed: false });
      return;
    }
    if (sequence < count.next) {
      if (count.missing.delete(sequence) && count.missing.size === 0) alarms.clear("EVENT_GAP", about(fundId));
      return;
    }
    const skipped = sequence - count.next;
    if (count.missing.size + skipped > missingMax) {
      raise(fundId, `${count.next} to ${sequence - 1}`);
      count.missing.clear();
    } else {
      for (let number = count.next; number < sequence; number += 1) count.missing.add(number);
    }
    count.next = sequence + 1;
    if (count.missing.size > 0 && !count.isTimed) lookLater(fundId, count);
  }

  function lookLater(fundId: string, count: Count): void {
    count.isTimed = true;
    const seen = new Set(count.missing);
    const cancel = timers.after(graceMs, () => {
      cancels.delete(cancel);
      count.isTimed = false;
      const lost = [...count.missing].filter((number) => seen.has(number));
      if (lost.length > 0) raise(fundId, shown(lost));
      if (count.missing.size > lost.length) lookLater(fundId, count);
    });
    cancels.add(cancel);
  }

  function raise(fundId: string, numbers: string): void {
    alarms.raise("EVENT_GAP", about(fundId), `The ${stream} of ${fundId} skipped ${numbers}: an event may be missing.`);
  }

  const about = (fundId: string): string => `${stream} ${fundId}`;

  return {
    heard,
    stop() {
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}

function shown(numbers: readonly number[]): string {
  const first = numbers.slice(0, 5).join(", ");
  return numbers.length <= 5 ? first : `${first} and ${numbers.length - 5} more`;
}
