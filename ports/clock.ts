// The wall clock, handed in: whoever needs the time takes a Clock, and the simulator's is virtual.
import type { Instant } from "../contracts/src/instant.ts";

export interface Clock {
  now(): Instant;
}
