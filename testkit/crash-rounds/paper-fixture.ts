// The whole platform as it trades by itself, with everything that a round needs at hand: its processes, its database, and a program that may ask
// its services and hand orders in.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { createRpcClient, type RpcClient } from "../../adapters/grpc/rpc-client.ts";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { removeAbandoned } from "../abandoned.ts";
import { type Flow, provenFlow } from "../granted-proof.ts";
import { issueServiceToken, logInAs } from "../login.ts";
import { giveMadeDatabase } from "../made-cluster.ts";
import { type Platform, startPlatform, temporaryFolder } from "../platform.ts";
import { quietLog } from "../quiet-log.ts";

export interface PaperFixture {
  platform(): Platform;
  /** What the platform has printed. */
  printed(): string;
  /** The database, as its owner. */
  readonly owner: pg.Pool;
  /** Asks a procedure of a service, with the token of a program; rejects when it got no answer or was denied. */
  ask<Answer>(service: string, method: string, request: object, timeoutMs?: number): Promise<Answer>;
  /** The same as an operator on duty who has just logged in. */
  askAsOperator<Answer>(service: string, method: string, request: object): Promise<Answer>;
  /** Money in or out, with the proof of the second factor that it needs. */
  bookFlow(flow: Flow): Promise<unknown>;
  /** kill -9 of one of its processes, or of its database. */
  kill(victim: string): void;
  close(): Promise<void>;
}

const operations = [
  ...[
    "SubmitOrder",
    "GetOrder",
    "ListExposures",
    "GetBooks",
    "VerifyAudit",
    "ListStops",
    "ListPositions",
    "ListOrders",
  ],
];
const answerMsMax = 12_000;

/** The name tells its folder from those of other tests; the configuration is YAML. */
export async function openPaperFixture(name: string, configuration: string): Promise<PaperFixture> {
  removeAbandoned(tmpdir(), `portcullis-${name}`);
  const folder = temporaryFolder(`${name}-${process.pid}`);
  const file = join(folder, "portcullis.yaml");
  writeFileSync(file, configuration);
  giveMadeDatabase(join(folder, "data"));
  const platform = startPlatform({
    dataFolder: join(folder, "data"),
    environment: { PORTCULLIS_CONFIG: file },
    funds: "as configured",
  });
  const printed = (): string => platform.stdout() + platform.stderr();
  const end = async (): Promise<void> => {
    await platform.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await platform.ready();
    const token = await issueServiceToken(platform, name, operations);
    const { addresses, database } = platform.runFile();
    const owner = openPool(addressOfSocket(database.host, database.port, ownerRoleName).owner, {
      log: quietLog,
      applicationName: name,
      sizeMax: 4,
    });
    const client = createRpcClient({ targets: addresses, clock: systemClock() });
    return {
      platform: () => platform,
      printed,
      owner,
      ...calls(client, token, platform, owner),
      close: closing(client, owner, end),
    };
  } catch (error) {
    await end();
    throw new Error(`the world did not come up: ${String(error)}\n${printed().slice(-3_000)}`, { cause: error });
  }
}

function closing(client: RpcClient, owner: pg.Pool, end: () => Promise<void>): () => Promise<void> {
  return async () => {
    client.close();
    await owner.end();
    await end();
  };
}

function calls(
  client: RpcClient,
  bearer: string,
  platform: Platform,
  owner: pg.Pool,
): Pick<PaperFixture, "ask" | "askAsOperator" | "bookFlow" | "kill"> {
  const asked = async (service: string, method: string, request: object, as: string, timeoutMs: number) => {
    const outcome = await client.call(service, method, request, { bearer: as, timeoutMs });
    if (!outcome.ok) throw new Error(`${method} was denied: ${outcome.denial.code} ${outcome.denial.reason}`);
    return outcome.value;
  };
  return {
    ask: async <Answer>(service: string, method: string, request: object, timeoutMs = answerMsMax): Promise<Answer> =>
      (await asked(service, method, request, bearer, timeoutMs)) as Answer,
    async askAsOperator<Answer>(service: string, method: string, request: object): Promise<Answer> {
      const { access_token: token } = await logInAs(platform, "duty");
      return (await asked(service, method, request, token, answerMsMax)) as Answer;
    },
    async bookFlow(flow) {
      const { access_token: token } = await logInAs(platform, "duty");
      return asked("Treasury", "BookFlow", await provenFlow(owner, token, flow), token, answerMsMax);
    },
    kill(victim) {
      const { processes, database } = platform.runFile();
      const pid = (victim === "postgres" ? database.pid : processes[victim]) ?? 0;
      // Only after looking at it: its number may be another process's by now.
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const mark = victim === "postgres" ? platform.dataFolder : `portcullis-${victim}`;
      if (!command.includes(mark)) throw new Error(`the process ${pid} is not our ${victim}: ${command}`);
      process.kill(pid, "SIGKILL");
    },
  };
}
