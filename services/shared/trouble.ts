// What is tried again and again and fails is reported once, and once more when it works again: a protection that cannot be evaluated must be noticed, and a
// log that says so every second is read by nobody.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";

interface Trouble {
  failed(thrown: unknown): void;
  worked(): void;
}

export function noticeTrouble(
  log: Log,
  { failing, working }: { readonly failing: string; readonly working: string },
): Trouble {
  let failures = 0;
  return {
    failed(thrown) {
      failures += 1;
      const fields = { error: messageOf(thrown) };
      if (failures === 1) log.warn(failing, fields);
      else log.debug(failing, { ...fields, failures });
    },
    worked() {
      if (failures > 0) log.info(working, { failures });
      failures = 0;
    },
  };
}
