// The composition of the witness: a program of its own that cosigns other people's audit logs. `ctl operations audit witness` runs it.
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemSha256OfBytes, systemSigning } from "../adapters/system/signing.ts";
import { openWitnessFolder } from "../adapters/witness/witness-folder.ts";
import { serveWitness } from "../adapters/witness/witness-server.ts";
import { Fault } from "../contracts/src/fault.ts";
import { readVerifierKey, type VerifierKey } from "../core/audit/signed-note.ts";
import type { WitnessRequest } from "../edges/ctl/verbs/verb.ts";
import type { Log } from "../ports/log.ts";

/** Runs until the signal aborts. */
export async function runWitness(
  request: WitnessRequest,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const ports = { clock: systemClock(), random: systemRandom(), signing: systemSigning() };
  const logs = request.logs.map(logKey);
  const folder = await openWitnessFolder(request.folder, ports);
  try {
    const server = await serveWitness({ ...ports, ...request, logs, folder, log: sayingLog(say) });
    say(`Cosigns as ${server.vkey}`);
    say(`Listens at ${server.url}; Ctrl-C ends it.`);
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await server.close();
  } finally {
    await folder.close();
  }
}

function logKey(vkey: string): VerifierKey {
  const key = readVerifierKey(vkey, systemSha256OfBytes);
  if (key !== undefined) return key;
  throw new Fault(
    "INVALID_ARGUMENT",
    `${JSON.stringify(vkey.slice(0, 300))} is not a log's vkey: \`ctl operations audit status\` prints it.`,
    {
      retry: "never",
    },
  );
}

function sayingLog(say: (line: string) => void): Log {
  const tell = (message: string, fields: object = {}): void => say(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: () => undefined, info: tell, warn: tell, error: tell, with: () => log };
  return log;
}
