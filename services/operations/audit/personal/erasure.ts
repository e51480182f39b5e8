// Destroys the key of what is sealed about a person and says so in the log. The key goes first: the entry says "destroyed" only when it is. Whoever dies
// in between leaves a destroyed key that is marked as unaudited, and the next start, or the next attempt, tells it; the entry's id is the key's, so it
// is reported once.
import type { SubjectKeyName, SubjectKeys } from "../../../../ports/subject-keys.ts";
import type { AppendRequest } from "../log/append-request.ts";
import { auditActor, keyDestroyedAction } from "../log/reserved.ts";
import type { Appended } from "../log/sequencer.ts";
import type { Sealing } from "./sealing.ts";

interface ErasurePorts {
  readonly subjectKeys: SubjectKeys;
  readonly sealing: Pick<Sealing, "forget">;
  readonly append: (request: AppendRequest) => Promise<Appended>;
}

export interface Erasure {
  /** Sequences of the entries that say so; none when nothing is sealed about the person. */
  erase(person: string, actor: string): Promise<readonly number[]>;
  /** Tells of keys that were destroyed when the process before ended. */
  recover(): Promise<void>;
}

export function createErasure({ subjectKeys, sealing, append }: ErasurePorts): Erasure {
  async function tell(names: readonly SubjectKeyName[], actor: string): Promise<readonly number[]> {
    const sequences: number[] = [];
    for (const { id, person } of names) {
      const { sequence } = await append({
        eventId: `subject-key-destroyed/${id}`,
        actor,
        action: keyDestroyedAction,
        subjectId: person,
        data: { subject_key: id },
      });
      await subjectKeys.markReported(id);
      sequences.push(sequence);
    }
    return sequences;
  }

  return {
    async erase(person, actor) {
      await subjectKeys.destroy(person);
      sealing.forget();
      return tell(await subjectKeys.unaudited(person), actor);
    },
    async recover() {
      await tell(await subjectKeys.unaudited(), auditActor);
    },
  };
}
