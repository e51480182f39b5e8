// Wake-ups: readers are told that there is something to read, of which kind and under which subjects, at once within a process and by NOTIFY
// between processes. Whoever wants none of it does not look: a halt's few events would else wake every reader of every process at once.
// NOTIFY is sent after the commit, never inside it (inside, it would make commits wait for each other), from one
// connection per process, and coalesced: however many commits come, at most one is under way and one is owed. A lost
// wake-up costs time, never an event: readers poll behind it. The same connection carries the lossy marks.
import type pg from "pg";
import { messageOf } from "../../../contracts/src/fault.ts";
import { matchesAny } from "../../../contracts/src/subjects.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { keepConnection, type OpenConnection } from "./bus-connection.ts";

/** What a commit can bring: events of the outbox, decisions of the journal, entries of the audit log. */
export type Written = "events" | "decisions" | "entries";

/** The subjects are those of the events, where they are known; without them it may be any. */
export type Poked = (written: Written, subjects?: ReadonlySet<string>) => void;

export interface Wake {
  /** Something was committed. Returns at once. */
  readonly poke: Poked;
  /** Calls back after commits, here or elsewhere, once for each kind, and after a reconnect; gives the function that stops it. */
  onPoke(run: Poked): () => void;
  /** Sends a text of at most `messageBytesMax` bytes to every process; false when it was dropped. */
  send(text: string): boolean;
  onMessage(run: (text: string) => void): () => void;
  /** What is sent on this channel only this process hears: what comes back from another connection shows that notifications travel. */
  readonly echo: { readonly channel: string; onHeard(run: (text: string) => void): () => void };
  /** Resolves when the first connection is open or the signal aborts. */
  ready(signal: AbortSignal): Promise<void>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

interface WakeOptions {
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
/** Subjects that one notification names at most; beyond that it may be any. */
const subjectsMax = 32;

/** What was written, by kind. */
type News = Map<Written, ReadonlySet<string> | undefined>;

export function createWake(options: WakeOptions): Wake {
  const { timers, log } = options;
  const echoChannel = `portcullis_echo_${options.random.uuid()}`;
  const pokeListeners = new Set<Poked>();
  const echoListeners = new Set<(text: string) => void>();
  const messageListeners = new Set<(text: string) => void>();
  const outgoing: string[] = [];
  const owed: News = new Map();
  let sending = false;
  /** A wake-up for others could not be sent. */
  let isMissed = false;

  function tellHere(news: News): void {
    for (const [written, subjects] of news) for (const run of pokeListeners) run(written, subjects);
  }

  async function prepare(client: pg.Client): Promise<void> {
    // A notification is a commit of its own; were it to wait for the disk, it would compete there with those that must.
    const settings = "set synchronous_commit = off";
    const own = await client.query(
      `${settings}; listen ${wakeChannel}; listen ${messageChannel}; listen "${echoChannel}"; select pg_backend_pid() as pid`,
    );
    const pid = Number((own as unknown as readonly pg.QueryResult[])[4]?.rows[0]?.pid);
    client.on("notification", (notification) => {
      if (notification.channel === echoChannel) {
        for (const run of echoListeners) run(notification.payload ?? "");
      } else if (notification.channel === messageChannel) {
        for (const run of messageListeners) run(notification.payload ?? "");
      } else if (notification.processId !== pid) tellHere(newsIn(notification.payload ?? ""));
    });
    // Something may have been committed while nobody listened, and here while nobody could be notified.
    tellHere(anything());
    if (!isMissed) return;
    isMissed = false;
    for (const kind of allKinds) add(owed, kind, undefined);
    void connection.opened(new AbortController().signal).then(beginSending);
  }

  const connection = keepConnection({ title: "the wake-up connection", prepare, ...options });

  /** The one sender: a statement at a time, wake-ups before messages. */
  async function drain(): Promise<void> {
    sending = true;
    while (owed.size > 0 || outgoing.length > 0) {
      const client = connection.current();
      // Without a connection the others poll; when there is one again they are woken for whatever it was.
      if (client === undefined) {
        isMissed ||= owed.size > 0;
        owed.clear();
        outgoing.length = 0;
        break;
      }
      if (owed.size > 0) {
        const text = textOf(owed);
        owed.clear();
        if (!(await attempt(client.query(`notify ${wakeChannel}, '${text}'`)))) isMissed = true;
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

  /** False when it was not sent. */
  async function attempt(sent: Promise<unknown>): Promise<boolean> {
    try {
      await sent;
      return true;
    } catch (error) {
      log.debug("notification was not sent", { reason: messageOf(error) });
      return false;
    }
  }

  /** drain() never rejects. */
  function beginSending(): void {
    if (!sending) void drain();
  }

  return {
    poke(written, subjects) {
      tellHere(new Map([[written, subjects]]));
      add(owed, written, subjects);
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
    echo: {
      channel: echoChannel,
      onHeard(run) {
        echoListeners.add(run);
        return () => echoListeners.delete(run);
      },
    },
    ready: async (signal) => void (await connection.opened(signal)),
    complaint: () => connection.complaint(),
    close: () => connection.close(),
  };
}

/** One kind's news on top of what is owed already. */
function add(news: News, written: Written, subjects: ReadonlySet<string> | undefined): void {
  const known = news.get(written);
  if (subjects === undefined || (known === undefined && news.has(written))) news.set(written, undefined);
  else {
    const all = new Set([...(known ?? []), ...subjects]);
    news.set(written, all.size > subjectsMax ? undefined : all);
  }
}

/** `events svc.v1.a svc.v1.b,decisions`. What is no plain name is not named, and the notification says less. */
function textOf(news: News): string {
  return [...news].map(([written, subjects]) => [written, ...named(subjects)].join(" ")).join(",");
}

function named(subjects: ReadonlySet<string> | undefined): readonly string[] {
  const names = [...(subjects ?? [])];
  return names.every((name) => /^[\w.-]{1,200}$/.test(name)) ? names : [];
}

function anything(): News {
  return new Map(allKinds.map((kind) => [kind, undefined]));
}

/** Anybody may notify; what names no kind may have brought anything. */
function newsIn(payload: string): News {
  const news: News = new Map();
  for (const part of payload.split(",")) {
    const [kind, ...subjects] = part.split(" ");
    const written = allKinds.find((each) => each === kind);
    if (written !== undefined) add(news, written, subjects.length === 0 ? undefined : new Set(subjects));
  }
  return news.size === 0 ? anything() : news;
}

/** Calls back after commits with events under one of these subjects, or of which nobody says under which; gives the function that stops it. */
export function whenPublished(wake: Pick<Wake, "onPoke">, patterns: readonly string[], run: () => void): () => void {
  return wake.onPoke((written, subjects) => {
    if (written !== "events") return;
    if (subjects === undefined || [...subjects].some((subject) => matchesAny(patterns, subject))) run();
  });
}

/** Calls back after commits of one kind; gives the function that stops it. */
export function whenWritten(wake: Pick<Wake, "onPoke">, kind: Written, run: () => void): () => void {
  return wake.onPoke((written) => {
    if (written === kind) run();
  });
}
