// What a run of the model of halts carries along.
import type { HaltFixture } from "./halt-fixture.ts";
import type { Prng } from "./virtual/prng.ts";

export const haltPeople = ["duty", "relief", "third"] as const;

export interface HaltModel {
  readonly fixture: HaltFixture;
  readonly throws: Prng;
  readonly complaints: string[];
  readonly counts: { halts: number; lifts: number; liftsOfAll: number; refusals: number; kills: number };
  /** Ids that somebody has asked with. */
  readonly asked: string[];
  readonly requests: string[];
  /** Halts of which a caller was told that they block. */
  readonly acknowledged: Set<string>;
  /** When the engine lost sight of the store. */
  cutAtMs: number | undefined;
}
