// The composition of the command line: the real clock, streams and Ctrl-C handed to edges/ctl, and its answer turned into the exit
// code. It imports nothing that `ctl --help` does not need.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { parseJson } from "../contracts/src/parse-json.ts";
import { runCtl } from "../edges/ctl/main.ts";
import { leaveQuietlyOnClosedPipe } from "../edges/ctl/terminal.ts";

/** Where this ctl was started from: `home` has its package.json, `repository` is there when the platform is, too. */
export interface Installation {
  readonly home: string;
  readonly repository?: string;
}

export async function main(argv: readonly string[], { home, repository }: Installation): Promise<number> {
  const interrupt = new AbortController();
  // The first Ctrl-C lets a verb tidy up; a second one does not wait for it.
  process.on("SIGINT", () => (interrupt.signal.aborted ? process.exit(130) : interrupt.abort()));
  leaveQuietlyOnClosedPipe(process, () => process.exit(0));
  const timers = systemTimers();
  const exit = await runCtl(argv, {
    environment: process.env,
    clock: systemClock(),
    timers,
    random: systemRandom(),
    streams: process,
    signal: interrupt.signal,
    folder: process.cwd(),
    repository,
    version: () => versionOf(home),
    renderPdf: async (document) => (await import("./report-pdf.ts")).pdfOf(document),
    runWitness: async (request, say, signal) => (await import("./witness.ts")).runWitness(request, say, signal),
  });
  timers.release();
  // A request that Ctrl-C left behind must not hold the terminal.
  if (interrupt.signal.aborted) process.exit(exit);
  return exit;
}

function versionOf(home: string): string {
  const manifest: unknown = parseJson(readFileSync(join(home, "package.json"), "utf8"));
  return (manifest as { version: string }).version;
}
