// The whole platform with its audit log under load, and everything that a round needs at hand: its processes, its database, and what the log says of
// itself, which the offline verifier is asked about.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import { auditActions } from "../../contracts/src/audit-actions.ts";
import type { AuditInspection } from "../../contracts/src/generated/svc/v1/auditdesk.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { removeAbandoned } from "../abandoned.ts";
import { testClient } from "../grpc/test-client.ts";
import { issueServiceToken, logInAs } from "../login.ts";
import { type Platform, startPlatform, temporaryFolder } from "../platform.ts";
import { openPeer } from "../postgres-fixture.ts";
import { quietLog } from "../quiet-log.ts";
import type { Prng } from "../virtual/prng.ts";
import { type AuditLoad, runAuditLoad } from "./audit-load.ts";
import type { AuditRowSeen } from "./audit-verdict.ts";
import type { Aim, Struck } from "./kills.ts";

export interface OfflineVerdict {
  readonly verdict: "yes" | "no";
  readonly level?: string;
}

export interface AuditLogFixture extends Struck {
  readonly load: AuditLoad;
  rows(): Promise<readonly AuditRowSeen[]>;
  /** Events of audited subjects in the outbox. */
  committed(): Promise<readonly string[]>;
  /** What was put aside, of the audit log's own intake. */
  parked(): Promise<readonly string[]>;
  /** Everything up to the newest checkpoint, exported and verified offline. */
  verifyOffline(): Promise<{ readonly verdict: OfflineVerdict; readonly size: number }>;
  /** Chain, tree, tiles and index derived anew by the running log; a sentence for whatever differs. */
  inspect(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const configuration = `
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;
const verifier = join(import.meta.dirname, "..", "..", "verifier", "audit-verify.js");
const aim: Aim = {
  part: "operations",
  append: "audit_append",
  answerLost: "the answer to an audit commit was lost",
  outcomeKnown: "the outcome of the audit commit is known",
};
const auditedSubjects = Object.entries(subjects)
  .filter(([key]) => !("notAudited" in auditActions[key as keyof typeof subjects]))
  .map(([, { name }]) => name);

export async function openAuditLogFixture(throws: Prng): Promise<AuditLogFixture> {
  removeAbandoned(tmpdir(), "portcullis-audit-log");
  const folder = temporaryFolder(`audit-log-${process.pid}`);
  const dataFolder = join(folder, "data");
  const path = join(folder, "portcullis.yaml");
  writeFileSync(path, configuration);
  const start = (): Platform => startPlatform({ dataFolder, environment: { PORTCULLIS_CONFIG: path } });
  const platforms = [start()];
  const current = (): Platform => platforms.at(-1) ?? start();
  const printed = (): string => platforms.map((platform) => platform.stdout() + platform.stderr()).join("\n");
  const end = async (): Promise<void> => {
    await current().end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await current().ready();
    const token = await issueServiceToken(current(), "drill", ["AppendAudit", "GetAuditStatus", "GetAuditBundleHead"]);
    return furnish({ token, throws, current, printed, end, startNext: () => platforms.push(start()) });
  } catch (error) {
    await end();
    throw new Error(`the world did not come up: ${String(error)}\n${printed().slice(-3_000)}`, { cause: error });
  }
}

interface Frame {
  readonly token: string;
  readonly throws: Prng;
  readonly current: () => Platform;
  readonly printed: () => string;
  readonly startNext: () => void;
  readonly end: () => Promise<void>;
}

function furnish({ token, throws, current, printed, startNext, end }: Frame): AuditLogFixture {
  const { database } = current().runFile();
  const target = addressOfSocket(database.host, database.port, ownerRoleName);
  const owner = openPool(target.owner, { log: quietLog, applicationName: "crash rounds", sizeMax: 4 });
  const peer = openPeer(target.app, { applicationName: "crash rounds", poolSize: 4 });
  const address = (): string => current().runFile().addresses["operations"] ?? "";
  const load = runAuditLoad({ address: address(), token, store: peer.store, throws: throws.fork("load") });
  const ask = (method: string, message: object): Promise<unknown> => askQueries(address(), token, method, message);
  return {
    aim,
    platform: current,
    printed,
    owner,
    target: target.owner,
    load,
    async startAgain() {
      startNext();
      await current().ready();
      load.turnTo(address());
    },
    rows: () => readRows(owner),
    async committed() {
      const text = "select event_id as id from outbox where subject = any($1)";
      return (await owner.query<{ id: string }>(text, [auditedSubjects])).rows.map(({ id }) => id);
    },
    async parked() {
      const text = "select event_id, error from parked_event where subscription = 'operations.audit'";
      const { rows } = await owner.query<{ event_id: string; error: string }>(text);
      return rows.map(({ event_id, error }) => `${event_id} was put aside: ${error}`);
    },
    async verifyOffline() {
      const { keys } = (await ask("GetAuditStatus", {})) as { keys: readonly string[] };
      const head = (await ask("GetAuditBundleHead", { from_sequence: 0, count: 0 })) as { head: string; count: number };
      const rows = (await readRows(owner)).slice(0, head.count);
      const path = join(current().dataFolder, "crash-rounds.bundle");
      writeFileSync(path, `${head.head}${rows.map(({ text }) => `${text}\n`).join("")}`);
      return { verdict: verdictOn(path, keys), size: head.count };
    },
    async inspect() {
      const { access_token } = await logInAs(current(), "duty");
      const { findings } = (await askQueries(address(), access_token, "InspectAudit", {
        rebuild: false,
      })) as AuditInspection;
      return findings;
    },
    async close() {
      await load.stop();
      await peer.close();
      await owner.end();
      await end();
    },
  };
}

/** As an auditor asks: the program, the file and the keys. */
function verdictOn(path: string, vkeys: readonly string[]): OfflineVerdict {
  const words = [verifier, path, "--json", ...vkeys.flatMap((vkey) => ["--vkey", vkey])];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (stdout === "") throw new Error(`the offline verifier said nothing: ${stderr}`);
  return JSON.parse(stdout) as OfflineVerdict;
}

async function readRows(owner: pg.Pool): Promise<readonly AuditRowSeen[]> {
  const text = `select sequence::int as sequence, event_id as "eventId", convert_from(text, 'UTF8') as text
    from audit_entry order by sequence`;
  return (await owner.query<AuditRowSeen>(text)).rows;
}

async function askQueries(address: string, token: string, method: string, message: object): Promise<unknown> {
  const [host = "", port = ""] = address.split(":");
  const client = testClient({ host, port: Number(port) }, { token });
  try {
    const { status, details, answer } = await client.call("AuditDesk", method, message, { deadlineMs: 60_000 });
    if (status !== "OK") throw new Error(`${method}: ${status} ${details}`);
    return answer;
  } finally {
    client.close();
  }
}
