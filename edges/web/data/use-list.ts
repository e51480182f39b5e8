// One list as a panel has it: the last answer, how old it is and what went wrong. It is read again when an event concerns it, and after a while in any case;
// a hidden tab and a frozen desk read nothing, except what is halted.
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { toUnixMs } from "../../../contracts/src/instant.ts";
import type { Timers } from "../../../ports/timers.ts";
import { failureOf, type ReadFacts } from "../model/panel-state.ts";
import { useFrozen, useLife, useSessionState, useWeb } from "../web-context.tsx";
import type { Asked } from "./list-place.ts";
import { isTouchedBy, type ListName, type Lists, lists } from "./lists.ts";

export interface ListRead<Value> extends ReadFacts {
  readonly name: ListName;
  readonly asked: Asked;
  readonly data: Value | undefined;
  readonly isReading: boolean;
  again(): void;
}

const timeoutMs = 10_000;
/** How often whatever a process that is not in order answers is asked for, at least. */
const unsureMs = 2_000;

export function useList<Name extends ListName>(name: Name, asked: Asked = {}, isWanted = true): ListRead<Lists[Name]> {
  const { client, clock } = useWeb();
  const isFrozen = useFrozen() && name !== "halts";
  // Whoever is logged out would only be refused, list by list, every two seconds.
  const isIn = useSessionState() === "in";
  const place = lists[name];
  const life = useLife(place.process);
  const everyMs = life.isOk ? place.everyMs : Math.min(place.everyMs, unsureMs);
  const query = useQuery<Lists[Name]>({
    queryKey: [name, asked],
    queryFn: ({ signal }) => place.read(client, asked, { signal, timeoutMs }, toUnixMs(clock.now())),
    enabled: isWanted && !isFrozen && isIn,
    refetchInterval: everyMs,
    // A tab that nobody saw read nothing: what it shows is read anew as soon as somebody looks.
    refetchOnWindowFocus: "always",
    retry: false,
    networkMode: "always",
  });
  return {
    name,
    asked,
    data: query.data,
    hasData: query.data !== undefined,
    updatedAtMs: query.dataUpdatedAt,
    everyMs,
    goodSinceMs: life.sinceMs,
    complaint: life.complaint === undefined ? undefined : `${place.process}: ${life.complaint}`,
    failure: failureOf(query.error),
    isReading: query.isFetching,
    again: () => void query.refetch(),
  };
}

/** Reads anew what topics concern or what a process answers; only what is shown is really asked for. */
export function rereader(queries: QueryClient, timers: Timers, isFrozen: () => boolean) {
  const waiting = new Set<ListName>();
  const reread = (name: ListName): void => {
    // Never in the middle of an answer: on a slow line it would be cut off again and again. What came meanwhile is read right after it.
    if (queries.isFetching({ queryKey: [name] }) === 0) {
      waiting.delete(name);
      void queries.invalidateQueries({ queryKey: [name] });
      return;
    }
    waiting.add(name);
    timers.after(againMs, () => reread(name));
  };
  const rereadAll = (isConcerned: (name: ListName) => boolean): void => {
    for (const name of Object.keys(lists) as ListName[]) {
      if (waiting.has(name) || (isFrozen() && name !== "halts")) continue;
      if (isConcerned(name)) reread(name);
    }
  };
  return {
    touchedBy: (topics: readonly string[] | "all") =>
      rereadAll((name) => topics === "all" || isTouchedBy(name, topics)),
    answeredBy: (process: string) => rereadAll((name) => lists[name].process === process),
  };
}

const againMs = 200;
