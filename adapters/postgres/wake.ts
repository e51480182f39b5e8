// Wake-ups: readers are told that there is something to read and of which kind, at once within a process and by NOTIFY between processes.
// NOTIFY is sent after the commit, never inside it (inside, it would make commits wait for each other), from one
// connection per process, and coalesced: however many commits come, at most one is under way and one is owed. A lost
// wake-up costs time, never an event: readers poll behind it. The same connection carries the lossy marks.
import type pg from "pg";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { keepConnection, type OpenConnection } from "./bus-connection.ts";

/** What a commit can bring: events of the outbox, decisions of the journal, entries of the audit log. */
export type Written = "events" | "decisions" | "entries";

export interface Wake {
  /** Something was committed. Returns at once. */
  poke(written: Written): void;
  /** Calls back after commits, here or elsewhere, once for each kind, and after a reconnect; gives the function that stops it. */
  onPoke(run: (written: Written) => void): () => void;
  /** Sends a text of at most `messageBytesMax` bytes to every process; false when it was dropped. */
  send(text: string): boolean;
  onMessage(run: (text: string) => void): () => void;
  /** Resolves when the first connection is open or the signal aborts. */
  ready(signal: AbortSignal): Promise<void>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

export interface WakeOptions {
  readonly open: OpenConnection;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

/** PostgreSQL takes less than 8,000 bytes. */
export const messageBytesMax = 7_900;
/** Messages under way at most; marks beyond that are dropped, the next ones replace them anyway. */
const messagesMax = 64;
/** Commits that follow each other faster than this share a notification. */
const notifyMsMin = 1;
const wakeChannel = "portcullis_wake";
const messageChannel = "portcullis_message";
const allKinds: readonly Written[] = ["events", "decisions", "entries"];

export function createWake(options: WakeOptions): Wake {
  const { timers, log } = options;
  const pokeListeners = new Set<(written: Written) => void>();
  const messageListeners = new Set<(text: string) => void>();
  const outgoing: string[] = [];
  const owed = new Set<Written>();
  let sending = false;

  function tellHere(kinds: Iterable<Written>): void {
    for (const written of kinds) for (const run of pokeListeners) run(written);
  }

  async function prepare(client: pg.Client): Promise<void> {
    // A notification is a commit of its own; were it to wait for the disk, it would compete there with those that must.
    const settings = "set synchronous_commit = off";
    const own = await client.query(
      `${settings}; listen ${wakeChannel}; listen ${messageChannel}; select pg_backend_pid() as pid`,
    );
    const pid = Number((own as unknown as readonly pg.QueryResult[])[3]?.rows[0]?.pid);
    client.on("notification", (notification) => {
      if (notification.channel === messageChannel) {
        for (const run of messageListeners) run(notification.payload ?? "");
      } else if (notification.processId !== pid) tellHere(kindsIn(notification.payload ?? ""));
    });
    // Something may have been committed while nobody listened.
    tellHere(allKinds);
  }

  const connection = keepConnection({ title: "the wake-up connection", prepare, ...options });

  /** The one sender: a statement at a time, wake-ups before messages. */
  async function drain(): Promise<void> {
    sending = true;
    while (owed.size > 0 || outgoing.length > 0) {
      const client = connection.current();
      // Without a connection the others poll. Nothing is owed to them later: they read everything when they do.
      if (client === undefined) {
        owed.clear();
        outgoing.length = 0;
        break;
      }
      if (owed.size > 0) {
        const kinds = [...owed].join(",");
        owed.clear();
        await attempt(client.query(`notify ${wakeChannel}, '${kinds}'`));
      }
      const text = outgoing.shift();
      if (text !== undefined) {
        await attempt(
          client.query({ name: "message", text: "select pg_notify($1, $2)", values: [messageChannel, text] }),
        );
      } else if (owed.size > 0) await timers.sleep(notifyMsMin);
    }
    sending = false;
  }

  async function attempt(sent: Promise<unknown>): Promise<void> {
    await sent.catch((error: unknown) => log.debug("notification was not sent", { reason: messageOf(error) }));
  }

  /** drain() never rejects. */
  function beginSending(): void {
    if (!sending) void drain();
  }

  return {
    poke(written) {
      tellHere([written]);
      owed.add(written);
      beginSending();
    },
    onPoke(run) {
      pokeListeners.add(run);
      return () => pokeListeners.delete(run);
    },
    send(text) {
      if (connection.current() === undefined || outgoing.length >= messagesMax) return false;
      outgoing.push(text);
      beginSending();
      return true;
    },
    onMessage(run) {
      messageListeners.add(run);
      return () => messageListeners.delete(run);
    },
    ready: async (signal) => void (await connection.opened(signal)),
    complaint: () => connection.complaint(),
    close: () => connection.close(),
  };
}

/** Anybody may notify; what names no kind may have brought anything. */
function kindsIn(payload: string): readonly Written[] {
  const named = payload.split(",");
  const kinds = allKinds.filter((kind) => named.includes(kind));
  return kinds.length === 0 ? allKinds : kinds;
}

/** Calls back after commits of one kind; gives the function that stops it. */
export function whenWritten(wake: Pick<Wake, "onPoke">, kind: Written, run: () => void): () => void {
  return wake.onPoke((written) => {
    if (written === kind) run();
  });
}
