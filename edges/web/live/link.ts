// How this browser hears from the server, in one word, and whether figures may be believed as fresh. Pure: the stream reports, the frame and every panel ask.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";

export type LinkWord = "live" | "stale" | "reconnecting" | "offline" | "expired";

export interface Link {
  /** When the stream last said anything, a heartbeat included. */
  readonly heardAt: Instant | undefined;
  /** When it was heard again after a silence or a cut: what was read before that may lack what happened meanwhile. */
  readonly liveSince: Instant | undefined;
  /** Since when it cannot be had. */
  readonly failingSince: Instant | undefined;
  readonly expired: boolean;
}

export const noLink: Link = { heardAt: undefined, liveSince: undefined, failingSince: undefined, expired: false };

/** Neither event nor heartbeat for this long means that nothing is known of now. */
const staleMs = 5_000;
/** Tries go on, and nobody should wait for them. */
const offlineMs = 60_000;

export function linkWord({ heardAt, failingSince, expired }: Omit<Link, "liveSince">, now: Instant): LinkWord {
  if (expired) return "expired";
  if (failingSince !== undefined) {
    return millisecondsBetween(failingSince, now) >= offlineMs ? "offline" : "reconnecting";
  }
  if (heardAt === undefined) return "reconnecting";
  return millisecondsBetween(heardAt, now) >= staleMs ? "stale" : "live";
}

export type LinkNews =
  | { readonly kind: "heard"; readonly at: Instant }
  | { readonly kind: "failing"; readonly at: Instant }
  | { readonly kind: "expired"; readonly expired: boolean };

export function withNews(link: Link, news: LinkNews): Link {
  if (news.kind === "heard") {
    const wasLive = linkWord({ ...link, expired: false }, news.at) === "live";
    const liveSince = wasLive ? link.liveSince : news.at;
    return { ...link, heardAt: news.at, liveSince, failingSince: undefined };
  }
  if (news.kind === "failing") return { ...link, failingSince: link.failingSince ?? news.at };
  return { ...link, expired: news.expired };
}
