// The public stream: who is connected, what each of them follows, and what they are sent.
//  1. A channel's snapshot comes before its first update; then each sequence is the one before + 1 + skipped.
//  2. Quotes and funds are conflated: whoever is sent less often than they change gets the newest, and how many were skipped.
//  3. Halts and closed bars are never skipped: after `resume` they are sent again, or `gap` names what is lost.
//  4. Nobody waits for anybody: a consumer that is too far behind is closed by name, and the others do not notice.
//  5. Every map here is bounded by the connections that the listener takes, times the channels that each may have, and by the symbols that are quoted.
import { barNumber } from "../../../contracts/src/bar-intervals.ts";
import type { Bar } from "../../../contracts/src/generated/svc/v1/market.ts";
import { format, microsecondsPerSecond } from "../../../contracts/src/instant.ts";
import { testSymbol } from "../../../contracts/src/records/market.ts";
import {
  type ClientFrame,
  type ClosingName,
  closings,
  heartbeatS,
  type ServerFrame,
  type SubscribeFrame,
  streamLimits,
} from "../../../contracts/src/stream-frames.ts";
import type { SocketConnection, SocketSession } from "../../../ports/http.ts";
import type { CancelTimer } from "../../../ports/timers.ts";
import { plain } from "../ask-service.ts";
import type { GatewayParts } from "../parts.ts";
import type { PublicHaltChange } from "../public/public-halts.ts";
import { isStale } from "../public/reported.ts";
import { testQuote } from "../public/test-symbol.ts";
import { type BarsBoard, type ClosedBar, numbered, placeOf, replayedBarsMax, startBarsBoard } from "./bars-board.ts";
import { conflatedChannels } from "./conflated-channels.ts";
import { itemText, snapshotText, updatesText } from "./frame-text.ts";
import { replayHalts } from "./halt-replay.ts";
import { channelsOf, readMessage, whyNot } from "./messages.ts";

/** What changes within this time goes out in one frame. */
const gatherMs = 50;
const tickMs = 1_000;
/** Who must come again is spread over it. */
const reconnectS = 5;

export type StreamParts = Pick<GatewayParts, "services" | "ownToken" | "clock" | "timers" | "log" | "marketFeed">;

export interface StreamHub {
  open(connection: SocketConnection): SocketSession | undefined;
  /** Says so to everybody and closes. */
  shutDown(): void;
  /** How many are connected. */
  count(): number;
  stop(): Promise<void>;
}

interface Followed {
  /** The last sequence that was sent; undefined until the snapshot was. */
  sent: number | undefined;
}

interface Session {
  readonly connection: SocketConnection;
  readonly channels: Map<string, Followed>;
  /** Who follows the same channels has the same. */
  setKey: string;
  tokens: number;
  tokensAt: number;
  subscribeTimer: CancelTimer | undefined;
  open: boolean;
}

// tidy: long because every step of a connection shares its sessions
export function createStreamHub(parts: StreamParts): StreamHub {
  const { clock, timers, marketFeed: feed } = parts;
  const sessions = new Set<Session>();
  const perCaller = new Map<string, number>();
  const stops: (() => void)[] = [];
  let gathering: CancelTimer | undefined;
  let ticking: CancelTimer | undefined;
  let ending = false;
  const isFollowed = (channel: string): boolean => [...sessions].some(({ channels }) => channels.has(channel));
  const conflated = conflatedChannels({
    isFollowed,
    onChange: () => {
      gathering ??= timers.after(gatherMs, flush);
    },
  });
  const board: BarsBoard = startBarsBoard({
    parts,
    isWanted: isFollowed,
    hear: sendBars,
  });

  function flush(): void {
    gathering = undefined;
    const changed = conflated.takeChanged();
    const shared = new Map<string, Uint8Array>();
    const fresh = new Map<string, string>();
    for (const channel of changed) {
      const newest = conflated.get(channel);
      if (newest !== undefined) fresh.set(channel, itemText(channel, newest.sequence, 0, newest.json));
    }
    for (const session of [...sessions]) flushTo(session, changed, fresh, shared);
  }

  function flushTo(
    session: Session,
    changed: readonly string[],
    fresh: ReadonlyMap<string, string>,
    shared: Map<string, Uint8Array>,
  ): void {
    const items: string[] = [];
    let isUsual = true;
    for (const channel of changed) {
      const followed = session.channels.get(channel);
      const newest = conflated.get(channel);
      if (followed?.sent === undefined || newest === undefined || newest.sequence <= followed.sent) {
        if (followed !== undefined) isUsual = false;
        continue;
      }
      const skipped = newest.sequence - followed.sent - 1;
      followed.sent = newest.sequence;
      if (skipped !== 0) isUsual = false;
      items.push(skipped === 0 ? (fresh.get(channel) ?? "") : itemText(channel, newest.sequence, skipped, newest.json));
    }
    if (items.length === 0) return;
    if (!isUsual) {
      sendText(session, updatesText(items));
      return;
    }
    // Most follow what many others follow: the bytes are made once for all of them.
    const bytes = shared.get(session.setKey) ?? Buffer.from(updatesText(items));
    shared.set(session.setKey, bytes);
    sendText(session, bytes);
  }

  function sendHalts(changes: readonly PublicHaltChange[], epoch: number): void {
    for (const session of [...sessions]) {
      const followed = session.channels.get("halts");
      if (followed?.sent === undefined || followed.sent >= epoch) continue;
      sendChanges(session, followed, changes, epoch);
    }
  }

  function sendChanges(
    session: Session,
    followed: Followed,
    changes: readonly PublicHaltChange[],
    epoch: number,
  ): void {
    const from = followed.sent ?? epoch;
    const oldest = changes[0]?.sequence ?? epoch + 1;
    if (oldest > from + 1 && from < epoch) {
      const detail = "These changes came faster than they are kept: subscribe again for what is in force.";
      sendGap(session, "halts", from + 1, oldest - 1, detail);
      followed.sent = oldest - 1;
    }
    const items: string[] = [];
    for (const { sequence, change, halts, at } of changes) {
      // What strangers do not see is counted with the next that they do.
      if (sequence <= (followed.sent ?? 0) || halts.length === 0) continue;
      const skipped = sequence - (followed.sent ?? 0) - 1;
      items.push(itemText("halts", sequence, skipped, JSON.stringify(plain({ change, halts, at }))));
      followed.sent = sequence;
    }
    if (items.length > 0) sendText(session, updatesText(items));
  }

  function sendBars(channel: string, bars: readonly ClosedBar[]): void {
    for (const session of [...sessions]) {
      const followed = session.channels.get(channel);
      if (followed?.sent !== undefined) sendClosed(session, channel, followed, bars);
    }
  }

  function sendClosed(session: Session, channel: string, followed: Followed, bars: readonly ClosedBar[]): void {
    const items: string[] = [];
    for (const { sequence, bar } of bars) {
      const sent = followed.sent ?? 0;
      if (sequence <= sent) continue;
      items.push(itemText(channel, sequence, sequence - sent - 1, JSON.stringify(plain(bar))));
      followed.sent = sequence;
    }
    if (items.length > 0) sendText(session, updatesText(items));
  }

  function send(session: Session, frame: ServerFrame): void {
    sendText(session, JSON.stringify(plain(frame)));
  }

  function sendGap(session: Session, channel: string, from: number, to: number, detail: string): void {
    send(session, { type: "gap", channel, sequence: to, from_sequence: from, to_sequence: to, detail });
  }

  function sendText(session: Session, text: string | Uint8Array): void {
    if (!session.open) return;
    session.connection.send(text);
    if (session.connection.bufferedBytes() > streamLimits.behind_bytes_max) close(session, "SLOW_CONSUMER");
  }

  function close(session: Session, name: ClosingName): void {
    forget(session);
    session.connection.close(closings[name], name);
  }

  function forget(session: Session): void {
    if (!session.open) return;
    session.open = false;
    session.subscribeTimer?.();
    sessions.delete(session);
    const { caller } = session.connection;
    const left = (perCaller.get(caller) ?? 1) - 1;
    if (left === 0) perCaller.delete(caller);
    else perCaller.set(caller, left);
  }

  function mayHear(session: Session): boolean {
    const nowS = clock.now() / microsecondsPerSecond;
    const { messages_per_s_max: rate } = streamLimits;
    session.tokens = Math.min(rate, session.tokens + Math.max(0, nowS - session.tokensAt) * rate);
    session.tokensAt = nowS;
    if (session.tokens < 1) return false;
    session.tokens -= 1;
    return true;
  }

  function hear(session: Session, text: string): void {
    if (!session.open) return;
    const message = mayHear(session) ? readMessage(text) : undefined;
    if (message === undefined) close(session, "TOO_MANY_MESSAGES");
    else if (message.kind === "malformed") close(session, "MALFORMED");
    else if (message.kind === "refused") {
      const { id, code, detail } = message;
      send(session, { type: "error", id, code, detail });
    } else if (message.frame.type === "unsubscribe") {
      for (const channel of channelsOf(message.frame)) session.channels.delete(channel);
      acknowledge(session, message.frame);
    } else subscribe(session, message.frame);
  }

  function subscribe(session: Session, frame: SubscribeFrame): void {
    const refused = whyNot(frame, feed);
    const added = channelsOf(frame).filter((channel) => !session.channels.has(channel));
    if (refused !== undefined) send(session, { type: "error", id: frame.id, ...refused });
    else if (session.channels.size + added.length > streamLimits.channels_max) close(session, "TOO_MANY_CHANNELS");
    else {
      for (const channel of added) session.channels.set(channel, { sent: undefined });
      acknowledge(session, frame);
      for (const channel of added) begin(session, channel, frame.resume?.[channel]);
    }
  }

  function acknowledge(session: Session, { id }: ClientFrame): void {
    const channels = [...session.channels.keys()];
    session.setKey = [...channels].sort().join("\n");
    if (channels.length > 0) {
      session.subscribeTimer?.();
      session.subscribeTimer = undefined;
    }
    send(session, { type: "subscribed", id, channels });
  }

  function begin(session: Session, channel: string, resume: number | undefined): void {
    const followed = session.channels.get(channel);
    if (followed === undefined) return;
    if (channel === "halts") beginHalts(session, followed, resume);
    else if (channel.startsWith("bars:")) void beginBars(session, channel, followed, resume);
    else beginConflated(session, channel, followed);
  }

  function beginConflated(session: Session, channel: string, followed: Followed): void {
    if (channel === `quotes:${testSymbol}`) putTest();
    const newest = conflated.get(channel) ?? { sequence: 0, json: "null" };
    followed.sent = newest.sequence;
    sendText(session, snapshotText(channel, newest.sequence, newest.json));
  }

  function beginHalts(session: Session, followed: Followed, resume: number | undefined): void {
    const known = feed.halts.newest()?.value;
    if (known === undefined) return;
    const { sequence, halts, gap } = replayHalts(known, resume);
    if (gap !== undefined) sendGap(session, "halts", gap.from, gap.to, gap.detail);
    followed.sent = sequence;
    sendText(session, snapshotText("halts", sequence, JSON.stringify(plain(halts))));
    sendChanges(
      session,
      followed,
      known.changes.filter((change) => change.sequence > sequence),
      known.epoch,
    );
  }

  async function beginBars(
    session: Session,
    channel: string,
    followed: Followed,
    resume: number | undefined,
  ): Promise<void> {
    const newest = barNumber(placeOf(channel).interval, clock.now()) - 1;
    let bars: readonly Bar[];
    let isLost = resume !== undefined && resume > newest;
    try {
      bars = await board.read(channel, isLost ? undefined : resume);
      isLost ||= bars.length > replayedBarsMax;
      if (isLost && resume !== undefined && resume <= newest) bars = await board.read(channel, undefined);
    } catch {
      session.channels.delete(channel);
      const detail = `${channel} cannot be read at present: subscribe to it again in a few seconds.`;
      send(session, { type: "error", code: "SERVICE_UNAVAILABLE", detail });
      return;
    }
    // It may have been taken away again meanwhile.
    if (session.channels.get(channel) !== followed) return;
    const closed = numbered(bars.filter((bar) => bar.closed));
    const last = closed.at(-1)?.sequence ?? newest;
    if (isLost && resume !== undefined) {
      const detail = `At most ${replayedBarsMax} bars are sent again: read the others from /v1/bars.`;
      sendGap(session, channel, Math.min(resume + 1, last), last, detail);
    }
    const at = resume === undefined || isLost ? last : resume;
    const shown = at === resume ? closed.filter(({ sequence }) => sequence === at).map(({ bar }) => bar) : bars;
    followed.sent = at;
    sendText(session, snapshotText(channel, at, JSON.stringify(plain(shown))));
    sendClosed(session, channel, followed, closed);
  }

  /** A second is its sequence: the same from every gateway and after every restart. */
  function putTest(): void {
    const now = clock.now();
    const second = Math.floor(now / microsecondsPerSecond);
    const channel = `quotes:${testSymbol}`;
    if (conflated.get(channel)?.sequence === second) return;
    conflated.put(channel, { sequence: second, json: JSON.stringify(testQuote(now)) });
  }

  let ticks = 0;
  function tick(): void {
    if (ending) return;
    ticking = timers.after(tickMs, tick);
    ticks += 1;
    if (isFollowed(`quotes:${testSymbol}`)) putTest();
    if (ticks % heartbeatS !== 0) return;
    const now = clock.now();
    const stale = (["quotes", "funds", "halts"] as const).filter((name) => {
      const reported = feed[name].newest();
      return reported === undefined || isStale(reported, now);
    });
    const text = JSON.stringify({ type: "heartbeat", at: format(now), stale } satisfies ServerFrame);
    for (const session of [...sessions]) sendText(session, text);
  }

  function open(connection: SocketConnection): SocketSession | undefined {
    const others = perCaller.get(connection.caller) ?? 0;
    if (ending || others >= streamLimits.connections_per_address_max) {
      const name: ClosingName = ending ? "SHUTTING_DOWN" : "TOO_MANY_CONNECTIONS";
      connection.close(closings[name], name);
      return undefined;
    }
    perCaller.set(connection.caller, others + 1);
    const session: Session = {
      connection,
      channels: new Map(),
      setKey: "",
      tokens: streamLimits.messages_per_s_max,
      tokensAt: clock.now() / microsecondsPerSecond,
      subscribeTimer: timers.after(streamLimits.subscribe_within_s * 1_000, () =>
        close(session, "NOT_SUBSCRIBED_IN_TIME"),
      ),
      open: true,
    };
    sessions.add(session);
    send(session, { type: "welcome", heartbeat_s: heartbeatS, limits: streamLimits });
    return { hear: (text) => hear(session, text), closed: () => forget(session) };
  }

  function shutDown(): void {
    ending = true;
    for (const [index, session] of [...sessions].entries()) {
      send(session, { type: "shutdown", reconnect_after_s: 1 + (index % reconnectS) });
      close(session, "SHUTTING_DOWN");
    }
  }

  stops.push(
    feed.quotes.listen(({ value }) => conflated.putQuotes(value)),
    feed.funds.listen(({ value }) => conflated.putChanged("funds", value)),
    feed.halts.listen(({ value }) => sendHalts(value.changes, value.epoch)),
  );
  conflated.putQuotes(feed.quotes.newest()?.value ?? new Map());
  const fundsNow = feed.funds.newest();
  if (fundsNow !== undefined) conflated.putChanged("funds", fundsNow.value);
  ticking = timers.after(tickMs, tick);

  return {
    count: () => sessions.size,
    open,
    shutDown,
    stop: async () => {
      ending = true;
      ticking?.();
      gathering?.();
      for (const stop of stops) stop();
      await board.stop();
    },
  };
}
