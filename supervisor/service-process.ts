// One part of the platform in a process of its own: what the supervisor starts. It learns over the IPC channel what to run, says when
// it is ready or why it cannot be, and stops when it is told to or when the supervisor is gone.

import { keptLog, keptLogs } from "../adapters/log/kept-log.ts";
import { crashOnUnhandled, processCrash } from "../adapters/system/process-crash.ts";
import { partSide } from "../adapters/system/service-process.ts";
import { logFor, type PartInput } from "../compose/shared.ts";
import { compose } from "../compose.ts";
import { Fault, messageOf } from "../contracts/src/fault.ts";

const side = partSide();
process.title = `portcullis-${process.argv[2] ?? "part"}`;

async function run(): Promise<number> {
  const input = (await Promise.race([side.input, side.stopped.then(() => undefined)])) as PartInput | undefined;
  if (input === undefined) return 0;
  const [only = "supervisor", ...others] = input.parts;
  const kept = others.length === 0 ? keptLog(input.dataFolder, only) : keptLogs(input.dataFolder, input.parts, only);
  const whole = logFor(input.configuration, kept);
  const log = whole.with({ part: input.parts.join("+") });
  crashOnUnhandled(processCrash(log));
  const starting = compose(input, (request) => side.ask(request), whole);
  try {
    const composition = await starting;
    await side.tell({ type: "ready", addresses: composition.addresses });
    const reason = await side.stopped;
    log.debug("stopping", { reason });
    // Without a supervisor nobody would end a part that hangs in its stop.
    const patience = setTimeout(() => process.exit(1), input.configuration.lifecycle.drain_timeout_s * 1_000);
    await composition.stop();
    clearTimeout(patience);
    return 0;
  } catch (error) {
    const code = error instanceof Fault ? error.code : "INTERNAL";
    const isPassing = error instanceof Fault && error.code.startsWith("STORE_") && error.retry !== "never";
    await side.tell({ type: "failed", code, message: messageOf(error), isPassing });
    log.error("could not start", { error });
    return 1;
  }
}

process.exit(await run());
