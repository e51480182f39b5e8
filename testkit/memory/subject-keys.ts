// Subject keys in memory, for tests and the simulator. What it holds is handed in, so that it outlives a process.
import type { SubjectKey, SubjectKeys } from "../../ports/subject-keys.ts";

interface KeptKey {
  readonly key: SubjectKey;
  isDestroyed: boolean;
  isReported: boolean;
}

/** By id. */
export type SubjectKeyTables = Map<string, KeptKey>;

export function memorySubjectKeys(kept: SubjectKeyTables = new Map()): SubjectKeys {
  const keyOf = (person: string): KeptKey | undefined =>
    [...kept.values()].find((one) => one.key.person === person && !one.isDestroyed);
  return {
    async inForce(persons) {
      const found = persons.flatMap((person) => keyOf(person)?.key ?? []);
      return new Map(found.map((key) => [key.person, key]));
    },
    async add(key) {
      const before = keyOf(key.person);
      if (before !== undefined) return before.key;
      const added = { ...key, wrapped: Uint8Array.from(key.wrapped) };
      kept.set(key.id, { key: added, isDestroyed: false, isReported: false });
      return added;
    },
    async find(ids) {
      return new Map(
        ids.flatMap((id) => {
          const one = kept.get(id);
          return one === undefined ? [] : [[id, one.isDestroyed ? ("destroyed" as const) : one.key] as const];
        }),
      );
    },
    async destroy(person) {
      const one = keyOf(person);
      if (one === undefined) return;
      one.key.wrapped.fill(0);
      one.isDestroyed = true;
    },
    async unaudited(person) {
      return [...kept.values()]
        .filter((one) => one.isDestroyed && !one.isReported && (person === undefined || one.key.person === person))
        .map(({ key }) => ({ id: key.id, person: key.person }));
    },
    async markReported(id) {
      const one = kept.get(id);
      if (one?.isDestroyed === true) one.isReported = true;
    },
  };
}
