// So many at once and no more: whoever only reads must not be able to keep the process that writes the log from writing it.
import { Fault } from "../../../../contracts/src/fault.ts";

type AtMost = <Answer>(work: () => Promise<Answer>) => Promise<Answer>;

/** `doing` completes the sentence "4 trails are being read, as many as may." */
export function atMost(count: number, doing: string): AtMost {
  let running = 0;
  return async (work) => {
    if (running >= count) {
      throw new Fault("RESOURCE_EXHAUSTED", `${count} ${doing}, as many as may.`, { retry: "later" });
    }
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
}
