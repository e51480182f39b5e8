// What the processes of this data folder have logged, also those that are dead: bounded files, masked as they were written.
import type { Instant } from "../contracts/src/instant.ts";
import type { LoggedService } from "../contracts/src/platform-services.ts";

export interface KeptLine {
  readonly at: string;
  readonly level: string;
  readonly service: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface LinesWanted {
  readonly service: LoggedService;
  /** This level and graver ones. */
  readonly level?: LogLevelName | undefined;
  /** At or after. */
  readonly since?: Instant | undefined;
  readonly countMax: number;
}

export type LogLevelName = "debug" | "info" | "warn" | "error";

export interface KeptLogs {
  /** The newest of them, oldest first; undefined when nothing is kept here of that service. */
  read(wanted: LinesWanted): Promise<readonly KeptLine[] | undefined>;
  /** What is written from now on, in batches; an empty one when nothing was for some seconds. */
  follow(wanted: Omit<LinesWanted, "since" | "countMax">, signal: AbortSignal): AsyncIterable<readonly KeptLine[]>;
}
