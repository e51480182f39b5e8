// The end of a real process after a defect: say what was wrong on the log, then leave at once with a code that the
// supervisor can tell from a failed start and from a clean end. Nothing is drained: whoever is wrong must not go on.
import { writeSync } from "node:fs";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Crash } from "../../ports/crash.ts";
import type { Log } from "../../ports/log.ts";

/** EX_SOFTWARE of sysexits.h: an internal error in the program. */
export const defectExitCode = 70;

interface ProcessCrashOptions {
  /** Tests hand in their own end. */
  readonly exit?: (code: number) => never;
}

/** The log must write synchronously (createLog does), or its last line is lost. */
export function processCrash(log: Log, options: ProcessCrashOptions = {}): Crash {
  const exit = options.exit ?? ((code: number): never => process.exit(code));
  return {
    die(defect: Error): never {
      try {
        log.error("Defect: this process ends here.", { error: defect, exit_code: defectExitCode });
      } catch (thrown) {
        // The log itself is broken; the bare sentences are all that is left, and the exit below must still happen.
        lastWords(`Defect: ${defect.name}; the log failed too: ${messageOf(thrown)}\n`);
      }
      return exit(defectExitCode);
    },
  };
}

function lastWords(text: string): void {
  try {
    writeSync(2, text);
  } catch (thrown) {
    // No log and no standard error: the exit code has to speak. Recorded where a debugger would look.
    process.exitCode = thrown instanceof Error ? defectExitCode : defectExitCode + 1;
  }
}

/** Makes an exception that nobody caught, and a rejection that nobody awaited, a crash. Answers how to undo it. */
export function crashOnUnhandled(crash: Crash): () => void {
  const die = (thrown: unknown): void => {
    crash.die(
      thrown instanceof Error ? thrown : new Error(`something that is not an Error was thrown: ${String(thrown)}`),
    );
  };
  process.on("uncaughtException", die);
  process.on("unhandledRejection", die);
  return () => {
    process.off("uncaughtException", die);
    process.off("unhandledRejection", die);
  };
}
