// PgBouncer in session mode before a PostgreSQL server, as an administrator runs it: Debian's, found on PATH or fetched into the project's cache. It drops the
// settings that a connection asks for, as those of its version do.
import { chmod, chown, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseServerUser, spawnAs } from "../adapters/postgres/embedded/server-user.ts";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";
import { findProgram } from "./debian-package.ts";

export interface SessionPooler {
  stop(): Promise<void>;
}

export interface SessionPoolerOptions {
  readonly port: number;
  readonly server: { readonly port: number; readonly database: string; readonly authority: string };
  /** Passwords by login. */
  readonly logins: Readonly<Record<string, string>>;
}

const folderName = "portcullis-pooler";
const readyMsMax = 30_000;

async function listening(port: number): Promise<void> {
  const accepts = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port });
      const end = (answer: boolean): void => {
        socket.destroy();
        resolve(answer);
      };
      socket.once("connect", () => end(true)).once("error", () => end(false));
    });
  for (const until = Date.now() + readyMsMax; !(await accepts()); await sleep(50)) {
    if (Date.now() > until) throw new Error(`pgbouncer does not listen on port ${port} after ${readyMsMax} ms`);
  }
}

export async function startSessionPooler({ port, server, logins }: SessionPoolerOptions): Promise<SessionPooler> {
  removeAbandoned(tmpdir(), folderName);
  const folder = await mkdtemp(join(tmpdir(), ownPrefix(folderName)));
  const user = await chooseServerUser(undefined);
  const found = await findProgram({
    packageName: "pgbouncer",
    names: ["pgbouncer"],
    binaryPath: "usr/sbin/pgbouncer",
    cacheName: "pgbouncer",
  });
  const users = Object.entries(logins).map(([login, password]) => `"${login}" "${password}"`);
  const settings = [
    "[databases]",
    `${server.database} = host=127.0.0.1 port=${server.port} dbname=${server.database}`,
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "pool_mode = session"],
    ...["auth_type = scram-sha-256", `auth_file = ${join(folder, "users")}`, "ignore_startup_parameters = options"],
    ...["server_tls_sslmode = verify-full", `server_tls_ca_file = ${join(folder, "ca.crt")}`],
    ...["max_client_conn = 400", "default_pool_size = 60"],
  ];
  const files = { users: users.join("\n"), "ca.crt": server.authority, ini: settings.join("\n") };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), `${content}\n`, { mode: 0o600 });
    if (user.borrowed) await chown(join(folder, name), user.uid, user.gid);
  }
  await chmod(folder, 0o755);
  const log = await open(join(folder, "log"), "a");
  const libraries =
    found.libraryFolders.length === 0 ? [] : [`LD_LIBRARY_PATH=${found.libraryFolders.join(delimiter)}`];
  const child = spawnAs(user, "/usr/bin/env", [...libraries, found.binary, join(folder, "ini")], log.fd);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // Whoever connects at once is refused for a moment, and the caller's start tries only once.
  await listening(port);
  return {
    async stop() {
      child.kill("SIGINT");
      const slow = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await exited;
      clearTimeout(slow);
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
