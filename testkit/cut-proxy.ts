// A tiny proxy before a PostgreSQL server that can be cut: for tests of lost connections and lost answers. It looks at
// the bytes only to find a COMMIT, or the statement that is its own commit.
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionTarget } from "../adapters/postgres/connection.ts";
import type { Outcome } from "../ports/store.ts";

export interface CutProxy {
  /** The same database, reached through the proxy. */
  readonly target: ConnectionTarget;
  /** Cuts every connection and refuses new ones. */
  cut(): void;
  restore(): void;
  /** Keeps every connection open and passes nothing on any more, as a network does that drops packets. */
  swallow(): void;
  /** The same, from the next COMMIT on, which is still passed on when it shall be committed. */
  swallowFromCommit(outcome: Outcome): void;
  /** Loses the answer to the next COMMIT: it is forwarded when it shall be committed, swallowed when not. */
  loseNextCommitAnswer(outcome: Outcome): void;
  close(): Promise<void>;
}

/** What is sent to commit, and what the server says then. */
export interface CommitBytes {
  readonly message: string;
  readonly answer: string;
}

const commitStatement: CommitBytes = { message: "commit\0", answer: "COMMIT\0" };

export async function startCutProxy(target: ConnectionTarget, commit = commitStatement): Promise<CutProxy> {
  const commitMessage = Buffer.from(commit.message, "latin1");
  const commitAnswer = Buffer.from(commit.answer, "latin1");
  const folder = await mkdtemp(join(tmpdir(), "portcullis-proxy-"));
  const sockets = new Set<Socket>();
  let refusing = false;
  let planned: Outcome | undefined;
  let plannedSilence: Outcome | undefined;
  let silent = false;

  function destroyAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  function open(): Socket {
    if (target.host.startsWith("/")) return createConnection(join(target.host, `.s.PGSQL.${target.port}`));
    return createConnection(target.port, target.host);
  }

  function connectBoth(client: Socket, server: Socket): void {
    let losing = false;
    client.on("data", (chunk) => {
      if (silent) return;
      if (plannedSilence !== undefined && chunk.includes(commitMessage)) {
        silent = true;
        if (plannedSilence === "not committed") return;
      }
      if (planned !== undefined && chunk.includes(commitMessage)) {
        const outcome = planned;
        planned = undefined;
        if (outcome === "not committed") {
          client.destroy();
          server.destroy();
          return;
        }
        losing = true;
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (silent) return;
      if (!losing) client.write(chunk);
      else if (chunk.includes(commitAnswer)) {
        client.destroy();
        server.destroy();
      }
    });
  }

  const listener = createServer((client) => {
    if (refusing) return client.destroy();
    const server = open();
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    connectBoth(client, server);
    return undefined;
  });
  await new Promise<void>((resolve) => listener.listen(join(folder, `.s.PGSQL.${target.port}`), resolve));

  return {
    target: { ...target, host: folder },
    cut() {
      refusing = true;
      destroyAll();
    },
    restore() {
      refusing = false;
      // What was swallowed is gone, so a connection that lived through it is of no use to anybody.
      if (silent) destroyAll();
      silent = false;
      plannedSilence = undefined;
    },
    swallow() {
      silent = true;
    },
    swallowFromCommit(outcome) {
      plannedSilence = outcome;
    },
    loseNextCommitAnswer(outcome) {
      planned = outcome;
    },
    async close() {
      destroyAll();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
