// The replay of a page: one for each fund and range, with its moment, symbol and speed in the address, so that a link shows somebody else what one sees.
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { format, tryParse } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import { lists } from "../data/lists.ts";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { useFrozen, useWeb } from "../web-context.tsx";
import { intervalOf } from "./intervals.ts";
import { eventsBetween, firstEvent } from "./past-events.ts";
import { openReplay, type Questions, type Replay, type ReplayState } from "./replay-clock.ts";
import { spanOf, speedOf } from "./span.ts";
import { openVerify, type VerifyRun } from "./verify-run.ts";

const timeoutMs = 22_000;

function questionsOf(client: Client, fundId: string): Questions {
  const fund = fundId;
  return {
    newest: (from, to, signal) =>
      lists.timeline.read(client, { fund, from: format(from), at: format(to) }, { signal }, 0),
    between: async (from, to, signal) => {
      const asked = { fundId, from: format(from), to: format(to) };
      const { events, isWhole } = await eventsBetween(client, asked, { signal, timeoutMs });
      return isWhole ? events : undefined;
    },
    first: (after, to, sought, signal) => firstEvent(client, { fundId, after, to, sought }, { signal, timeoutMs }),
    moment: (at, signal) => lists.moment.read(client, { fund, at: format(at) }, { signal }, 0),
    bars: (symbol, interval, at, signal) =>
      lists.bars.read(client, { symbol, interval, at: format(at) }, { signal }, 0),
  };
}

interface Opened {
  readonly replay: Replay;
  readonly verify: VerifyRun;
}

export interface ReplayView extends Opened {
  readonly fund: string;
  readonly state: ReplayState;
}

function useOpened(fund: string): Opened | undefined {
  const { client, clock, timers } = useWeb();
  const search = useDeskSearch();
  const latest = useRef(search);
  latest.current = search;
  const [opened, setOpened] = useState<Opened>();
  const { from, to } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another fund or range is another replay, whatever else the address says by then.
  useEffect(() => {
    const asked = latest.current;
    const questions = questionsOf(client, fund);
    const replay = openReplay({
      clock,
      timers,
      questions,
      ...spanOf(asked, clock.now()),
      speed: speedOf(asked),
      symbol: asked.symbol,
      interval: intervalOf(asked.interval),
    });
    const verify = openVerify((start, end, signal) =>
      lists.verify.read(client, { fund, from: start, at: end }, { signal }, 0),
    );
    setOpened({ replay, verify });
    return () => {
      replay.close();
      verify.close();
      setOpened(undefined);
    };
  }, [client, clock, timers, fund, from, to]);
  return opened;
}

const nothing = (): (() => void) => () => undefined;

/** Undefined for the moment in which it opens. */
export function useReplay(fund: string): ReplayView | undefined {
  const opened = useOpened(fund);
  const state = useSyncExternalStore(opened?.replay.subscribe ?? nothing, () => opened?.replay.state());
  useAddress(opened, state);
  const isFrozen = useFrozen();
  useEffect(() => {
    if (isFrozen) opened?.replay.pause();
  }, [isFrozen, opened]);
  return useMemo(
    () => (opened === undefined || state === undefined ? undefined : { ...opened, fund, state }),
    [opened, state, fund],
  );
}

/** The address follows the clock, and the clock an address that somebody else changed. */
function useAddress(opened: Opened | undefined, state: ReplayState | undefined): void {
  const search = useDeskSearch();
  const change = useChangeSearch();
  /** Written, and not seen in the address yet. */
  const written = useRef<string[]>([]);
  const { replay, verify } = opened ?? {};
  const { at, symbol, interval } = search;
  const shownAt = state?.shown?.at;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is written when the clock moved, and at no other change of the address.
  useEffect(() => {
    if (shownAt === undefined) return;
    verify?.clockAt(shownAt);
    const text = format(shownAt);
    if (at === text && written.current.length === 0) return;
    written.current.push(text);
    change({ at: text });
  }, [shownAt]);
  useEffect(() => {
    if (replay === undefined || at === undefined) return;
    const own = written.current.indexOf(at);
    if (own >= 0) {
      written.current.splice(0, own + 1);
      return;
    }
    const asked = tryParse(at);
    if (asked !== undefined && asked !== replay.state().at) replay.seek(asked);
  }, [replay, at]);
  const speed = speedOf(search);
  useEffect(() => replay?.setSpeed(speed), [replay, speed]);
  useEffect(() => replay?.setChart(symbol, intervalOf(interval)), [replay, symbol, interval]);
}
