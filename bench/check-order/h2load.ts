// Saturation by h2load: as many calls as the server takes, from a generator in C that is never the bottleneck. It can only send one body,
// so the server under test puts a number of its own into each.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { environmentOf, type FoundProgram, findProgram } from "../../testkit/debian-package.ts";
import { h2loadProgram } from "../../testkit/h2load.ts";
import { type OrderKind, orderFrame } from "./orders.ts";

const run = promisify(execFile);

export interface Saturation {
  readonly perS: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface H2load {
  saturate(port: number, token: string, seconds: number): Promise<Saturation>;
}

export async function openH2load(folder: string, cacheFolder: string, kind: OrderKind): Promise<H2load> {
  const found: FoundProgram = await findProgram(h2loadProgram, join(cacheFolder, h2loadProgram.cacheName));
  const body = join(folder, "order.bin");
  await writeFile(body, orderFrame(kind, 0));
  return {
    async saturate(port, token, seconds) {
      const parameters = ["-c", "4", "-m", "16", "-t", "1", "-D", String(seconds), "--warm-up-time", "0", "-d", body];
      const headers = ["content-type: application/grpc", "te: trailers", `authorization: Bearer ${token}`];
      const url = `http://127.0.0.1:${port}/svc.v1.RiskEngine/CheckOrder`;
      const { stdout } = await run(found.binary, [...parameters, ...headers.flatMap((header) => ["-H", header]), url], {
        env: environmentOf(found),
        timeout: (seconds + 30) * 1_000,
      });
      return readReport(stdout);
    },
  };
}

export function readReport(text: string): Saturation {
  const perS = /finished in [\d.]+\w+, ([\d.]+) req\/s/.exec(text)?.[1];
  const counts = /requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored/.exec(text);
  if (perS === undefined || counts === null)
    throw new Error(`h2load said something else than usual: ${text.slice(0, 500)}`);
  return { perS: Number(perS), succeeded: Number(counts[1]), failed: Number(counts[2]) + Number(counts[3]) };
}
