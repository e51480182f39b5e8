// What a subject is: a name on the bus, the schema of what travels under it, and the key within which order is kept.
import type { z } from "zod";

/** Durable subjects are never lost; conflated ones (market marks) may be: only the newest per key matters. */
export type Delivery = "durable" | "conflated";

export interface Subject<Payload> {
  readonly name: string;
  /** One human sentence: when it is published. */
  readonly sentence: string;
  readonly delivery: Delivery;
  readonly schema: z.ZodType<Payload>;
  /** Events with the same key are handled in the order in which they were committed. */
  key(payload: Payload): string;
}
