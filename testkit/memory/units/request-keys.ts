// Requests under idempotency keys, in a transaction of the memory store.
import type { KeyedRequest, RequestKey, RequestKeyRecords } from "../../../ports/request-keys.ts";
import type { RecordTools } from "../layered-map.ts";

type Stored = KeyedRequest & RequestKey;

/** By caller, place and key. */
export type RequestKeyTables = Map<string, Stored>;

export function requestKeyChanges(tables: RequestKeyTables, { inTurn, lock, table }: RecordTools): RequestKeyRecords {
  const requests = table("request_key", tables);
  const nameOf = ({ caller, place, key }: RequestKey): string => JSON.stringify([caller, place, key]);
  const held = <T>(key: RequestKey, work: (name: string) => T): Promise<T> =>
    inTurn(async () => {
      const name = nameOf(key);
      await lock(`request key ${name}`);
      return work(name);
    });
  return {
    lock: (key) =>
      held(key, (name) => {
        const stored = requests.get(name);
        if (stored === undefined) return undefined;
        const { caller: _caller, place: _place, key: _key, ...request } = stored;
        return request;
      }),
    put: (key, request) => held(key, (name) => requests.set(name, { ...key, ...request })),
    remove: (key) => held(key, (name) => requests.delete(name)),
    hasMany: (caller, count) =>
      inTurn(async () => requests.filter((stored) => stored.caller === caller).length >= count),
    trim: (before, countMax) =>
      inTurn(async () => {
        const old = requests
          .filter((stored) => stored.begunAt < before)
          .sort((one, other) => one.begunAt - other.begunAt);
        for (const stored of old.slice(0, countMax)) {
          await lock(`request key ${nameOf(stored)}`);
          // Whoever held it may have begun anew.
          const now = requests.get(nameOf(stored));
          if (now !== undefined && now.begunAt < before) requests.delete(nameOf(stored));
        }
      }),
  };
}
