// What the test tells a child to be, and what the two say to each other afterwards. Plain data: it travels as text.
import type { Configuration } from "../../adapters/configuration/schema.ts";
import type { ConnectionTarget, DatabaseAddress } from "../../adapters/postgres/connection.ts";

export type Order =
  /** Holds the data folder and keeps its PostgreSQL up, as the supervisor does. */
  | { readonly role: "keeper"; readonly name: string; readonly configuration: Configuration }
  | ({ readonly role: "writer"; readonly seed: number } & Connected)
  | ({ readonly role: "subscriber" } & Connected)
  /** Keeps the house: on NATS it relays the outbox. */
  | ({ readonly role: "relay" } & Connected);

export interface Connected {
  readonly name: string;
  readonly configuration: Configuration;
  readonly database: ConnectionTarget;
  readonly journalPath: string;
}

/** From a child. The keeper repeats itself whenever its server came up again. */
export type Word =
  | { readonly type: "ready"; readonly server?: { readonly pid: number; readonly address: DatabaseAddress } }
  | { readonly type: "paused" };

/** To a child. A writer pauses when everything that it began has an outcome. */
export type Command = "pause" | "resume" | "stop";
