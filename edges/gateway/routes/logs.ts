// GET /v1/platform/logs/:service: what a service has logged, from the files in the data folder, so also the last words of one that is dead. With `follow`
// it goes on with what is written, one JSON object a line; an empty line says that the stream stands.
import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import type { KeptLine, LinesWanted } from "../../../ports/kept-logs.ts";
import { defineRoute } from "../define-route.ts";
import { seated, seatsFor } from "../lasting-stream.ts";
import type { GatewayParts } from "../parts.ts";
import { linesAnswer, logsParams, logsQuery } from "../schemas/platform.ts";

const countDefault = 200;
const logFollowersMax = 32;
const logFollowersPerPersonMax = 8;

type Parts = Pick<GatewayParts, "keptLogs" | "elsewhere" | "verify" | "timers">;

export function logsRead(parts: Parts): Route {
  const seats = seatsFor("logs", { allMax: logFollowersMax, personMax: logFollowersPerPersonMax });
  return defineRoute({
    id: "readLogs",
    method: "GET",
    path: "/v1/platform/logs/:service",
    listeners: ["operator"],
    sentence: "What a service has logged, oldest first; also while it is dead.",
    operation: "ReadLogs",
    params: logsParams,
    query: logsQuery,
    answers: { 200: linesAnswer },
    follows: true,
    handle: async (request) => {
      const { level, since, count_max: countMax = countDefault, follow } = request.query;
      const { service } = request.params;
      const wanted: LinesWanted = { service, level, since: since === undefined ? undefined : parse(since), countMax };
      if (follow !== true) return { status: 200, body: await linesOf(parts, wanted) };
      const begin = async () => {
        const first = await linesOf(parts, wanted);
        return { pieces: (signal: AbortSignal) => pieces(parts, first, wanted, signal), contentType: ndjson };
      };
      const tellEnd = (code: string, detail: string): string => `${JSON.stringify({ problem: { code, detail } })}\n`;
      return seated(seats, request, begin, { parts, operation: "ReadLogs", tellEnd });
    },
  });
}

const ndjson = "application/x-ndjson; charset=utf-8";

async function linesOf({ keptLogs, elsewhere }: Parts, wanted: LinesWanted): Promise<readonly KeptLine[]> {
  const lines = await keptLogs.read(wanted);
  if (lines !== undefined) return lines;
  const { service } = wanted;
  const there = elsewhere(service);
  const why =
    there === undefined
      ? `${service} has logged nothing here yet.`
      : `${service} runs on another host (${there}): its log is kept there.`;
  throw new Fault("NOT_FOUND", why, { retry: "never" });
}

async function* pieces(
  { keptLogs }: Parts,
  first: Awaited<ReturnType<typeof linesOf>>,
  { service, level }: LinesWanted,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield textOf(first);
  for await (const lines of keptLogs.follow({ service, level }, signal)) yield textOf(lines);
}

const textOf = (lines: readonly KeptLine[]): string =>
  lines.length === 0 ? "\n" : lines.map((line) => `${JSON.stringify(line)}\n`).join("");
