// What a memory bus and its subscriptions are handed.

import type { MayPublish } from "../../adapters/transport/publish-authority.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { SubjectLookup } from "./codec.ts";
import type { LogReader } from "./reader.ts";
import type { MemoryProcess } from "./tables.ts";

export interface MemoryBusOptions {
  readonly process: MemoryProcess;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly subjectByName: SubjectLookup;
  /** Which subjects this process may broadcast; any other is a Defect. Absent: all of them. */
  readonly mayPublish?: MayPublish;
  /** Default: in commit order. */
  readonly reader?: LogReader;
  /** Hears of every failure of an ephemeral handler. */
  readonly onListenerFailed?: (event: BusEvent, thrown: unknown) => void;
}
