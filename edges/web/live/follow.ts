// One stream for a whole browser: the tab that holds a lock follows the events and passes on to the others what they concern, so that eight tabs need one of the
// six connections that HTTP/1.1 has. When that tab is closed the next one goes on after the last event that anybody heard of.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { Client } from "../../client/src/types.ts";
import { type Link, type LinkNews, linkWord, noLink, withNews } from "./link.ts";

/** A subject without its first two words: "operations.halt.requested". */
type Topic = string;

type Passed =
  | LinkNews
  | { readonly kind: "topics"; readonly topics: readonly Topic[]; readonly lastId: string | undefined }
  | { readonly kind: "all" };

export interface Live {
  link(): Link;
  subscribe(listen: () => void): () => void;
  /** Called with what has changed; "all" after a gap: read anew everything that is shown. */
  onTopics(hear: (topics: readonly Topic[] | "all") => void): () => void;
  report(news: LinkNews): void;
}

interface LiveOptions {
  readonly client: Pick<Client, "events">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly channel: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  readonly signal: AbortSignal;
  /** Runs the work when this tab is the one that follows; ends when the work does. */
  lead(work: () => Promise<void>): Promise<void>;
}

const heartbeatS = 2;
/** Topics are passed on together: lists are not read again for each of many events. */
const gatherMs = 250;
const againMs = 1_000;

export function openLive(options: LiveOptions): Live & { run(): Promise<void>; heard(): void; failed(): void } {
  const { client, clock, timers, channel, signal, lead } = options;
  let link: Link = noLink;
  let lastId: string | undefined;
  const listeners = new Set<() => void>();
  const hearers = new Set<(topics: readonly Topic[] | "all") => void>();

  const tell = (topics: readonly Topic[] | "all"): void => {
    for (const hear of hearers) hear(topics);
  };
  const take = (news: LinkNews): void => {
    const before = linkWord(link, clock.now());
    link = withNews(link, news);
    // What was missed meanwhile is read anew.
    if (news.kind === "heard" && before !== "live" && before !== "expired") tell("all");
    for (const listen of listeners) listen();
  };
  const pass = (message: Passed): void => channel.postMessage(message);
  channel.onmessage = ({ data }: MessageEvent) => {
    const message = data as Passed;
    if (message.kind === "topics") {
      lastId = message.lastId ?? lastId;
      tell(message.topics);
    } else if (message.kind === "all") tell("all");
    else take(message);
  };

  const heard = (): void => {
    const news = { kind: "heard", at: clock.now() } as const;
    take(news);
    pass(news);
  };
  const failed = (): void => {
    const news = { kind: "failing", at: clock.now() } as const;
    take(news);
    pass(news);
  };

  async function follow(): Promise<void> {
    const gathered = new Set<Topic>();
    let flushedAt: Instant | undefined;
    let isDue = false;
    const flush = (): void => {
      isDue = false;
      if (gathered.size === 0) return;
      flushedAt = clock.now();
      const topics = [...gathered];
      gathered.clear();
      tell(topics);
      pass({ kind: "topics", topics, lastId });
    };
    const asked = { heartbeatS, ...(lastId === undefined ? {} : { after: lastId }) };
    for await (const event of client.events(asked, { signal })) {
      lastId = event.id ?? lastId;
      if (event.type === "reset") {
        tell("all");
        pass({ kind: "all" });
        continue;
      }
      gathered.add(topicOf(event.subject));
      // The first after a while at once: a browser keeps the timers of a tab that nobody sees waiting for up to a minute, and other tabs live on this one.
      if (flushedAt === undefined || millisecondsBetween(flushedAt, clock.now()) >= gatherMs) flush();
      if (isDue || gathered.size === 0) continue;
      isDue = true;
      timers.after(gatherMs, flush);
    }
  }

  return {
    link: () => link,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    onTopics(hear) {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    report: take,
    heard,
    failed,
    async run() {
      await lead(async () => {
        // A tab whose login ran out leaves the lead to one whose login has not.
        while (!signal.aborted && !link.expired) {
          await follow().catch(failed);
          await timers.sleep(againMs, signal);
        }
      });
    },
  };
}

function topicOf(subject: string): Topic {
  return subject.split(".").slice(2).join(".");
}
